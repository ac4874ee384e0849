package mail

import (
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// DeadLetter carries messages that were dead-lettered by one queue for one reason, in order; also messages that a
// delayed exchange releases, or that a recent-history exchange sends to another exchange. From the queue, which keeps
// its copies until DeadLetterReply (DL-31).
type DeadLetter struct {
	From        Address
	Queue       string // name of the queue
	Incarnation uint64
	Reason      string // "expired", "rejected", "maxlen", "delivery_limit" (DL-9), "hops", "copies", "rule_failed"
	Exchange    string // the dead-letter exchange, "" is the default exchange
	RoutingKey  string // if HasKey; otherwise each message keeps its own key (DL-15)
	HasKey      bool
	Time        int64 // when they were dead-lettered, s since 1970
	// Count adds the header x-death-count; Continue extends an x-death header that the publisher has set (DL-23).
	Count, Continue bool
	// Release: the messages are not dead letters. A delayed exchange has held them until they were due; Exchange is
	// that exchange (DLY-4).
	Release bool
	// Forward: the messages are not dead letters. The queue forwards them to Exchange.
	Forward bool
	// Replay: the messages are not dead letters. An exchange has kept them for a binding to Exchange, where they are
	// routed unchanged.
	Replay bool
	// Respond: the messages are dropped; requests among them are answered (ANS-1). Exchange is "".
	Respond bool
	// Guarantee applies to messages that cannot be enqueued.
	Guarantee Guarantee
	// Epoch is the queue's current epoch; a reply with Lost returns it.
	Epoch uint64
	// Messages have the queue's numbers, which the reply returns. The receiver may modify them and pass them on; their
	// contents are owned, not in a read chunk.
	Messages []message.Message
	// Stored has, for each of Messages, the sequence number by which the queue has stored it, 0 if it has not; nil if
	// none is stored.
	Stored []uint64
	// Taken are the targets that took a message in an earlier attempt, by the message's number; nil if there are
	// none.
	Taken map[uint64][]Target
}

// Target identifies a receiver of a message: a queue or another actor, and the action that makes its copy.
type Target struct {
	Actor  string // the id of its address
	Action string // filter.Action.ID, "" for an unchanged message
}

// TargetOf returns the target of a route.
func TargetOf(q *topology.Queue) Target {
	t := Target{Actor: q.PID.GetId()}
	if q.Action != nil {
		t.Action = q.Action.ID
	}
	return t
}

// FinishDeadLetters asks the dead-letter actor to start no new work, since queues keep their dead letters across a
// restart, and to answer once all targets have answered and the sources have been informed. From a node that stops;
// TopologyReply comes back.
type FinishDeadLetters struct{ Request }

// Answer implements Answerable: an actor that has ended has no work left.
func (f *FinishDeadLetters) Answer(Cause) (Address, any) {
	return f.ReplyTo, &TopologyReply{Reply: f.Done(nil)}
}

// DeadLetterBatch is the limit of messages in one DeadLetter. Usually they have the same target, and fit into one
// Enqueue.
const DeadLetterBatch = 512

// Guarantee is the effort made for dead letters that cannot be enqueued.
type Guarantee uint8

const (
	// Drop: the messages are dropped and counted (DL-13, DL-29).
	Drop Guarantee = iota
	// RetryRefused: messages refused by a target are retried by their queue; messages without an exchange or a target
	// are dropped (DL-29).
	RetryRefused
	// AtLeastOnce: all messages are retried, except messages dropped as cycles (DL-30).
	AtLeastOnce
)

// Add appends a message, with the targets that have already taken it.
func (d *DeadLetter) Add(m message.Message, stored uint64, taken []Target) {
	if d.Messages == nil {
		d.Messages = newMessages()
	}
	d.Messages = append(d.Messages, m)
	if stored != 0 || d.Stored != nil {
		for len(d.Stored) < len(d.Messages)-1 {
			d.Stored = append(d.Stored, 0)
		}
		d.Stored = append(d.Stored, stored)
	}
	if len(taken) > 0 {
		if d.Taken == nil {
			d.Taken = map[uint64][]Target{}
		}
		d.Taken[m.Number] = taken
	}
}

// Answer implements Answerable: after a failure the queue sends the messages again (PRO-12). If the dead-letter actor
// has ended, so has its vhost, and there is no answer, as the queue would retry for ever.
func (d *DeadLetter) Answer(f Cause) (Address, any) {
	if f == Gone {
		return nil, nil
	}
	return d.From, &DeadLetterReply{Incarnation: d.Incarnation, Lost: true, Epoch: d.Epoch}
}

// DeadLetterReply reports which dead letters are settled: enqueued, or dropped by the rules (DL-13, DL-25); and,
// depending on Guarantee, which the queue has to retry. Lost: the actor failed before it could report, so all
// unanswered dead letters have to be sent again.
type DeadLetterReply struct {
	Incarnation uint64
	IDs         []Range
	Dropped     int // number of messages of IDs that some target, or all, did not get
	Retained    []Retained
	// Exceeded are forwarded messages that would have too many copies (DL-32); the queue ends them.
	Exceeded []uint64
	Lost     bool
	Epoch    uint64 // with Lost: the epoch of the DeadLetter; dead letters of later epochs were already sent again
}

// Retained is a dead letter that its queue has to keep and retry later.
type Retained struct {
	ID    uint64
	Taken []Target // targets that have taken it
}

// Add appends id to IDs, merging neighbours.
func (r *DeadLetterReply) Add(id uint64) {
	if k := len(r.IDs); k > 0 && r.IDs[k-1].Last+1 == id {
		r.IDs[k-1].Last = id
		return
	}
	r.IDs = append(r.IDs, Range{id, id})
}

// QueueExpired: a queue's lease ended and the vhost has forgotten it. An event, from the queue to the dead-letter actor
// of its vhost.
type QueueExpired struct {
	Queue       string
	Incarnation uint64
	// Discarded is the number of messages discarded with the queue (LEASE-7).
	Discarded int
	Time      int64 // s since 1970
}
