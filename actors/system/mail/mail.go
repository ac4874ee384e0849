package mail

import (
	"errors"

	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Address is the receiver of a mail.
type Address = topology.Address

// ID returns the id of an actor, "" for nil.
func ID(a Address) string {
	if a == nil {
		return ""
	}
	return a.GetId()
}

// Same reports whether a and b are addresses of the same actor; nil is no actor's address.
func Same(a, b Address) bool { return a != nil && b != nil && a.GetId() == b.GetId() }

// Locked returns the error for the use of an exclusive queue by a connection that does not own it (DEC-5), and nil for all other
// uses: q may be nil, and a nil connection is the broker itself.
func Locked(q *topology.Queue, connection Address, vhost string) error {
	if q == nil || !q.Exclusive || connection == nil || Same(connection, q.Owner) {
		return nil
	}
	return policies.ResourceLocked(q.Name, vhost)
}

// Request holds the receiver of the answer to a command, and the answer's number, chosen by the sender. With the zero
// value there is no answer.
type Request struct {
	ReplyTo Address
	ID      uint64
	By      *events.Origin // the user who caused it; nil for the broker itself
}

// Reply is embedded in every answer. Err is nil, a *protocol.ChannelError or a *protocol.ConnectionError; any other
// error is an internal error of the broker (541).
type Reply struct {
	ID  uint64
	Err error
}

// Done returns the Reply to r.
func (r Request) Done(err error) Reply { return Reply{ID: r.ID, Err: err} }

// Number returns the number of the Request, so that the sender can distinguish a late answer from the expected one.
func (r Reply) Number() uint64 { return r.ID }

// Failure returns why the command was refused, nil if it was not.
func (r Reply) Failure() error { return r.Err }

// Cause is the reason why another actor answers a mail instead of its receiver.
type Cause uint8

const (
	// Gone: the receiver ended normally and no longer exists.
	Gone Cause = iota
	// Failed: the receiver panicked while handling the mail; its progress is unknown.
	Failed
	// Down: the receiver is a queue that cannot be restarted (PRO-16).
	Down
	// Unseen: the receiver panicked while handling other mail, before this one.
	Unseen
	// Unstored: the receiver is intact, but the change could not be made durable.
	Unstored
)

// unseen reports whether the mail had no effect.
func (f Cause) unseen() bool { return f == Gone || f == Unseen }

// NotStored returns the error for a definition that could not be made durable; the log has the reason. A full disk
// makes only this change fail.
func NotStored() error {
	return protocol.ConnectionErrorf(protocol.InternalError, "the definition could not be stored")
}

// NotRecorded returns the error for a change of messages that the journal has not stored: the log has the reason.
func NotRecorded() error {
	return protocol.ConnectionErrorf(protocol.InternalError, "the journal failed: it is not known whether the change will survive a restart")
}

// Missed is the error of a command whose queue ended before it handled the command. The sender asks the virtual host
// (AwaitQueue) and then retries.
type Missed struct{ Queue string } // its name

// Error implements error.
func (m *Missed) Error() string { return "queue '" + m.Queue + "' ended before it handled the command" }

// Answerable is a mail that can be answered by another actor than its receiver.
type Answerable interface {
	// Answer releases the resources of the mail, and returns the receiver of the reply, nil for none, and the reply.
	Answer(Cause) (Address, any)
}

// PeerGone is sent by an actor to itself on Terminated, so that it first handles replies that the terminated actor has
// already sent (PRO-1).
type PeerGone struct{ Who Address }

var errRegistry = errors.New("the policy registry failed")
