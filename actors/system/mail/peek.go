package mail

import "candlemark/internal/routing/message"

// MessageState is a state of a message. Values are bits, so that sets can be formed.
type MessageState uint8

// Ready: waits for a consumer. Unacked: delivered and not settled. Scheduled: waits for its time. Deferred: delivered
// by number only.
const (
	Ready MessageState = 1 << iota
	Unacked
	Scheduled
	Deferred
)

// Limits of one PeekReply.
const (
	// MaxPeeked is the limit of messages, as in any list of messages.
	MaxPeeked = 1000
	// PeekBytes is the approximate limit of bytes of contents, both for returned contents and for contents read from the
	// journal; the last message may exceed it.
	PeekBytes = 1 << 20
)

// Peek asks for messages of a queue without taking them: no message is marked as redelivered, expires or is counted,
// and no lease is renewed. Ready and unacked messages come first, in queue order, then scheduled ones in the order of
// their release. From any actor; PeekReply comes back.
type Peek struct {
	Request
	// After is the position after which to continue, the zero value for the start: if Due is set, the position of a
	// scheduled message, otherwise a place in the queue.
	After Cursor
	// Limit is the maximum number of messages, 1 to MaxPeeked; any other value means MaxPeeked.
	Limit  int
	States MessageState // states of the messages; 0 for all
	// ByDeadline selects ready messages with a deadline, ordered by it; After then holds a message's deadline.
	ByDeadline bool
	// ByNumber orders messages of all states by number; After.Seq then is the number after which to continue.
	ByNumber bool
	// Session, with ByNumber, selects the messages of one session.
	Session *string
	// Link, in a queue with sessions and without Session, selects the session that this link of Connection has
	// locked; "" for all sessions.
	Link       string
	Connection Address
	// Cut is the maximum number of bytes of each body, -1 for all.
	Cut int
	// Whole asks for the messages as receivers of AMQP 1.0 get them (PeekedMessage.Message).
	Whole bool
	// Names of the queue and its vhost, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (p *Peek) Answer(f Cause) (Address, any) {
	return p.ReplyTo, &PeekReply{Reply: p.Done(gone(f, p.Queue, p.VHost))}
}

// PeekReply answers Peek. If contents had to be read from the journal, their messages may have left the queue during
// the read.
type PeekReply struct {
	Reply
	Messages []PeekedMessage
	// Next is the After of the next page, nil if this is the last. It is valid until the queue is restarted.
	Next *Cursor
}

// PeekedMessage is the state of one message.
type PeekedMessage struct {
	Seq      uint64 // number in the queue, never reused
	State    MessageState
	Enqueued int64 // wall ms
	Expires  int64 // wall ms, 0 for never and for scheduled messages
	Due      int64 // of a scheduled message, wall ms
	Locked   int64 // of an unacked message: when it is requeued, wall ms, 0 for never
	Priority uint8
	// Returns counts the deliveries that came back.
	Returns message.Returns
	// DiedAfter is the number of failed deliveries in the queue that last dead-lettered the message; 0 if it was never dead-lettered.
	DiedAfter            uint32
	Redelivered          bool // the next delivery will be marked as redelivered, or the current one is
	Exchange, RoutingKey string
	Header               []byte // the raw property list as consumers get it
	Body                 []byte // its first Cut bytes
	// Message is the whole message, with the broker's additions, if the query requests it.
	Message message.Message
	Size    int64 // bytes of the whole body
	// Deferred: the message is deferred, or was when it was received by its number.
	Deferred bool
	// Unreadable: the content is in the journal and cannot be read at present.
	Unreadable bool
}
