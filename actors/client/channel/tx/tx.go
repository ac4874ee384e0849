package tx

import (
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// Tx is the transaction of a channel. It is created by New.
type Tx struct {
	arrivals  *budget.Arrivals
	publishes []Publish
	targets   int   // number of queues of the publishes
	kept      int64 // bytes of the publishes
	settles   []settlement
	// The method of a commit or rollback in progress, otherwise nil, and how many publishes and settles are done.
	ending          protocol.Method
	published, done int
	// While tx.commit waits: the number of outstanding answers for the publishes from first to last, and for
	// settlements, and whether one was a refusal.
	left, settling int
	first, last    uint64
	refused        bool
}

// Publish is a waiting message and its route. Caps are TTL limits, first of its Queues, then of its Histories.
type Publish struct {
	Message   message.Message
	Queues    []*topology.Queue
	Histories []*topology.Queue // send no answer
	Caps      []int64
	Mandatory bool
}

type settlement struct {
	tag      uint64
	delivery unacked.Unacked
	how      mail.Settlement
}

// PublishBytes is the assumed size of a waiting publish without its content, in bytes, and TargetBytes the assumed size
// of each of its queues.
const (
	PublishBytes = 256
	TargetBytes  = 16
)

// EndLimit is how many settles, publishes and queues of publishes a commit or rollback processes in one turn; the
// last publish may exceed it (ADR 29).
const EndLimit = 4096

// New makes an empty transaction.
func New(arrivals *budget.Arrivals) *Tx { return &Tx{arrivals: arrivals} }

// Publish stores a copy of a message for the commit. The error is 406 if there is no room.
func (t *Tx) Publish(p Publish) error {
	bytes := int64(p.Message.Size()+PublishBytes+TargetBytes*(len(p.Queues)+len(p.Histories))) + p.Message.Overlay.Extra()
	if ok, limit := t.arrivals.Keep(bytes); !ok {
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for the transaction: the uncommitted messages of all channels may have %d bytes in total", limit)
	}
	t.kept += bytes
	p.Message.Own()
	t.publishes = append(t.publishes, p)
	t.targets += len(p.Queues)
	return nil
}

// Settle stores a settlement for the commit.
func (t *Tx) Settle(tag uint64, u unacked.Unacked, how mail.Settlement) {
	t.settles = append(t.settles, settlement{tag, u, how})
}

// Return marks the deliveries of the transaction that a queue has requeued as late; a rollback makes them unacked
// again.
func (t *Tx) Return(d *unacked.Deliveries, q *unacked.Queue, m *mail.DeliveriesRequeued) {
	for i := range t.settles {
		d.ReturnTaken(&t.settles[i].delivery, q, m)
	}
}

// Len returns the number of waiting publishes and settlements.
func (t *Tx) Len() (publishes, settles int) { return len(t.publishes), len(t.settles) }

// Forget drops the publishes, which were sent to their queues or will not be sent.
func (t *Tx) Forget() {
	t.arrivals.Drop(t.kept)
	t.publishes, t.targets, t.kept = nil, 0, 0
}

// Commit starts a commit.
func (t *Tx) Commit(m *protocol.TxCommit) {
	t.first, t.left, t.settling, t.refused = t.last+1, t.targets, 0, false
	t.last += uint64(len(t.publishes))
	t.ending = m
}

// Rollback starts a rollback and drops the publishes.
func (t *Tx) Rollback(m *protocol.TxRollback) {
	t.Forget()
	t.ending = m
}

// Ending returns the method of the commit or rollback in progress, nil if there is none.
func (t *Tx) Ending() protocol.Method { return t.ending }

// Copies returns the number of further copies that Advance would make of publishes.
func (t *Tx) Copies() (n int) {
	if _, commits := t.ending.(*protocol.TxCommit); !commits {
		return 0
	}
	left := EndLimit
	for i := t.published; i < len(t.publishes) && left > 0; i++ {
		p := &t.publishes[i]
		n += topology.Copies(p.Queues, len(p.Message.Header))
		left -= 1 + len(p.Queues) + len(p.Histories)
	}
	return n
}

// Advance continues a commit or rollback up to a turn's limit: it calls publish for each message, in order, then
// settles the deliveries in d, with durable answers to self, or restores them in a rollback. It reports whether more is
// left; otherwise the transaction is empty and can be used again.
func (t *Tx) Advance(d *unacked.Deliveries, self mail.Address, publish func(p *Publish)) (more bool) {
	_, keep := t.ending.(*protocol.TxCommit)
	request := func() mail.Request { return mail.Request{ReplyTo: self} }
	for left := EndLimit; t.published < len(t.publishes) || t.done < len(t.settles); left-- {
		if left <= 0 {
			return true
		}
		if t.published < len(t.publishes) {
			p := &t.publishes[t.published]
			p.Message.Number = t.first + uint64(t.published)
			t.published++
			left -= len(p.Queues) + len(p.Histories)
			publish(p)
			continue
		}
		x := t.settles[t.done]
		t.done++
		if !keep {
			d.Restore(x.tag, x.delivery)
		} else if d.SettleDurably(x.delivery, x.how, nil, request) {
			t.settling++
		}
	}
	t.Forget()
	t.settles, t.published, t.done, t.ending = nil, 0, 0, nil
	return false
}

// Answered counts a queue's answers to a commit, and reports whether all have arrived.
func (t *Tx) Answered(r mail.Range, refused bool) (last bool) {
	if t.left == 0 || r.First < t.first || r.Last > t.last {
		return false
	}
	t.left = max(t.left-int(r.Last-r.First+1), 0)
	t.refused = t.refused || refused
	return !t.Waits() && t.ending == nil
}

// Settled counts a queue's answer to settlements of a commit, and reports whether all answers have arrived. An error
// counts as a refusal.
func (t *Tx) Settled(err error) (last bool) {
	if t.settling == 0 {
		return false
	}
	t.settling--
	t.refused = t.refused || err != nil
	return !t.Waits() && t.ending == nil
}

// Waits reports whether answers to a commit are outstanding.
func (t *Tx) Waits() bool { return t.left > 0 || t.settling > 0 }

// Refused reports whether a queue refused a message of the last commit, or could not store a settlement.
func (t *Tx) Refused() bool { return t.refused }
