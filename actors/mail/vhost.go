package mail

import (
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Leave says what the asker of a declare may make besides the thing itself: a way on to
// other exchanges, a further queue. It says what the channel's check of the asker's
// permissions came to. Whoever makes the thing obeys it, as nobody else knows whether it
// is there already, and needs no leave. The zero value has not been checked.
type Leave struct {
	checked bool
	refused error
}

// LeaveUnless is a leave that was checked: refused is why not, nil if it is given.
func LeaveUnless(refused error) Leave { return Leave{true, refused} }

// Err is why the thing may not be made: the refusal, a 403, if it was refused or nobody
// has checked; else nil.
func (l Leave) Err() error {
	if !l.checked {
		return protocol.ChannelErrorf(protocol.AccessRefused, "permissions for the arguments were not checked")
	}
	return l.refused
}

// DeclareQueue makes a queue or checks one that exists. From a channel to the
// vhost, which forwards it to the queue; the queue answers DeclareQueueReply.
// Permissions for the name were checked by the channel, those for the arguments are
// in Leave.
type DeclareQueue struct {
	Request
	Name                                    string // "" asks for a server name (DEC-9)
	Passive, Durable, Exclusive, AutoDelete bool
	NoWait                                  bool // renews no lease (LEASE-4)
	Arguments                               protocol.Table
	// Connection is the asker's, the owner of an exclusive queue.
	Connection Address
	VHost      string
	Leave      Leave // to make a queue with arguments that need one
	// Via is the vhost when it has forwarded the command: a queue that ends before it
	// sees that gives it back.
	Via Address
}

// Answer implements Answerable.
func (d *DeclareQueue) Answer(f Fate) (Address, any) {
	if d.Via != nil && f.unseen() {
		again := *d
		again.Via = nil
		return d.Via, &again
	}
	return d.ReplyTo, &DeclareQueueReply{Reply: d.Done(gone(f, d.Name, d.VHost)), Name: d.Name}
}

// DeleteQueue ends a queue; one that does not exist is deleted with 0 messages
// (DEC-6). From a channel to the vhost, which forwards it; the queue answers
// DeleteQueueReply once it is forgotten.
type DeleteQueue struct {
	Request
	Name              string
	IfUnused, IfEmpty bool
	Connection        Address // the asker's; nil for the broker itself
	VHost             string
	Via               Address // as in DeclareQueue
}

// Answer implements Answerable.
func (d *DeleteQueue) Answer(f Fate) (Address, any) {
	if d.Via != nil && f.unseen() {
		again := *d
		again.Via = nil
		return d.Via, &again
	}
	if f == Gone {
		return d.ReplyTo, &DeleteQueueReply{Reply: d.Done(nil)}
	}
	return d.ReplyTo, &DeleteQueueReply{Reply: d.Done(gone(f, d.Name, d.VHost))}
}

// AwaitQueue asks to be told when nothing is about to happen to a queue: it is
// published, or it is not there. From a channel whose command missed its queue;
// TopologyReply comes back.
type AwaitQueue struct {
	Request
	Name, VHost string
}

// Answer implements Answerable.
func (a *AwaitQueue) Answer(f Fate) (Address, any) {
	return a.ReplyTo, &TopologyReply{Reply: a.Done(gone(f, a.Name, a.VHost))}
}

// AwaitIdle asks to be told when all is done that followed from earlier mail: no
// definition is on its way to the disk, no exchange is asked about bindings and no child
// is about to end. From a node that stops; TopologyReply comes back.
type AwaitIdle struct{ Request }

// Answer implements Answerable: in a virtual host that has ended all is done.
func (a *AwaitIdle) Answer(Fate) (Address, any) { return a.ReplyTo, &TopologyReply{Reply: a.Done(nil)} }

// DeclareExchange makes an exchange or checks one that exists. From a channel;
// TopologyReply comes back.
type DeclareExchange struct {
	Request
	Name, Type                             string
	Passive, Durable, AutoDelete, Internal bool
	Arguments                              protocol.Table
	Leave                                  Leave // to make an exchange with an alternate
}

// Answer implements Answerable.
func (d *DeclareExchange) Answer(f Fate) (Address, any) { return d.answer(f) }

// DeleteExchange ends an exchange; one that does not exist is fine. From a
// channel; TopologyReply comes back.
type DeleteExchange struct {
	Request
	Name     string
	IfUnused bool
}

// Answer implements Answerable.
func (d *DeleteExchange) Answer(f Fate) (Address, any) { return d.answer(f) }

// Bind adds a binding from Source. From a channel to the vhost, which resolves
// both ends and sends AddBinding; TopologyReply comes back.
type Bind struct {
	Request
	Source     string
	Binding    topology.Binding
	Connection Address // for exclusive queues (DEC-5)
	Topic      Leave   // to read the routing key, if the source is a topic exchange
}

// Answer implements Answerable.
func (b *Bind) Answer(f Fate) (Address, any) { return b.answer(f) }

// Unbind removes a binding; one that does not exist is fine. From a channel;
// TopologyReply comes back.
type Unbind struct {
	Request
	Source     string
	Binding    topology.Binding
	Connection Address
	Topic      Leave // as in Bind
}

// Answer implements Answerable.
func (u *Unbind) Answer(f Fate) (Address, any) { return u.answer(f) }

// QueueCrashed is sent by a queue that ends by a panic to its vhost, which holds back further
// commands for it, and tells
// the queue's next life: Newest is at least as high as the number of any message that
// it has had. Nothing comes back.
type QueueCrashed struct {
	Queue  Address
	Newest uint64
}

// QueueRetiring opens a queue's farewell (ADR 4). Handled is how many of the
// vhost's commands the queue has seen: if the vhost has forwarded more it
// answers QueueKept, else QueueForgotten once name and bindings are
// unpublished. Deleted says that a DeleteQueue asked for it: commands behind it
// wait in the vhost and meet the next incarnation, so it is never kept.
type QueueRetiring struct {
	Name        string
	Incarnation uint64
	Queue       Address
	Handled     uint64
	Deleted     bool
}

// Answer implements Answerable: without its vhost the queue is nobody's; one that
// failed over the farewell still has the queue.
func (r *QueueRetiring) Answer(f Fate) (Address, any) {
	if f == Gone {
		return r.Queue, &QueueForgotten{}
	}
	return r.Queue, &QueueKept{}
}

// QueueDeleteRefused: a DeleteQueue failed its conditions and was answered; the
// vhost may forward the commands that wait behind it.
type QueueDeleteRefused struct {
	Name        string
	Incarnation uint64
}

// ExchangeUnused: an auto-delete exchange lost its last binding to an Unbind,
// whose Request it carries on: the vhost answers that with TopologyReply when
// the exchange is gone. From the exchange.
type ExchangeUnused struct {
	Request
	Name     string
	Exchange Address
}

// Answer implements Answerable: the binding was removed in any case.
func (u *ExchangeUnused) Answer(Fate) (Address, any) {
	return u.ReplyTo, &TopologyReply{Reply: u.Done(nil)}
}

// BindingsForgotten answers ForgetDestination. Unused says that the exchange is
// an auto-delete one and has just lost its last binding by it: the vhost
// retires it (LEASE-8).
type BindingsForgotten struct {
	Reply
	Unused bool
}

// ExchangeDeleteReply answers RetireExchange: nil Err means that the exchange
// has published an empty table and may be forgotten.
type ExchangeDeleteReply struct{ Reply }

// ReleaseConnection deletes the exclusive queues of a connection. From the
// connection; ConnectionReleased comes back when they are forgotten.
type ReleaseConnection struct {
	Request
	Connection Address
}

// Answer implements Answerable.
func (r *ReleaseConnection) Answer(Fate) (Address, any) {
	return r.ReplyTo, &ConnectionReleased{Reply: r.Done(nil)}
}

// EndVHost deletes everything in a virtual host and ends its actor. From the
// root; VHostEnded comes back right before the actor ends. Commands that come
// later find the virtual host gone.
type EndVHost struct{ Request }

// Answer implements Answerable.
func (e *EndVHost) Answer(Fate) (Address, any) {
	return e.ReplyTo, &VHostEnded{Reply: e.Done(nil)}
}

// VHostEnded answers EndVHost.
type VHostEnded struct{ Reply }

// ApplyPolicies gives a vhost its policies. From the registry;
// ApplyPoliciesReply comes back when every affected queue was sent its settings
// and every affected exchange has published (PRO-15). A version that is
// not newer than the last one is ignored, and answered.
type ApplyPolicies struct {
	Request
	Set *policies.Set
}

// Answer implements Answerable.
func (a *ApplyPolicies) Answer(f Fate) (Address, any) {
	return a.ReplyTo, &ApplyPoliciesReply{Reply: a.Done(nil)}
}

// ApplyPoliciesReply answers ApplyPolicies.
type ApplyPoliciesReply struct{ Reply }

func (r Request) answer(f Fate) (Address, any) {
	var err error = protocol.ConnectionErrorf(protocol.InternalError, "the virtual host failed")
	switch f {
	case Gone:
		err = protocol.ConnectionErrorf(protocol.NotAllowed, "the virtual host is gone")
	case Unstored:
		err = NotStored()
	case Failed, Down, Unseen:
	}
	return r.ReplyTo, &TopologyReply{Reply: r.Done(err)}
}
