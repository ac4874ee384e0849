package management

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Kind is the kind of an operation.
type Kind uint8

// The kinds. All but the questions DescribeQueue and ListBindings have a Method.
const (
	DeclareQueue Kind = iota
	DescribeQueue
	DeleteQueue
	PurgeQueue
	DeclareExchange
	DeleteExchange
	Bind
	Unbind // of the one in Bindings
	ListBindings
)

// Operation is the operation that a request wants.
type Operation struct {
	Kind     Kind
	Name     string          // of the queue or exchange
	Method   protocol.Method // of 0-9-1 that does it
	Bindings Bindings
}

// Bindings are the bindings between two objects with a routing key.
type Bindings struct {
	Source, Destination, Key string
	ToExchange               bool
	Hash                     string // of the arguments, from the location; only for Unbind
}

// Operation returns the operation that r wants in a virtual host, whose name is used in texts. The error is a *Refusal.
func (r *Request) Operation(vhost string) (*Operation, error) {
	path, query, _ := strings.Cut(r.Path, "?")
	segments := strings.Split(path, "/")
	switch {
	case len(segments) == 3 && segments[0] == "" && segments[1] == "queues":
		return r.queue(segments[2], vhost)
	case len(segments) == 4 && segments[0] == "" && segments[1] == "queues" && segments[3] == "messages" && r.Verb == "DELETE":
		name, err := decoded(segments[2])
		return &Operation{Kind: PurgeQueue, Name: name, Method: &protocol.QueuePurge{Queue: name}}, err
	case len(segments) == 3 && segments[0] == "" && segments[1] == "exchanges":
		return r.exchange(segments[2], vhost)
	case len(segments) == 3 && segments[0] == "" && segments[1] == "bindings" && r.Verb == "DELETE":
		return unbind(segments[2])
	case path == "/bindings" && r.Verb == "POST":
		return r.bind()
	case path == "/bindings" && r.Verb == "GET":
		return list(query)
	}
	return nil, refuse(404, "there is no operation %s %s", short(r.Verb), short(r.Path))
}

func (r *Request) queue(segment, vhost string) (*Operation, error) {
	name, err := decoded(segment)
	if err != nil {
		return nil, err
	}
	switch r.Verb {
	case "PUT":
		if err := newQueue(name, vhost); err != nil {
			return nil, err
		}
		m := &protocol.QueueDeclare{Queue: name, Durable: true}
		err := r.fields("queue property", map[string]any{
			"durable": &m.Durable, "exclusive": &m.Exclusive, "auto_delete": &m.AutoDelete, "arguments": &m.Arguments,
		})
		return &Operation{Kind: DeclareQueue, Name: name, Method: m}, err
	case "GET":
		return &Operation{Kind: DescribeQueue, Name: name}, nil
	case "DELETE":
		return &Operation{Kind: DeleteQueue, Name: name, Method: &protocol.QueueDelete{Queue: name}}, oneLine(name)
	}
	return nil, refuse(404, "there is no operation %s on queues", short(r.Verb))
}

func (r *Request) exchange(segment, vhost string) (*Operation, error) {
	name, err := decoded(segment)
	if err == nil {
		err = notDefault(name)
	}
	if err == nil {
		err = oneLine(name)
	}
	if err != nil {
		return nil, err
	}
	switch r.Verb {
	case "PUT":
		m := &protocol.ExchangeDeclare{Exchange: name, Type: "direct", Durable: true}
		err := r.fields("exchange property", map[string]any{
			"durable": &m.Durable, "auto_delete": &m.AutoDelete, "internal": &m.Internal, "type": &m.Type, "arguments": &m.Arguments,
		})
		if _, known := topology.NewRoutes(m.Type, nil); err == nil && !known && m.Type != topology.DelayedType {
			err = refuse(400, "unknown exchange type '%s'", short(m.Type))
		}
		return &Operation{Kind: DeclareExchange, Name: name, Method: m}, err
	case "DELETE":
		return &Operation{Kind: DeleteExchange, Name: name, Method: &protocol.ExchangeDelete{Exchange: name}}, notReserved("exchange", name, vhost)
	}
	return nil, refuse(404, "there is no operation %s on exchanges", short(r.Verb))
}

// newQueue checks the name of a queue to be declared.
func newQueue(name, vhost string) error {
	if name == "" {
		return refuse(400, "declare queue with empty name not allowed")
	}
	if err := oneLine(name); err != nil {
		return err
	}
	return notReserved("queue", name, vhost)
}

func oneLine(name string) error {
	if strings.ContainsAny(name, "\r\n") {
		return refuse(400, "Bad name '%s': line feed and carriage return characters not allowed", name)
	}
	return nil
}

func notReserved(kind, name, vhost string) error {
	if strings.HasPrefix(name, "amq.") {
		return refuse(403, "%s '%s' in vhost '%s' starts with reserved prefix 'amq.'", kind, name, vhost)
	}
	return nil
}

func notDefault(exchange string) error {
	if exchange == "" {
		return refuse(403, "operation not permitted on the default exchange")
	}
	return nil
}

// decoded returns a percent-encoded name.
func decoded(segment string) (string, error) {
	name, err := url.PathUnescape(segment)
	if err != nil || !utf8.ValidString(name) || len(name) > 255 {
		return "", refuse(400, "bad path segment '%s'", short(segment))
	}
	return name, nil
}
