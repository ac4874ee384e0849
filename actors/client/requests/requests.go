package requests

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"

	"candlemark/actors/client/rights"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// AnswerTimeout is how long a request waits for its answer (PRO-5), not counting time while the machine sleeps.
const AnswerTimeout = 30 * time.Second

// Client is the client that sent the method.
type Client struct {
	*rights.Rights
	Connection mail.Address
	LastQueue  string // most recently declared (DEC-9), "" for none
}

// Request is a mail to send, and the handling of its answer.
type Request struct {
	To mail.Address
	// Mail returns the mail with the given Request in it.
	Mail func(mail.Request) any
	// Ok returns the answer to the client for a reply without error.
	Ok     func(reply any) protocol.Method
	NoWait bool // the client gets no answer
	// Purges is the queue that is purged; nil for none.
	Purges *topology.Queue
}

// Named resolves a queue name in a method, "" is the last declared queue (DEC-9).
func (c *Client) Named(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if c.LastQueue == "" {
		return "", protocol.ChannelErrorf(protocol.NotFound, "no previously declared queue")
	}
	return c.LastQueue, nil
}

// Stripped removes CR and LF from a name, as RabbitMQ does (DEC-8).
func Stripped(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(name)
}

// Generated returns a unique name: prefix and 22 characters.
func Generated(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// For returns the Request for m; nil without an error if m is not about queues, exchanges or bindings.
func (c *Client) For(m protocol.Method) (*Request, error) {
	switch m := m.(type) {
	case *protocol.QueueDeclare:
		return c.declareQueue(m)
	case *protocol.QueueDelete:
		return c.deleteQueue(m)
	case *protocol.QueuePurge:
		return c.purge(m)
	case *protocol.QueueBind:
		return c.bindQueue(m.Queue, m.Exchange, m.RoutingKey, m.Arguments, binding{ok: &protocol.QueueBindOk{}, noWait: m.NoWait})
	case *protocol.QueueUnbind:
		return c.bindQueue(m.Queue, m.Exchange, m.RoutingKey, m.Arguments, binding{ok: &protocol.QueueUnbindOk{}, remove: true})
	case *protocol.ExchangeDeclare:
		return c.declareExchange(m)
	case *protocol.ExchangeDelete:
		return c.deleteExchange(m)
	case *protocol.ExchangeBind:
		return c.bindExchange(m.Source, m.Destination, m.RoutingKey, m.Arguments, binding{ok: &protocol.ExchangeBindOk{}, noWait: m.NoWait})
	case *protocol.ExchangeUnbind:
		return c.bindExchange(m.Source, m.Destination, m.RoutingKey, m.Arguments,
			binding{ok: &protocol.ExchangeUnbindOk{}, remove: true, noWait: m.NoWait})
	}
	return nil, nil
}

func (c *Client) declareQueue(m *protocol.QueueDeclare) (*Request, error) {
	name := Stripped(m.Queue)
	checked := name
	if name == "" && !m.Passive { // the server will choose a similar name
		checked = Generated("amq.gen-")
	}
	if err := c.mayDeclare(auth.Queue, checked, m.Passive); err != nil {
		return nil, err
	}
	permission := mail.PermissionUnless(c.Make(m.Arguments, checked))
	return &Request{
		To: c.VHost.PID, NoWait: m.NoWait,
		Mail: func(r mail.Request) any {
			return &mail.DeclareQueue{
				Request: r, Name: name, Passive: m.Passive, Durable: m.Durable, Exclusive: m.Exclusive, AutoDelete: m.AutoDelete,
				NoWait: m.NoWait, Arguments: m.Arguments, Connection: c.Connection, VHost: c.VHost.Name, Permission: permission,
			}
		},
		Ok: func(reply any) protocol.Method {
			r := reply.(*mail.DeclareQueueReply)
			return &protocol.QueueDeclareOk{Queue: r.Name, MessageCount: uint32(r.MessageCount), ConsumerCount: uint32(r.ConsumerCount)}
		},
	}, nil
}

// mayDeclare checks for configure permission or, for a passive declare, for any permission.
func (c *Client) mayDeclare(kind auth.Kind, name string, passive bool) error {
	if passive {
		return c.Any(kind, name)
	}
	return c.Check(kind, name, auth.Configure)
}

func (c *Client) deleteQueue(m *protocol.QueueDelete) (*Request, error) {
	name, err := c.Named(m.Queue)
	if err != nil {
		return nil, err
	}
	name = Stripped(name)
	if err := c.Check(auth.Queue, name, auth.Configure); err != nil {
		return nil, err
	}
	return &Request{
		To: c.VHost.PID, NoWait: m.NoWait,
		Mail: func(r mail.Request) any {
			return &mail.DeleteQueue{
				Request: r, Name: name, IfUnused: m.IfUnused, IfEmpty: m.IfEmpty, Connection: c.Connection, VHost: c.VHost.Name,
			}
		},
		Ok: func(reply any) protocol.Method {
			return &protocol.QueueDeleteOk{MessageCount: uint32(reply.(*mail.DeleteQueueReply).MessageCount)}
		},
	}, nil
}

func (c *Client) purge(m *protocol.QueuePurge) (*Request, error) {
	name, err := c.Named(m.Queue)
	if err != nil {
		return nil, err
	}
	q, err := c.Readable(name)
	if err != nil {
		return nil, err
	}
	return &Request{
		To: q.PID, NoWait: m.NoWait, Purges: q,
		Mail: func(r mail.Request) any {
			return &mail.Purge{Request: r, Connection: c.Connection, Queue: q.Name, VHost: c.VHost.Name}
		},
		Ok: func(reply any) protocol.Method {
			return &protocol.QueuePurgeOk{MessageCount: uint32(reply.(*mail.PurgeReply).MessageCount)}
		},
	}, nil
}

// binding describes a change of a binding.
type binding struct {
	ok             protocol.Method
	remove, noWait bool
}

// bindQueue handles queue.bind and queue.unbind. An empty queue name means the last declared queue, and with it an
// empty key means that queue's name (DEC-9).
func (c *Client) bindQueue(queue, source, key string, args protocol.Table, how binding) (*Request, error) {
	name, err := c.Named(queue)
	if err != nil {
		return nil, err
	}
	if queue == "" && key == "" {
		key = name
	}
	name = Stripped(name)
	if err := c.Check(auth.Queue, name, auth.Write); err != nil {
		return nil, err
	}
	return c.bind(source, topology.Binding{Destination: name, RoutingKey: key, Arguments: args}, how)
}

func (c *Client) bindExchange(source, destination, key string, args protocol.Table, how binding) (*Request, error) {
	destination = Stripped(destination)
	if err := c.Check(auth.Exchange, destination, auth.Write); err != nil {
		return nil, err
	}
	return c.bind(source, topology.Binding{Destination: destination, ToExchange: true, RoutingKey: key, Arguments: args}, how)
}

func (c *Client) bind(source string, b topology.Binding, how binding) (*Request, error) {
	source = Stripped(source)
	if err := c.Check(auth.Exchange, source, auth.Read); err != nil {
		return nil, err
	}
	topic := mail.PermissionUnless(c.Topic(source, b.RoutingKey, auth.Read))
	return &Request{
		To: c.VHost.PID, NoWait: how.noWait,
		Mail: func(r mail.Request) any {
			if how.remove {
				return &mail.Unbind{Request: r, Source: source, Binding: b, Connection: c.Connection, Topic: topic}
			}
			return &mail.Bind{Request: r, Source: source, Binding: b, Connection: c.Connection, Topic: topic}
		},
		Ok: func(any) protocol.Method { return how.ok },
	}, nil
}

func (c *Client) declareExchange(m *protocol.ExchangeDeclare) (*Request, error) {
	name := Stripped(m.Exchange)
	if err := c.mayDeclare(auth.Exchange, name, m.Passive); err != nil {
		return nil, err
	}
	var permission error // the refusal to create it with an alternate exchange (DEC-14)
	if alternate, leads := policies.ExchangeLeadsTo(m.Arguments); leads {
		permission = c.Lead(auth.Exchange, name, alternate)
	}
	return &Request{
		To: c.VHost.PID, NoWait: m.NoWait,
		Mail: func(r mail.Request) any {
			return &mail.DeclareExchange{
				Request: r, Name: name, Type: m.Type, Passive: m.Passive, Durable: m.Durable, AutoDelete: m.AutoDelete,
				Internal: m.Internal, Arguments: m.Arguments, Permission: mail.PermissionUnless(permission),
			}
		},
		Ok: func(any) protocol.Method { return &protocol.ExchangeDeclareOk{} },
	}, nil
}

func (c *Client) deleteExchange(m *protocol.ExchangeDelete) (*Request, error) {
	name := Stripped(m.Exchange)
	if err := c.Check(auth.Exchange, name, auth.Configure); err != nil {
		return nil, err
	}
	return &Request{
		To: c.VHost.PID, NoWait: m.NoWait,
		Mail: func(r mail.Request) any {
			return &mail.DeleteExchange{Request: r, Name: name, IfUnused: m.IfUnused}
		},
		Ok: func(any) protocol.Method { return &protocol.ExchangeDeleteOk{} },
	}, nil
}
