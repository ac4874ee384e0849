package settlement

import (
	"bytes"

	"candlemark/protocol/amqp10"
)

// Dispositions collects dispositions: neighbours with the same state are sent as one, when a different state follows or
// by Flush.
type Dispositions struct {
	Send    func(amqp10.Composite)
	d       amqp10.Disposition
	last    uint32
	pending bool
}

// Add adds the state of a delivery.
func (t *Dispositions) Add(id uint32, settled bool, state amqp10.State) {
	if t.pending && id == t.last+1 && settled == t.d.Settled && Same(&state, &t.d.State) {
		t.last = id
		return
	}
	t.Flush()
	t.d = amqp10.Disposition{Role: amqp10.RoleSender, First: id, Settled: settled, State: state}
	t.last, t.pending = id, true
}

// Flush sends the collected disposition.
func (t *Dispositions) Flush() {
	if !t.pending {
		return
	}
	d := t.d
	if t.last != d.First {
		d.Last = amqp10.Some(t.last)
	}
	t.pending = false
	t.Send(&d)
}

// Same reports whether two outcomes can share a disposition.
func Same(a, b *amqp10.State) bool {
	return a.Kind == b.Kind && a.Error == b.Error && bytes.Equal(a.TxnID, b.TxnID) && bytes.Equal(a.Outcome, b.Outcome)
}
