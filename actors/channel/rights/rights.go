package rights

import (
	"cmp"

	"candlemark/internal/auth"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Rights are those of a user in a virtual host.
type Rights struct {
	User        auth.User
	VHost       *topology.VHost
	Permissions auth.Permissions
}

// Check checks one permission.
func (r *Rights) Check(kind auth.Kind, name string, perm auth.Permission) error {
	return r.Permissions.Check(r.User, r.VHost.Name, auth.Resource{Kind: kind, Name: name}, perm)
}

// Any checks what a passive declare needs: any of the three rights. It is refused
// as a declare would be.
func (r *Rights) Any(kind auth.Kind, name string) error {
	if r.Check(kind, name, auth.Read) == nil || r.Check(kind, name, auth.Write) == nil {
		return nil
	}
	return r.Check(kind, name, auth.Configure)
}

// Lead checks the permissions to make something that sends messages on to an
// exchange: to read there and to write here.
func (r *Rights) Lead(kind auth.Kind, from, exchange string) error {
	if err := r.Check(kind, from, auth.Read); err != nil {
		return err
	}
	return r.Check(auth.Exchange, exchange, auth.Write)
}

// Make checks the permissions to make a queue with these arguments: if it sends messages
// on to an exchange, read on the queue and write on the exchange (DL-3); and configure
// on the dead-letter queue that the broker is to make. Only the virtual host knows
// whether the queue is to be made.
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

// Readable resolves the name of a queue to take messages from.
func (r *Rights) Readable(name string) (*topology.Queue, error) {
	if err := r.Check(auth.Queue, name, auth.Read); err != nil {
		return nil, err
	}
	return r.Queue(name)
}

// Queue resolves the name of a queue, whatever the permissions. The error is NotFound.
func (r *Rights) Queue(name string) (*topology.Queue, error) {
	if q := r.VHost.Directory().Queue([]byte(name)); q != nil {
		return q, nil
	}
	return nil, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, r.VHost.Name)
}

// Writable resolves the name of an exchange to publish to (TTL-7): permission,
// existence, internal.
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

// HasTopics tells whether Topics can refuse anything at the exchange.
func (r *Rights) HasTopics(x *topology.Exchange) bool {
	return x.Type == "topic" && r.Permissions.HasTopics(r.User, r.VHost.Name, x.Name)
}

// Topics checks all routing keys of a message.
func (r *Rights) Topics(x *topology.Exchange, key []byte, more [][]byte) error {
	err := r.Topic(x.Name, string(key), auth.Write)
	for i := 0; err == nil && i < len(more); i++ {
		err = r.Topic(x.Name, string(more[i]), auth.Write)
	}
	return err
}

// Topic checks one routing key.
func (r *Rights) Topic(exchange, key string, perm auth.Permission) error {
	return r.Permissions.CheckTopic(r.User, r.VHost.Name, exchange, key, perm)
}

// Command checks that the user may publish an admin command: those that change
// policies are for users with a tag, the others ask for permissions themselves.
func (r *Rights) Command(key []byte) error {
	if topology.IsOpenCommand(key) || r.User.MayChange(auth.Policies) {
		return nil
	}
	return auth.Refuse(r.User, r.VHost.Name, auth.Resource{Kind: auth.Exchange, Name: topology.AdminExchange}, auth.Write)
}

// Answer checks that the user may publish what the answer to a command will be:
// to a queue, through the default exchange. An answer to itself needs nothing.
func (r *Rights) Answer(replyTo []byte) error {
	if len(replyTo) == 0 || string(replyTo) == topology.ReplyName {
		return nil
	}
	return r.Check(auth.Exchange, "", auth.Write)
}

// UserID checks the user-id property: nobody publishes in another's name
// unless tagged for it.
func (r *Rights) UserID(name []byte) error {
	if string(name) == r.User.Name || r.User.HasTag("impersonator") {
		return nil
	}
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"user_id property set to '%s' but authenticated user was '%s'", name, r.User.Name)
}
