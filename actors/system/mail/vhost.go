package mail

import (
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Permission holds whether the sender of a declare may create its object in a way that needs more than permission for
// its name: routing to further exchanges, or another queue. The channel checks this in advance; the actor that creates
// the object applies it, because only this actor knows whether the object already exists, so that no permission is
// needed. The zero value is unchecked and denies.
type Permission struct {
	checked bool
	refused error
}

// PermissionUnless returns a checked permission: denied for the reason refused, granted if refused is nil.
func PermissionUnless(refused error) Permission { return Permission{true, refused} }

// Err returns why the object may not be created, 403 if this was not checked; nil if it may.
func (l Permission) Err() error {
	if !l.checked {
		return protocol.ChannelErrorf(protocol.AccessRefused, "permissions for the arguments were not checked")
	}
	return l.refused
}

// DeclareQueue creates a queue or checks an existing one. From a channel to the vhost, which forwards it to the queue;
// the queue answers with DeclareQueueReply. The channel has checked the permissions for the name; Permission holds the
// permissions for the arguments.
type DeclareQueue struct {
	Request
	Name                                    string // "" requests a server-generated name (DEC-9)
	Passive, Durable, Exclusive, AutoDelete bool
	NoWait                                  bool // does not renew the lease (LEASE-4)
	Generated                               bool // the broker has made Name, which may begin with amq.
	Arguments                               protocol.Table
	// Connection is the client's connection, the owner of an exclusive queue.
	Connection Address
	VHost      string
	Permission Permission // to create a queue with arguments that need permission
	For        string     // the user for whom a queue that the broker makes counts
	// Via is the vhost once it has forwarded the command: a queue that ends before it handles the command returns the
	// command to Via.
	Via Address
}

// Answer implements Answerable.
func (d *DeclareQueue) Answer(f Cause) (Address, any) {
	if d.Via != nil && f.unseen() {
		again := *d
		again.Via = nil
		return d.Via, &again
	}
	return d.ReplyTo, &DeclareQueueReply{Reply: d.Done(gone(f, d.Name, d.VHost)), Name: d.Name}
}

// DeleteQueue deletes a queue; if it does not exist, the answer has 0 messages (DEC-6). From a channel to the vhost,
// which forwards it; the queue answers with DeleteQueueReply once it is forgotten.
type DeleteQueue struct {
	Request
	Name              string
	IfUnused, IfEmpty bool
	Connection        Address // the client's connection; nil for the broker itself
	VHost             string
	Via               Address // as in DeclareQueue
}

// Answer implements Answerable.
func (d *DeleteQueue) Answer(f Cause) (Address, any) {
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

// AwaitQueue asks for an answer when no change of a queue is pending: it is published, or it does not exist. From a
// channel whose command missed its queue; TopologyReply comes back.
type AwaitQueue struct {
	Request
	Name, VHost string
}

// Answer implements Answerable.
func (a *AwaitQueue) Answer(f Cause) (Address, any) {
	return a.ReplyTo, &TopologyReply{Reply: a.Done(gone(f, a.Name, a.VHost))}
}

// AwaitIdle asks for an answer when all effects of earlier mail are complete: no definition is being written, no
// exchange is asked about bindings and no child is ending. From a node that stops; TopologyReply comes back.
type AwaitIdle struct{ Request }

// Answer implements Answerable: a virtual host that has ended is idle.
func (a *AwaitIdle) Answer(Cause) (Address, any) {
	return a.ReplyTo, &TopologyReply{Reply: a.Done(nil)}
}

// DeclareExchange creates an exchange or checks an existing one. From a channel; TopologyReply comes back.
type DeclareExchange struct {
	Request
	Name, Type                             string
	Passive, Durable, AutoDelete, Internal bool
	Arguments                              protocol.Table
	Permission                             Permission // to create an exchange with an alternate exchange
}

// Answer implements Answerable.
func (d *DeclareExchange) Answer(f Cause) (Address, any) { return d.answer(f) }

// DeleteExchange deletes an exchange; it is not an error if it does not exist. From a channel; TopologyReply comes
// back.
type DeleteExchange struct {
	Request
	Name     string
	IfUnused bool
}

// Answer implements Answerable.
func (d *DeleteExchange) Answer(f Cause) (Address, any) { return d.answer(f) }

// Bind adds a binding from Source. From a channel to the vhost, which resolves
// both ends and sends AddBinding; TopologyReply comes back.
type Bind struct {
	Request
	Source     string
	Binding    topology.Binding
	Connection Address    // for exclusive queues (DEC-5)
	Topic      Permission // to read with the routing key, if the source is a topic exchange
}

// Answer implements Answerable.
func (b *Bind) Answer(f Cause) (Address, any) { return b.answer(f) }

// Unbind removes a binding; it is not an error if it does not exist. From a channel; TopologyReply comes back.
type Unbind struct {
	Request
	Source     string
	Binding    topology.Binding
	Connection Address
	Topic      Permission // as in Bind
}

// Answer implements Answerable.
func (u *Unbind) Answer(f Cause) (Address, any) { return u.answer(f) }

// QueueCrashed is sent to the vhost by a queue that ends after a panic. The vhost holds back further commands for the
// queue and passes Newest, which is not below the highest number of its messages, to the restarted queue. No reply.
type QueueCrashed struct {
	Queue  Address
	Newest uint64
}

// QueueRetiring starts the end of a queue (ADR 4). Handled is the number of the vhost's commands that the queue has
// handled. If the vhost has forwarded more it answers with QueueKept, otherwise with QueueForgotten once name and
// bindings are unpublished. Deleted: the cause is a DeleteQueue; the queue is not kept, and later commands wait in the
// vhost for the next incarnation.
//
// With Ending the queue still has messages that must arrive elsewhere (LEASE-14): the vhost answers with QueueEnding once
// name and bindings are unpublished, and the queue sends another QueueRetiring when it has none left.
type QueueRetiring struct {
	Name        string
	Incarnation uint64
	Queue       Address
	Handled     uint64
	Deleted     bool
	Ending      string // topology.Queue.Ending, "" for no such messages
	// Lost is the number of messages that were to arrive elsewhere and are lost.
	Lost int
}

// Answer implements Answerable: without its vhost the queue has no owner and may end, unless it would lose messages; a
// vhost that failed while handling this mail still has the queue.
func (r *QueueRetiring) Answer(f Cause) (Address, any) {
	switch {
	case f != Gone:
		return r.Queue, &QueueKept{}
	case r.Ending != "":
		return nil, nil
	}
	return r.Queue, &QueueForgotten{}
}

// QueueHeldUp: a queue that is ending has not sent all of its messages within a time, or a target refuses some. From the
// queue to its vhost, once: declarations of its name no longer wait for its end.
type QueueHeldUp struct {
	Name        string
	Incarnation uint64
}

// QueueDeleteRefused: the conditions of a DeleteQueue were not met, and it was answered; the vhost may forward the
// commands that wait after it.
type QueueDeleteRefused struct {
	Name        string
	Incarnation uint64
}

// ExchangeUnused: an auto-delete exchange lost its last binding to an Unbind. The vhost answers that command, whose
// Request this mail contains, with TopologyReply when the exchange has ended. From the exchange.
type ExchangeUnused struct {
	Request
	Name     string
	Exchange Address
}

// Answer implements Answerable: the binding was removed in any case.
func (u *ExchangeUnused) Answer(Cause) (Address, any) {
	return u.ReplyTo, &TopologyReply{Reply: u.Done(nil)}
}

// ForgetDestinationReply answers ForgetDestination. Unused: the exchange is auto-delete and has just lost its last
// binding; the vhost retires it (LEASE-8).
type ForgetDestinationReply struct {
	Reply
	Unused bool
}

// RetireExchangeReply answers RetireExchange: if Err is nil, the exchange has published an empty table and may be
// forgotten.
type RetireExchangeReply struct{ Reply }

// ReleaseConnection deletes the exclusive queues of a connection. From the connection; ReleaseConnectionReply comes back
// when they are forgotten.
type ReleaseConnection struct {
	Request
	Connection Address
}

// Answer implements Answerable.
func (r *ReleaseConnection) Answer(Cause) (Address, any) {
	return r.ReplyTo, &ReleaseConnectionReply{Reply: r.Done(nil)}
}

// EndVHost deletes everything in a virtual host and ends its actor. From the root; EndVHostReply comes back right before
// the actor ends. Later commands are answered as for a virtual host that does not exist.
type EndVHost struct{ Request }

// Answer implements Answerable.
func (e *EndVHost) Answer(Cause) (Address, any) {
	return e.ReplyTo, &EndVHostReply{Reply: e.Done(nil)}
}

// EndVHostReply answers EndVHost.
type EndVHostReply struct{ Reply }

// ApplyPolicies passes a vhost its policies. From the registry; ApplyPoliciesReply comes back when all affected
// queues were sent their settings and all affected exchanges have published theirs (PRO-15). A version that is not
// newer than the last one is ignored, and answered.
type ApplyPolicies struct {
	Request
	Set *policies.Policies
}

// Answer implements Answerable.
func (a *ApplyPolicies) Answer(f Cause) (Address, any) {
	return a.ReplyTo, &ApplyPoliciesReply{Reply: a.Done(nil)}
}

// ApplyPoliciesReply answers ApplyPolicies.
type ApplyPoliciesReply struct{ Reply }

func (r Request) answer(f Cause) (Address, any) {
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
