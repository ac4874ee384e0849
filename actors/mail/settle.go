package mail

import "candlemark/protocol"

// Settle tells a queue what became of deliveries to one channel. From the
// channel; Settled comes back if it is asked for.
type Settle struct {
	Channel Address
	Ranges  []SettleRange
	// Asked is who wants to hear which deliveries were still held, nil for nobody.
	Asked *Request
}

// SettleRange names deliveries by the queue's own numbers for that channel,
// both ends included.
type SettleRange struct {
	First, Last uint64
	How         Settlement
	Outcome     *Outcome // what else is said of them, nil for nothing
}

// Outcome says more of deliveries that are settled with Requeue, Release, Defer or Reject (LOCK-2): it is merged into what the
// broker adds to the messages, for whoever receives them next, here or as dead letters. What would be more than
// message.MostAmended for one message is left out as a whole. It is not altered once it is sent.
type Outcome struct {
	// Annotations are message annotations of AMQP 1.0, Properties application properties; in 0-9-1 both are headers.
	Annotations, Properties protocol.Table
}

// Settlement says how a consumer settled a delivery.
type Settlement uint8

// Ack: done. Requeue: back to its position. Reject: dead-letter or drop. PutBack: back to its position as if nobody had had it,
// for what was claimed. Release: back to its position, redelivered, but it does not count as a delivery.
// Defer: kept for who asks for its number (DEFER-1); it does not count either.
const (
	Ack Settlement = iota
	Requeue
	Reject
	PutBack
	Release
	Defer
)

// Answer implements Answerable: a queue that is gone, or has failed, holds nothing for anybody.
func (s *Settle) Answer(Fate) (Address, any) {
	if s.Asked == nil {
		return nil, nil
	}
	reply := &Settled{Reply: s.Asked.Done(nil)}
	for _, r := range s.Ranges {
		reply.Lost = append(reply.Lost, Range{r.First, r.Last})
	}
	return s.Asked.ReplyTo, reply
}

// Settled answers Settle when the queue has done what it says. It does not wait for the journal, as no acknowledgement does.
type Settled struct {
	Reply
	// Lost are the numbers that the channel did not hold any more: nobody settled them in time, or the queue is gone. All
	// others of the ranges are settled. They are in the order of the ranges.
	Lost []Range
}
