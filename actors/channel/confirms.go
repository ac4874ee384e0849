package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// confirms keeps, by publish number, how many queues have yet to answer
// (PRO-6).
type confirms struct {
	on     bool
	last   uint64 // newest publish number
	low    uint64 // oldest that is not settled, or has to be told by itself
	from   uint64 // oldest that the client has not been told of; below low all are acks
	nacked uint64 // so many of those below low
	ring   []pending
	done   []mail.Range // settled in this turn, or put off, to be looked at by tell
	late   bool         // some are put off, for the outbox has no room
}

// keepRing is how large a ring, in numbers, is kept when nothing is under way.
const keepRing = 4096

type pending struct {
	queues  int32 // that have not answered
	refused bool
	told    bool // by itself, ahead of older ones
}

func (c *confirms) at(n uint64) *pending { return &c.ring[n&uint64(len(c.ring)-1)] }

// start is confirm.select; the next publish is number 1 unless it was on before.
func (c *confirms) start() {
	c.on = true
	c.low = max(c.low, 1)
	c.from = max(c.from, 1)
}

// begin gives out the next publish number; so many queues will answer for it, or
// complete does.
func (c *confirms) begin(queues int) uint64 {
	c.last++
	if c.last-c.low >= uint64(len(c.ring)) {
		c.grow()
	}
	*c.at(c.last) = pending{queues: int32(max(queues, 1))}
	return c.last
}

func (c *confirms) grow() {
	old := *c
	c.ring = make([]pending, max(64, 2*len(old.ring)))
	for n := c.low; n < c.last; n++ {
		*c.at(n) = *old.at(n)
	}
}

// complete settles n, which is unroutable: no queue will answer for it.
func (c *confirms) complete(n uint64) {
	c.at(n).queues = 0
	c.note(mail.Range{First: n, Last: n})
}

// answered takes a queue's answer. One that failed may have answered already: a
// number that waits for nobody stays as it is.
func (c *confirms) answered(r mail.Range, refused bool) {
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

func (c *confirms) note(r mail.Range) {
	if k := len(c.done); k > 0 && c.done[k-1].Last+1 == r.First {
		c.done[k-1].Last = r.Last
		return
	}
	c.done = append(c.done, r)
}

// appendFrames appends what the client is to be told after a turn: one ack for
// the settled numbers from the oldest on without a gap, and single ones for
// those beyond a gap. A nack is always single.
func (c *confirms) appendFrames(b []byte, channel uint16) []byte {
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
	if c.low > c.last && len(c.ring) > keepRing {
		c.ring = nil // the next one grows a new ring
	}
	return b
}

// putOff puts aside what the client cannot be told now, in little room: acks
// without a gap are one number, and the ring is looked through once for the rest.
func (c *confirms) putOff() {
	for ; c.low <= c.last; c.low++ {
		if p := c.at(c.low); p.queues > 0 || p.refused || p.told {
			break
		}
	}
	c.late = true
	c.done = append(c.done[:0], mail.Range{First: c.low, Last: c.last})
}

// crowded tells whether what was put off is so much that no more should come.
func (c *confirms) crowded() bool { return c.late && c.last+1-c.low >= keepRing }

// ackUpTo acknowledges from..low-1, if there are any.
func (c *confirms) ackUpTo(b []byte, channel uint16, from uint64) []byte {
	if from >= c.low {
		return b
	}
	return protocol.AppendAckFrame(b, channel, c.low-1, c.low-1 > from)
}

// tell appends the turn's confirms to the outbox if there is room. False: they
// are put off.
func (s *state) tell() bool {
	if len(s.confirms.done) == 0 {
		return true
	}
	if s.phase != open {
		s.confirms.done = nil
		return true
	}
	if s.wantsRoom || !s.offer(func(b []byte) []byte { return s.confirms.appendFrames(b, s.cfg.ID) }) {
		s.confirms.putOff()
		return false
	}
	return true
}

// tellAll is tell at the end, when there is no later.
func (s *state) tellAll() {
	if s.phase != open || len(s.confirms.done) == 0 {
		return
	}
	out := s.cfg.Outbox
	b := out.Begin()
	defer func() { out.End(b) }()
	b = s.confirms.appendFrames(b, s.cfg.ID)
}

// settled takes a queue's answer to a batch.
func (s *state) settled(m *mail.EnqueueReply) {
	p := s.peers[peerKey(m.Queue)]
	for _, r := range m.Ranges {
		if s.confirms.on {
			s.confirms.answered(r, m.Refused)
		} else {
			s.committed(r, m.Refused)
		}
		if p != nil {
			p.unconfirmed -= int(r.Last - r.First + 1)
		}
	}
}
