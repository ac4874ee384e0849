package mail

import (
	"candlemark/internal/message"
	"candlemark/internal/topology"
)

// DeadLetter carries messages that died in one queue for one reason, in order.
// Also what a delayed exchange releases, and a recent-history exchange gives to another one. From the queue, which keeps its copies until DeadLetterReply (DL-31).
type DeadLetter struct {
	From        Address
	Queue       string // name of the queue they died in
	Incarnation uint64
	Reason      string // "expired", "rejected", "maxlen", "delivery_limit" (DL-9), "hops"
	Exchange    string // the dead-letter exchange, "" is the default exchange
	RoutingKey  string // used if HasKey, else the messages' own keys (DL-15)
	HasKey      bool
	Time        int64 // of death, s since 1970
	// Count adds the header x-death-count, Continue goes on with an x-death that a
	// client published (DL-23).
	Count, Continue bool
	// Release says that they did not die: a delayed exchange has held them until
	// they were due, and Exchange is that one (DLY-4).
	Release bool
	// Forward says that they did not die: a queue moves them on, to Exchange.
	Forward bool
	// Replay says that they did not die: an exchange has kept them for a binding to
	// Exchange. They are routed there as they are.
	Replay bool
	// Guarantee says what becomes of those that cannot be enqueued.
	Guarantee Guarantee
	// Epoch is the queue's; it comes back if they are lost.
	Epoch uint64
	// Messages have the queue's numbers, which come back in the reply. They are the
	// receiver's to change and to send on; their contents are owned, not in a read
	// chunk.
	Messages []message.Message
	// Taken are the targets that have a message from an earlier attempt, by its
	// number; nil if none has.
	Taken map[uint64][]Target
}

// Target is who has a message: a queue or another actor, and the action that makes a copy for it there.
type Target struct {
	Actor  string // the id of its address
	Action string // filter.Action.ID, "" for the message as it is
}

// TargetOf is the target that a route leads to.
func TargetOf(q *topology.Queue) Target {
	t := Target{Actor: q.PID.GetId()}
	if q.Action != nil {
		t.Action = q.Action.ID
	}
	return t
}

// FinishDeadLetters asks the dead-letter actor to begin nothing more, for what its queues keep is theirs again after a restart, and to
// tell when all targets have answered and the sources know it. From a node that stops; TopologyReply comes back.
type FinishDeadLetters struct{ Request }

// Answer implements Answerable: one that has ended has nothing under way.
func (f *FinishDeadLetters) Answer(Fate) (Address, any) {
	return f.ReplyTo, &TopologyReply{Reply: f.Done(nil)}
}

// DeadLetterBatch is how many messages a queue puts into one DeadLetter: those that
// mostly go to the same target, in one Enqueue.
const DeadLetterBatch = 512

// Guarantee is how much is done for dead letters that cannot be enqueued.
type Guarantee uint8

const (
	// Drop: they are dropped and counted (DL-13, DL-29).
	Drop Guarantee = iota
	// RetryRefused: those that a target refused go back to their queue; those
	// without an exchange or a target are dropped (DL-29).
	RetryRefused
	// AtLeastOnce: all of them go back, but for cycles (DL-30).
	AtLeastOnce
)

// Add appends a message, with the targets that have it already.
func (d *DeadLetter) Add(m message.Message, taken []Target) {
	if d.Messages == nil {
		d.Messages = newMessages()
	}
	d.Messages = append(d.Messages, m)
	if len(taken) > 0 {
		if d.Taken == nil {
			d.Taken = map[uint64][]Target{}
		}
		d.Taken[m.Number] = taken
	}
}

// Answer implements Answerable: after a failure the queue sends them again
// (PRO-12). When the dead-letter actor is gone so is its vhost, and
// nobody is told: sending again would never end.
func (d *DeadLetter) Answer(f Fate) (Address, any) {
	if f == Gone {
		return nil, nil
	}
	return d.From, &DeadLetterReply{Incarnation: d.Incarnation, Lost: true, Epoch: d.Epoch}
}

// DeadLetterReply says which dead messages are taken care of: enqueued, or
// dropped by the rules (DL-13, DL-25); and, if its queue cares, which are to be
// sent again. Lost says that the actor failed before
// it could tell: everything not yet answered is to be sent again.
type DeadLetterReply struct {
	Incarnation uint64
	IDs         []Range
	Kept        []Kept
	Lost        bool
	Epoch       uint64 // of what was lost: older rounds have been sent again since
}

// Kept is a dead message that its queue is to keep and to send again later.
type Kept struct {
	ID    uint64
	Taken []Target // who has it
}

// Add appends id to the IDs, joining neighbours.
func (r *DeadLetterReply) Add(id uint64) {
	if k := len(r.IDs); k > 0 && r.IDs[k-1].Last+1 == id {
		r.IDs[k-1].Last = id
		return
	}
	r.IDs = append(r.IDs, Range{id, id})
}

// QueueExpired: a queue's lease ran out and the vhost has forgotten it. An
// event, from the queue to the dead-letter actor of its vhost.
type QueueExpired struct {
	Queue       string
	Incarnation uint64
	// Discarded is how many messages went with it (LEASE-7).
	Discarded int
	Time      int64 // s since 1970
}
