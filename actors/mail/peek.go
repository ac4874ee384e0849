package mail

// MessageState is where a message is in its life; sets of them are joined.
type MessageState uint8

// Ready: it waits for a consumer. Unacked: somebody holds it. Scheduled: it waits for
// its time. Deferred: who asks for its number gets it.
const (
	Ready MessageState = 1 << iota
	Unacked
	Scheduled
	Deferred
)

// Limits on one PeekReply.
const (
	// MostPeeked is how many messages it has at most, as has a list of messages.
	MostPeeked = 1000
	// PeekBytes are about how many bytes of contents it has, and has had read from the
	// journal; the last message may exceed them.
	PeekBytes = 1 << 20
)

// Peek asks for messages of a queue without taking any: none is marked as redelivered,
// expires or is counted, and no lease is renewed. Ready and unacknowledged ones come
// first, in the order of the queue, and scheduled ones behind them in the order of
// their release. From anybody; PeekReply comes back.
type Peek struct {
	Request
	// After is where to go on, the zero value the beginning: with a Due behind that
	// scheduled message, without behind a place in the queue.
	After Cursor
	// Limit is how many are wanted, 1 to MostPeeked; all else means MostPeeked.
	Limit  int
	States MessageState // which; 0 for all
	// ByDeadline has ready messages with a deadline only, in the order of their deadlines; After then has that of a message.
	ByDeadline bool
	// ByNumber has them in the order of their numbers, whatever their states; After.Seq then is the number behind which to begin.
	ByNumber bool
	// Session, with ByNumber, wants the messages of a session only.
	Session *string
	// Link, in a queue with sessions and without Session, is the name of the link of Connection that has locked it; "" for all sessions.
	Link       string
	Connection Address
	// Cut is how many bytes of each body are wanted, -1 for all.
	Cut int
	// Queue and VHost are names, for errors.
	Queue, VHost string
}

// Answer implements Answerable.
func (p *Peek) Answer(f Fate) (Address, any) {
	return p.ReplyTo, &PeekReply{Reply: p.Done(gone(f, p.Queue, p.VHost))}
}

// PeekReply answers Peek. What a content had to be read from the journal for may be
// gone when it arrives.
type PeekReply struct {
	Reply
	Messages []PeekedMessage
	// Next is for the After of the next page, nil behind the last message. It is good
	// until the queue is restarted.
	Next *Cursor
}

// PeekedMessage is one message as it is.
type PeekedMessage struct {
	Seq      uint64 // its number in the queue, never given out twice
	State    MessageState
	Enqueued int64 // wall ms
	Expires  int64 // wall ms, 0 for never; of a scheduled one 0
	Due      int64 // of a scheduled one, wall ms
	Locked   int64 // of an unacknowledged one: when it goes back, wall ms, 0 for never
	Priority uint8
	// DeliveryCount is how often it was delivered and came back.
	DeliveryCount        uint32
	Redelivered          bool // it will be, or is
	Exchange, RoutingKey string
	Header               []byte // the raw property list that a consumer gets
	Body                 []byte // the beginning, as it was asked for
	Size                 int64  // bytes of the whole body
	// Unreadable: its content is in the journal and could not be read for now.
	Unreadable bool
}
