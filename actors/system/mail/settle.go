package mail

import "candlemark/protocol"

// Settle settles deliveries of one channel at a queue. From the channel; SettleReply comes back if requested.
type Settle struct {
	Channel Address
	Ranges  []SettleRange
	// Asked requests SettleReply, which lists the deliveries that were no longer held; nil for no reply.
	Asked *Request
	// Durable makes the reply wait for the journal (DUR-3).
	Durable bool
}

// SettleRange is an interval of deliveries, by the queue's numbers for that channel, both ends included.
type SettleRange struct {
	First, Last uint64
	How         Settlement
	Outcome     *Outcome // amendments to the messages, nil for none
}

// Outcome amends messages settled with Requeue, Release, Defer, Reject or Discard (LOCK-2): it is merged into the
// properties that the broker adds for later receivers from the queue or its dead letters. An Outcome that would exceed
// message.MaxAmended for a message is ignored completely. It is not modified after sending.
type Outcome struct {
	// Annotations are message annotations of AMQP 1.0, Properties application properties; in 0-9-1 both are headers.
	Annotations, Properties protocol.Table
	// Until is the date before which messages settled with Requeue, Nack or Release are not delivered again, in wall
	// ms; 0 to use the queue's settings (RETRY-2).
	Until int64
}

// Settlement is how a consumer settles a delivery.
type Settlement uint8

// Ack: processed. Requeue: back to its position. Reject: dead-letter or drop. Discard: the same, but the delivery has
// not failed (DL-9). PutBack: back to its position as if never delivered, for claimed messages. Release: back to its
// position as redelivered, but the delivery does not count. Defer: kept for delivery by number (DEFER-1); the delivery
// does not count either. Leave: the link has ended; the message stays locked until its lock ends if the lock outlives
// the link (LOCK-10), otherwise as Requeue. ToDeadLetters: as Reject, but never drops the message: a queue that cannot dead-letter it refuses with a
// *NotDeadLettered, and the delivery stays; without Settle.Asked it is settled with Release instead (SBE-14).
const (
	Ack Settlement = iota
	Requeue
	Reject
	PutBack
	Release
	Defer
	Leave
	Discard
	ToDeadLetters
)

// NotDeadLettered is the error for messages that their queue cannot dead-letter.
type NotDeadLettered struct {
	Queue string
	// Again: the queue is itself a dead-letter queue. Otherwise it has neither a dead-letter queue nor an exchange.
	Again bool
}

// Error implements error.
func (e *NotDeadLettered) Error() string {
	if e.Again {
		return "messages of the dead-letter queue '" + e.Queue + "' cannot be dead-lettered again"
	}
	return "queue '" + e.Queue + "' has no dead-letter queue"
}

// Answer implements Answerable: a queue that has ended or failed holds no deliveries.
func (s *Settle) Answer(Cause) (Address, any) {
	if s.Asked == nil {
		return nil, nil
	}
	reply := &SettleReply{Reply: s.Asked.Done(nil)}
	for _, r := range s.Ranges {
		reply.Lost = append(reply.Lost, Range{r.First, r.Last})
	}
	return s.Asked.ReplyTo, reply
}

// SettleReply answers Settle when the queue has settled the deliveries and, if Durable is set, stored that. With an error
// nothing has changed or, if the journal has failed, it is not known.
type SettleReply struct {
	Reply
	// Lost are the numbers that the channel no longer held: they were not settled in time, or the queue has ended. They
	// are in the order of the ranges. All others of the ranges are settled.
	Lost []Range
}
