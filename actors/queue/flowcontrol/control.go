package flowcontrol

import (
	"candlemark/actors/mail"
	"candlemark/internal/message"
)

const (
	// Longest is for how many ms credit is held: in each such time a connection may send all that may be under way of it.
	Longest = 50
	// Flood is how many messages a batch has at least that comes from somebody who does not wait for answers.
	Flood = 32
)

// Control holds the credit of one queue's publishers. The zero value holds none.
type Control struct {
	held []credit // in the order in which it goes back
	owed uint64   // the delivery after which all of it has gone back
	// stuck is how many deliveries there were when credit went back because it was due; as long as there are no more, nobody takes
	// anything, and none is held.
	stuck uint64
	back  []credit // released, and not given back yet
}

// credit was charged to a connection for a batch. It goes back when the queue has made so many deliveries, or when it is due.
type credit struct {
	chunk *message.Chunk
	debt  message.Debt
	after uint64
	due   int64 // ms
}

// Hold takes the credit out of a batch that was taken while others were waiting. delivered is how many deliveries the queue has made so
// far, now in wall ms. A batch of a few messages keeps its credit: who sends those is told soon enough by its confirms.
func (c *Control) Hold(e *mail.Enqueue, delivered uint64, now int64) {
	n := len(e.Messages)
	if n < Flood || e.Chunk == nil || delivered == c.stuck {
		return
	}
	if len(c.held) == 0 {
		c.owed = delivered
	}
	c.owed += uint64(n + n/8) // more than have come, so that fewer wait
	h := credit{after: c.owed, due: now + Longest}
	h.chunk, h.debt = e.DetachCredit()
	c.held = append(c.held, h)
}

// Release decides what goes back now: all of it, or what is due or was delivered for. Nil holds nothing.
func (c *Control) Release(all bool, delivered uint64, now int64) {
	if c == nil || len(c.held) == 0 {
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

// GiveBack gives what was released back to its connections. Nil has nothing.
func (c *Control) GiveBack() {
	if c == nil {
		return
	}
	for i := range c.back {
		c.back[i].chunk.Release()
		c.back[i].debt.Settle()
	}
	clear(c.back)
	c.back = c.back[:0]
}

// Next is when Release is to be called at the latest, in wall ms. Nil holds nothing.
func (c *Control) Next() (at int64, ok bool) {
	if c == nil || len(c.held) == 0 {
		return 0, false
	}
	return c.held[0].due, true
}
