package confirms

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// Confirms keeps, by publish number, how many queues have yet to answer
// (PRO-6). The zero value is off.
type Confirms struct {
	on     bool
	last   uint64 // newest publish number
	low    uint64 // oldest that is not settled, or has to be told by itself
	from   uint64 // oldest that the client has not been told of; below low all are acks
	nacked uint64 // so many of those below low
	ring   []pending
	done   []mail.Range // settled in this turn, or put off, to be looked at by Append
	late   bool         // some are put off, for the outbox has no room
}

// Kept is how many numbers there is room for when nothing is under way, and how many may be put off.
const Kept = 4096

type pending struct {
	queues  int32 // that have not answered
	refused bool
	told    bool // by itself, ahead of older ones
}

func (c *Confirms) at(n uint64) *pending { return &c.ring[n&uint64(len(c.ring)-1)] }

// On tells whether the client wants confirms.
func (c *Confirms) On() bool { return c.on }

// Start is confirm.select; the next publish is number 1 unless it was on before.
func (c *Confirms) Start() {
	c.on = true
	c.low = max(c.low, 1)
	c.from = max(c.from, 1)
}

// Begin gives out the next publish number; so many queues will answer for it, or
// Complete does.
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

// Complete settles n, which is unroutable: no queue will answer for it.
func (c *Confirms) Complete(n uint64) {
	if !c.on {
		return
	}
	c.at(n).queues = 0
	c.note(mail.Range{First: n, Last: n})
}

// Answered takes a queue's answer. One that failed may have answered already: a
// number that waits for nobody stays as it is.
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

// Append appends what the client is to be told after a turn: one ack for
// the settled numbers from the oldest on without a gap, and single ones for
// those beyond a gap. A nack is always single.
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
		if p.refused && !p.told {
			b = c.ackUpTo(b, channel, from)
			b = protocol.AppendNackFrame(b, channel, c.low, false, false)
			from = c.low + 1
		} else if p.told {
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
			if p.queues > 0 || p.told {
				continue
			}
			p.told = true
			if p.refused {
				b = protocol.AppendNackFrame(b, channel, n, false, false)
			} else {
				b = protocol.AppendAckFrame(b, channel, n, false)
			}
		}
	}
	c.done, c.late = c.done[:0], false
	if c.low > c.last && len(c.ring) > Kept {
		c.ring = nil // the next one grows a new ring
	}
	return b
}

// PutOff puts aside what the client cannot be told now, in little room: acks
// without a gap are one number, and the ring is looked through once for the rest.
func (c *Confirms) PutOff() {
	for ; c.low <= c.last; c.low++ {
		if p := c.at(c.low); p.queues > 0 || p.refused || p.told {
			break
		}
	}
	c.late = true
	c.done = append(c.done[:0], mail.Range{First: c.low, Last: c.last})
}

// Crowded tells whether what was put off is so much that no more should come.
func (c *Confirms) Crowded() bool { return c.late && c.last+1-c.low >= Kept }

// ackUpTo acknowledges from..low-1, if there are any.
func (c *Confirms) ackUpTo(b []byte, channel uint16, from uint64) []byte {
	if from >= c.low {
		return b
	}
	return protocol.AppendAckFrame(b, channel, c.low-1, c.low-1 > from)
}

// Due tells whether there is anything to tell the client.
func (c *Confirms) Due() bool { return len(c.done) > 0 }

// Forget drops what the client was to be told.
func (c *Confirms) Forget() { c.done = nil }

// Last is the newest publish number, 0 for none.
func (c *Confirms) Last() uint64 { return c.last }

// Acked is how many of the numbers that are settled without a gap were not refused.
func (c *Confirms) Acked() uint64 {
	if c.low == 0 {
		return 0
	}
	return c.low - 1 - c.nacked
}

// Untold is how many publishes the client has not been told about.
func (c *Confirms) Untold() int {
	n := 0
	for i := c.low; c.on && i <= c.last; i++ {
		if !c.at(i).told {
			n++
		}
	}
	return n
}

// Cap is how many numbers and ranges of them it has memory for.
func (c *Confirms) Cap() int { return max(len(c.ring), cap(c.done)) }
