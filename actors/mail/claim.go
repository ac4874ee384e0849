package mail

import "candlemark/internal/message"

// Limits on one Claim.
const (
	// MostClaimed is how many messages it takes at most, ClaimBytes about how many bytes of contents; the last one may exceed them.
	MostClaimed = 256
	ClaimBytes  = 1 << 20
)

// Claim takes ready messages to be moved elsewhere, in the order of the queue: those with numbers up to Newest, and of these those of Seqs. Nobody else
// gets them until they are settled, with Ack or PutBack, or until who asked has ended. From the actor of a move; Claimed comes back.
type Claim struct {
	Request
	After  Cursor // Next of the answer before, the zero value for the beginning
	Newest uint64 // 0 for the newest that there is
	// Seqs are the messages that are wanted, nil for all. It is not altered.
	Seqs map[uint64]struct{}
	// Limit is how many are taken, 1 to MostClaimed.
	Limit int
	// Look takes none, and only shows them.
	Look bool
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *Claim) Answer(f Fate) (Address, any) {
	return c.ReplyTo, &Claimed{Reply: c.Done(gone(f, c.Queue, c.VHost))}
}

// Claimed answers Claim.
type Claimed struct {
	Reply
	Messages []ClaimedMessage
	Newest   uint64 // for the next Claim
	Next     Cursor // good until the queue is restarted
	More     bool   // there may be others behind Next
}

// ClaimedMessage is one message that was taken. Its contents are owned.
type ClaimedMessage struct {
	Message message.Message
	// Number is the queue's for the delivery, 0 if it was only looked at.
	Number uint64
	// Unreadable: its content is in the journal and could not be read for now.
	Unreadable bool
}
