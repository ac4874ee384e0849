package tx

import (
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/budget"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Tx is the transaction of a channel. It is made by New.
type Tx struct {
	arrivals  *budget.Arrivals
	publishes []Publish
	targets   int   // queues of them, together
	kept      int64 // bytes of them
	settles   []settlement
	// What ends it: commit or rollback while there is work to be done, else nil, and
	// how many publishes and settles are done with.
	ending          protocol.Method
	published, done int
	// While tx.commit waits: how many answers are missing for the publishes from
	// first to last, and whether one was a refusal.
	left        int
	first, last uint64
	refused     bool
}

// Publish is a message that waits, and where it goes. Caps are those of its Queues, then of its Histories.
type Publish struct {
	Message   message.Message
	Queues    []*topology.Queue
	Histories []*topology.Queue // do not answer
	Caps      []int64
	Mandatory bool
}

type settlement struct {
	tag      uint64
	delivery unacked.Delivery
	how      mail.Settlement
}

// PublishBytes is the cost of a message that waits for tx.commit besides its
// content, in bytes, and TargetBytes that of each of its queues.
const (
	PublishBytes = 256
	TargetBytes  = 16
)

// EndLimit is how many settles, publishes and queues of publishes the end of a
// transaction deals with in one turn, but for the last publish (ADR 29).
const EndLimit = 4096

// New makes an empty transaction.
func New(arrivals *budget.Arrivals) *Tx { return &Tx{arrivals: arrivals} }

// Publish keeps a message for the commit, in memory of its own. The error is 406:
// there is no room.
func (t *Tx) Publish(p Publish) error {
	bytes := int64(p.Message.Size() + PublishBytes + TargetBytes*(len(p.Queues)+len(p.Histories)))
	if ok, most := t.arrivals.Keep(bytes); !ok {
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for the transaction: uncommitted messages of all channels may have %d bytes together", most)
	}
	t.kept += bytes
	p.Message.Own()
	t.publishes = append(t.publishes, p)
	t.targets += len(p.Queues)
	return nil
}

// Settle keeps a settlement for the commit.
func (t *Tx) Settle(tag uint64, u unacked.Delivery, how mail.Settlement) {
	t.settles = append(t.settles, settlement{tag, u, how})
}

// Return makes those of its deliveries late that a queue took back: a rollback makes
// them open again.
func (t *Tx) Return(d *unacked.Deliveries, q *unacked.Queue, m *mail.DeliveriesReturned) {
	for i := range t.settles {
		d.ReturnTaken(&t.settles[i].delivery, q, m)
	}
}

// Len is how many publishes and settlements wait.
func (t *Tx) Len() (publishes, settles int) { return len(t.publishes), len(t.settles) }

// Forget drops the publishes: they have gone to their queues, or will not.
func (t *Tx) Forget() {
	t.arrivals.Drop(t.kept)
	t.publishes, t.targets, t.kept = nil, 0, 0
}

// Commit begins a commit.
func (t *Tx) Commit(m *protocol.TxCommit) {
	t.first, t.left, t.refused = t.last+1, t.targets, false
	t.last += uint64(len(t.publishes))
	t.ending = m
}

// Rollback begins a rollback: the publishes are forgotten.
func (t *Tx) Rollback(m *protocol.TxRollback) {
	t.Forget()
	t.ending = m
}

// Ending is the method that ends the transaction and is not done with, nil if there is none.
func (t *Tx) Ending() protocol.Method { return t.ending }

// Advance does a turn's worth of the end: publish is called for each message, in
// order, then d settles, or has back what was settled if it is a rollback. It reports whether
// there is more to do; else the transaction is empty, and begins again.
func (t *Tx) Advance(d *unacked.Deliveries, publish func(p *Publish)) (more bool) {
	_, keep := t.ending.(*protocol.TxCommit)
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
		if keep {
			d.Settle(x.delivery, x.how, nil)
		} else {
			d.Restore(x.tag, x.delivery)
		}
	}
	t.Forget()
	t.settles, t.published, t.done, t.ending = nil, 0, 0, nil
	return false
}

// Answered counts a queue's answers to a commit, and reports whether that was the last.
func (t *Tx) Answered(r mail.Range, refused bool) (last bool) {
	if t.left == 0 || r.First < t.first || r.Last > t.last {
		return false
	}
	t.left = max(t.left-int(r.Last-r.First+1), 0)
	t.refused = t.refused || refused
	return t.left == 0 && t.ending == nil
}

// Waits tells whether queues have yet to answer a commit.
func (t *Tx) Waits() bool { return t.left > 0 }

// Refused tells whether a queue refused something of the last commit.
func (t *Tx) Refused() bool { return t.refused }
