package consumers

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
)

// This part slows down publishers that outrun a queue's consumers (ADR 60).
//
// Owns: credit of connections (ADR 7) for publishes that the queue has taken while other messages were waiting. It is
// returned as the consumers take messages, at the latest after MaxDelay: publishers that do not wait for confirms are
// slowed to the speed of fast consumers, but slow consumers do not block publishers.
//
// Confirms are not delayed: only the credit to send more is withheld.

const (
	// MaxFlowDelay is how long credit is withheld, in ms: in each such interval a connection can still use all its credit.
	MaxFlowDelay = 50
	// FlowFlood is the batch size from which a publisher counts as not waiting for confirms.
	FlowFlood = 32
)

// FlowControl withholds credit from one queue's publishers. The zero value withholds none.
type FlowControl struct {
	held []heldCredit // in the order in which it is returned
	owed uint64       // the number of deliveries after which all of it has been returned
	// stuck is the number of deliveries when credit was last returned because it was due; until it grows, no consumer
	// takes messages, and no credit is withheld.
	stuck uint64
	back  []heldCredit // released, not yet returned
}

// heldCredit is the credit that a connection has used for a batch. It is returned after a number of deliveries, or when it
// is due.
type heldCredit struct {
	chunk *message.Chunk
	debt  message.Charge
	after uint64
	due   int64 // ms of real time
}

// Hold withholds the credit of a batch that was taken while others were waiting. delivered is the queue's number of
// deliveries so far, now is in ms of real time. A batch of a few messages keeps its credit: its publisher is slowed down by
// waiting for confirms.
func (c *FlowControl) Hold(e *mail.Enqueue, delivered uint64, now int64) {
	n := len(e.Messages)
	if n < FlowFlood || e.Chunk == nil || delivered == c.stuck {
		return
	}
	if len(c.held) == 0 {
		c.owed = delivered
	}
	c.owed += uint64(n + n/8) // more than were added, so that the backlog shrinks
	h := heldCredit{after: c.owed, due: now + MaxFlowDelay}
	h.chunk, h.debt = e.DetachCredit()
	c.held = append(c.held, h)
}

// Release selects the credit to be returned now: all, or the credit that is due or covered by deliveries.
func (c *FlowControl) Release(all bool, delivered uint64, now int64) {
	if len(c.held) == 0 {
		return
	}
	n := 0
	for n < len(c.held) && (all || c.held[n].after <= delivered || c.held[n].due <= now) {
		if !all && c.held[n].after > delivered {
			c.stuck = delivered
		}
		n++
	}
	c.back = append(c.back, c.held[:n]...)
	rest := copy(c.held, c.held[n:])
	clear(c.held[rest:])
	c.held = c.held[:rest]
}

// ReleaseCredit returns the released credit to its connections.
func (c *FlowControl) ReleaseCredit() {
	for i := range c.back {
		c.back[i].chunk.Release()
		c.back[i].debt.Release()
	}
	clear(c.back)
	c.back = c.back[:0]
}

// Next returns when Release has to be called at the latest, in ms of real time.
func (c *FlowControl) Next() (at int64, ok bool) {
	if len(c.held) == 0 {
		return 0, false
	}
	return c.held[0].due, true
}
