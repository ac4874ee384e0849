package mail

import "candlemark/internal/routing/message"

// Limits on one Claim.
const (
	// MaxClaimed is the limit of messages, ClaimBytes the approximate limit of bytes of contents, which the last
	// message may exceed.
	MaxClaimed = 256
	ClaimBytes = 1 << 20
)

// Claim takes ready messages in order, to move them elsewhere: messages with numbers up to Newest and, if Seqs is set,
// in Seqs. They are unavailable to others until they are settled, with Ack or PutBack, or until the sender ends. From
// the actor of a move; Claimed comes back.
type Claim struct {
	Request
	After  Cursor // Next of the last answer; the zero value for the start
	Newest uint64 // 0 for the newest message of the queue
	// Seqs are the numbers of the messages, nil for all. The receiver does not modify it.
	Seqs map[uint64]struct{}
	// Limit is the maximum number of messages, 1 to MaxClaimed.
	Limit int
	// Look only lists the messages and takes none.
	Look bool
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (c *Claim) Answer(f Cause) (Address, any) {
	return c.ReplyTo, &ClaimReply{Reply: c.Done(gone(f, c.Queue, c.VHost))}
}

// ClaimReply answers Claim.
type ClaimReply struct {
	Reply
	Messages []ClaimedMessage
	Newest   uint64 // for the next Claim
	Next     Cursor // valid until the queue is restarted
	More     bool   // more messages may follow Next
}

// ClaimedMessage is one claimed message. Its contents are owned.
type ClaimedMessage struct {
	Message message.Message
	// Number is the queue's number of the delivery, 0 if the message was only listed.
	Number uint64
	// Stored is the sequence number by which the queue has stored it, 0 if it has not.
	Stored uint64
	// Unreadable: the content is in the journal and cannot be read at present.
	Unreadable bool
}
