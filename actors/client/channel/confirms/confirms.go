package confirms

import (
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// Confirms keeps, by publish number, how many queues have not answered yet (PRO-6). In the zero value confirms are off.
type Confirms struct {
	on     bool
	last   uint64 // newest publish number
	low    uint64 // oldest number that is not settled or has to be confirmed individually
	from   uint64 // oldest unconfirmed number; numbers below low are acked
	nacked uint64 // number of refused publishes below low
	ring   []pending
	done   []mail.Range // settled in this turn, or postponed, for Append
	late   bool         // some are postponed because the outbox is full
}

// BaseCapacity is the capacity kept when no publishes are under way, and the limit of postponed numbers.
const BaseCapacity = 4096

type pending struct {
	queues   int32 // number of queues that have not answered
	refused  bool
	answered bool // confirmed individually, before older numbers
}

func (c *Confirms) at(n uint64) *pending { return &c.ring[n&uint64(len(c.ring)-1)] }

// On reports whether publisher confirms are on.
func (c *Confirms) On() bool { return c.on }

// Start turns confirms on; the next publish is number 1 unless they were already on.
func (c *Confirms) Start() {
	c.on = true
	c.low = max(c.low, 1)
	c.from = max(c.from, 1)
}

// Begin returns the next publish number; it is settled when the given number of queues have answered, or by Complete.
func (c *Confirms) Begin(queues int) uint64 {
	c.last++
	if c.last-c.low >= uint64(len(c.ring)) {
		c.grow()
	}
	*c.at(c.last) = pending{queues: int32(max(queues, 1))}
	return c.last
}

func (c *Confirms) grow() {
	old := *c
	c.ring = make([]pending, max(64, 2*len(old.ring)))
	for n := c.low; n < c.last; n++ {
		*c.at(n) = *old.at(n)
	}
}

// Complete settles n, whose message is unroutable and gets no answers.
func (c *Confirms) Complete(n uint64) {
	if !c.on {
		return
	}
	c.at(n).queues = 0
	c.note(mail.Range{First: n, Last: n})
}

// Answered handles a queue's answer. Numbers that do not wait for a queue are ignored: a queue that failed may have
// answered before.
func (c *Confirms) Answered(r mail.Range, refused bool) {
	r.First, r.Last = max(r.First, c.low), min(r.Last, c.last)
	if r.First > r.Last {
		return
	}
	for n := r.First; n <= r.Last; n++ {
		if p := c.at(n); p.queues > 0 {
			p.queues--
			p.refused = p.refused || refused
		}
	}
	c.note(r)
}

func (c *Confirms) note(r mail.Range) {
	if k := len(c.done); k > 0 && c.done[k-1].Last+1 == r.First {
		c.done[k-1].Last = r.Last
		return
	}
	c.done = append(c.done, r)
}

// Append appends the confirms due after a turn: one ack for all settled numbers up to the first gap, and individual
// ones beyond it. A nack is always individual.
func (c *Confirms) Append(b []byte, channel uint16) []byte {
	from := c.from
	for c.low <= c.last {
		p := c.at(c.low)
		if p.queues > 0 {
			break
		}
		if p.refused {
			c.nacked++
		}
		if p.refused && !p.answered {
			b = c.ackUpTo(b, channel, from)
			b = protocol.AppendNackFrame(b, channel, c.low, false, false)
			from = c.low + 1
		} else if p.answered {
			b = c.ackUpTo(b, channel, from)
			from = c.low + 1
		}
		c.low++
	}
	b = c.ackUpTo(b, channel, from)
	c.from = c.low
	for _, r := range c.done {
		for n := max(r.First, c.low); n <= r.Last; n++ {
			p := c.at(n)
			if p.queues > 0 || p.answered {
				continue
			}
			p.answered = true
			if p.refused {
				b = protocol.AppendNackFrame(b, channel, n, false, false)
			} else {
				b = protocol.AppendAckFrame(b, channel, n, false)
			}
		}
	}
	c.done, c.late = c.done[:0], false
	if c.low > c.last && len(c.ring) > BaseCapacity {
		c.ring = nil // the next number allocates a new ring
	}
	return b
}

// PutOff postpones confirms that cannot be sent now, using little memory: consecutive acks are one number, and for the
// others the ring is scanned later.
func (c *Confirms) PutOff() {
	for ; c.low <= c.last; c.low++ {
		if p := c.at(c.low); p.queues > 0 || p.refused || p.answered {
			break
		}
	}
	c.late = true
	c.done = append(c.done[:0], mail.Range{First: c.low, Last: c.last})
}

// Crowded reports whether so many confirms are postponed that no more publishes should be accepted.
func (c *Confirms) Crowded() bool { return c.late && c.last+1-c.low >= BaseCapacity }

// ackUpTo appends an ack for from..low-1, if there are any.
func (c *Confirms) ackUpTo(b []byte, channel uint16, from uint64) []byte {
	if from >= c.low {
		return b
	}
	return protocol.AppendAckFrame(b, channel, c.low-1, c.low-1 > from)
}

// Due reports whether confirms are due.
func (c *Confirms) Due() bool { return len(c.done) > 0 }

// Forget drops the due confirms.
func (c *Confirms) Forget() { c.done = nil }

// Last returns the newest publish number, 0 for none.
func (c *Confirms) Last() uint64 { return c.last }

// Acked returns the number of publishes below the first gap that were not refused.
func (c *Confirms) Acked() uint64 {
	if c.low == 0 {
		return 0
	}
	return c.low - 1 - c.nacked
}

// Unconfirmed returns the number of unconfirmed publishes.
func (c *Confirms) Unconfirmed() int {
	n := 0
	for i := c.low; c.on && i <= c.last; i++ {
		if !c.at(i).answered {
			n++
		}
	}
	return n
}

// Cap returns the number of publishes and ranges for which memory is allocated.
func (c *Confirms) Cap() int { return max(len(c.ring), cap(c.done)) }
