package rights

import (
	"cmp"

	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Rights are the permissions of a user in a virtual host.
type Rights struct {
	User        auth.User
	VHost       *topology.VHost
	Permissions auth.Permissions
}

// Check checks one permission.
func (r *Rights) Check(kind auth.Kind, name string, perm auth.Permission) error {
	return r.Permissions.Check(r.User, r.VHost.Name, auth.Resource{Kind: kind, Name: name}, perm)
}

// Any checks for any of the three permissions, which a passive declare needs. It is refused as a declare would be.
func (r *Rights) Any(kind auth.Kind, name string) error {
	if r.Check(kind, name, auth.Read) == nil || r.Check(kind, name, auth.Write) == nil {
		return nil
	}
	return r.Check(kind, name, auth.Configure)
}

// Lead checks the permissions to create an object that routes its messages to an exchange: read on the object and write
// on the exchange.
func (r *Rights) Lead(kind auth.Kind, from, exchange string) error {
	if err := r.Check(kind, from, auth.Read); err != nil {
		return err
	}
	return r.Check(auth.Exchange, exchange, auth.Write)
}

// Make checks the permissions to create a queue with these arguments: if it dead-letters or forwards to an exchange,
// read on the queue and write on the exchange (DL-3); and configure on a dead-letter queue that the broker would
// create. Only the virtual host knows whether the queue has to be created.
func (r *Rights) Make(args protocol.Table, name string) error {
	exchanges, deadLetterQueue := policies.QueueLeadsTo(args)
	for _, to := range exchanges {
		if err := r.Lead(auth.Queue, name, to); err != nil {
			return err
		}
	}
	if deadLetterQueue {
		return r.Check(auth.Queue, cmp.Or(policies.DeadLetterQueueOf(name), name), auth.Configure)
	}
	return nil
}

// Readable resolves the name of a queue, and checks read permission.
func (r *Rights) Readable(name string) (*topology.Queue, error) {
	if err := r.Check(auth.Queue, name, auth.Read); err != nil {
		return nil, err
	}
	return r.Queue(name)
}

// Queue resolves the name of a queue, without checking permissions. The error is NotFound.
func (r *Rights) Queue(name string) (*topology.Queue, error) {
	if q := r.VHost.Directory().Queue([]byte(name)); q != nil {
		return q, nil
	}
	return nil, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, r.VHost.Name)
}

// Writable resolves the name of an exchange to publish to, and makes the checks of TTL-7: permission, existence,
// internal.
func (r *Rights) Writable(name []byte) (*topology.Exchange, error) {
	if err := r.Check(auth.Exchange, string(name), auth.Write); err != nil {
		return nil, err
	}
	x := r.VHost.Directory().Exchange(name)
	if x == nil {
		return nil, protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, r.VHost.Name)
	}
	if x.Internal {
		return nil, protocol.ChannelErrorf(protocol.AccessRefused, "cannot publish to internal exchange '%s' in vhost '%s'", name, r.VHost.Name)
	}
	return x, nil
}

// HasTopics reports whether Topics can refuse anything at the exchange.
func (r *Rights) HasTopics(x *topology.Exchange) bool {
	return x.Type == "topic" && r.Permissions.HasTopics(r.User, r.VHost.Name, x.Name)
}

// Topics checks the topic permissions for all routing keys of a message.
func (r *Rights) Topics(x *topology.Exchange, key []byte, more [][]byte) error {
	err := r.Topic(x.Name, string(key), auth.Write)
	for i := 0; err == nil && i < len(more); i++ {
		err = r.Topic(x.Name, string(more[i]), auth.Write)
	}
	return err
}

// Topic checks the topic permission for one routing key.
func (r *Rights) Topic(exchange, key string, perm auth.Permission) error {
	return r.Permissions.CheckTopic(r.User, r.VHost.Name, exchange, key, perm)
}

// Command checks that the user may publish an admin command: commands that change policies need a user tag, others
// check permissions themselves.
func (r *Rights) Command(key []byte) error {
	if topology.IsOpenCommand(key) || r.User.MayChange(auth.Policies) {
		return nil
	}
	return auth.Refuse(r.User, r.VHost.Name, auth.Resource{Kind: auth.Exchange, Name: topology.AdminExchange}, auth.Write)
}

// Answer checks that the user may publish to replyTo through the default exchange, as the answer to a command will
// be. Direct replies to itself need no permission.
func (r *Rights) Answer(replyTo []byte) error {
	if len(replyTo) == 0 || string(replyTo) == topology.ReplyName {
		return nil
	}
	return r.Replies()
}

// Replies checks that the user may publish through the default exchange, which leads to every queue.
func (r *Rights) Replies() error { return r.Check(auth.Exchange, "", auth.Write) }

// UserID checks the user-id property: it must be the user's name, unless the user has the tag to impersonate.
func (r *Rights) UserID(name []byte) error {
	if string(name) == r.User.Name || r.User.HasTag("impersonator") {
		return nil
	}
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"user_id property set to '%s' but authenticated user was '%s'", name, r.User.Name)
}
