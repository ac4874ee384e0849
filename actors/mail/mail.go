package mail

import (
	"errors"

	"candlemark/internal/events"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Address is whom a mail goes to.
type Address = topology.Address

// Request says who waits for the answer to a command and under which number,
// chosen by the asker. The zero value wants no answer.
type Request struct {
	ReplyTo Address
	ID      uint64
	By      *events.Origin // who wants it; nil for the broker itself
}

// Reply is the head of every answer. Err is nil, a *protocol.ChannelError or a
// *protocol.ConnectionError; anything else is the broker's own failure (541).
type Reply struct {
	ID  uint64
	Err error
}

// Done makes the head of the answer to r.
func (r Request) Done(err error) Reply { return Reply{ID: r.ID, Err: err} }

// Number is the asker's number, by which a late answer is told from the one
// that is waited for.
func (r Reply) Number() uint64 { return r.ID }

// Failure is why the command was refused, nil if it was not.
func (r Reply) Failure() error { return r.Err }

// Fate says why a mail is answered by somebody else than its receiver.
type Fate uint8

const (
	// Gone: the receiver ended as it should; it no longer exists.
	Gone Fate = iota
	// Failed: the receiver panicked; nothing is known of what it did.
	Failed
	// Down: the receiver is a queue that cannot be brought back (PRO-16).
	Down
	// Unseen: the receiver panicked over something else and has not begun with this.
	Unseen
	// Unstored: the receiver is well, but what was asked for could not be made durable.
	Unstored
)

// unseen tells that nothing has come of a mail.
func (f Fate) unseen() bool { return f == Gone || f == Unseen }

// NotStored is the error for a definition that could not be made durable; the log
// says why. A full disk costs that one change, and nothing else.
func NotStored() error {
	return protocol.ConnectionErrorf(protocol.InternalError, "the definition could not be stored")
}

// Missed is the failure of a command that did not reach its queue, which ended before.
// Whoever sent it asks the virtual host (AwaitQueue) and then begins anew.
type Missed struct{ Queue string } // its name

// Error implements error.
func (m *Missed) Error() string { return "queue '" + m.Queue + "' ended before it saw the command" }

// Answerable is a mail that can be answered in its receiver's place.
type Answerable interface {
	// Answer releases what the mail holds and tells whom to send which reply;
	// a nil PID wants none.
	Answer(Fate) (Address, any)
}

// PeerGone is mailed by an actor to itself on Terminated, so that replies that
// the dead had already posted are handled first (PRO-1).
type PeerGone struct{ Who Address }

var errRegistry = errors.New("the policy registry failed")
