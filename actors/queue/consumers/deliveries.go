package consumers

import (
	"hash/maphash"
	"maps"
	"slices"

	"candlemark/actors/mail"
)

// Deliver gives c, whose turn it is, a message with a body of so many bytes and passes the turn on. What a consumer gets in one turn is
// one mail, which it returns, and the zero delivery in it that the caller fills.
func (s *Set) Deliver(c *Consumer, body int) (*mail.Deliver, *mail.Delivery) {
	if c.deliver == nil {
		c.deliver = mail.NewDeliver(s.queue, c.Tag, c.NoAck)
		s.touched = append(s.touched, c)
	}
	c.deliver.Items = append(c.deliver.Items, mail.Delivery{})
	c.messages++
	c.bytes += body
	c.ring.advance(c)
	if c.Credited {
		c.useOwnCredit()
	}
	s.refresh(c)
	if c.Limited {
		s.useCredit(c)
	}
	return c.deliver, &c.deliver.Items[len(c.deliver.Items)-1]
}

// Flush sends each consumer what it was given in this turn, in one mail, and counts the
// deliveries with and without acknowledgements.
func (s *Set) Flush() (withAcks, without uint64) {
	for i, c := range s.touched {
		if n := uint64(len(c.deliver.Items)); c.NoAck {
			without += n
		} else {
			withAcks += n
		}
		s.out.Send(c.Channel.Address, c.deliver)
		c.deliver = nil
		s.touched[i] = nil
	}
	s.touched = s.touched[:0]
	s.tellDrained()
	return withAcks, without
}

// Discard gives up what was to be sent in this turn.
func (s *Set) Discard() {
	for _, c := range s.touched {
		c.deliver.Release()
	}
	s.touched = nil
}

// Hold notes that a channel has a message to acknowledge, and returns the number of the delivery.
func (s *Set) Hold(h *Channel, d Delivery) uint64 {
	s.unacked++
	if d.Consumer != nil {
		d.Consumer.unacked++
	}
	return h.Unacked.Append(d)
}

// Release frees the credit of a delivery that was taken out of its channel.
func (s *Set) Release(d Delivery) {
	s.unacked--
	if c := d.Consumer; c != nil {
		c.unacked--
		s.refresh(c)
		if c == s.active {
			s.electActive()
		}
	}
}

// Grant gives a consumer's window back.
func (s *Set) Grant(m *mail.Grant) {
	if c := s.Find(m.Channel, m.Tag); c != nil {
		c.messages -= m.Messages
		c.bytes -= m.Bytes
		s.refresh(c)
	}
}

// Oldest is since when a delivery has not been settled, of that which was made first; false for none. It looks at one of each channel.
func (s *Set) Oldest() (since uint32, ok bool) {
	for _, h := range s.channels {
		h.Unacked.Some(1, 1, func(_ uint64, d Delivery) {
			if !ok || d.Since < since {
				since, ok = d.Since, true
			}
		})
	}
	return since, ok
}

// Unsettled is a delivery that nobody has settled yet.
type Unsettled struct {
	Delivery
	Channel *Channel
	Number  uint64
}

// seed makes locks that nobody can compute.
var seed = maphash.MakeSeed()

// Lock tells a delivery from all others of its message: also from those of other channels and before a restart. Who knows one has been told.
func (u *Unsettled) Lock() uint64 {
	return max(maphash.Comparable(seed, struct {
		channel string
		number  uint64
		since   uint32
	}{u.Channel.Address.Id, u.Number, u.Since}), 1)
}

// Scan goes over all that nobody has settled, in no order and some at a time.
type Scan struct {
	channels []*Channel
	next     uint64 // number to go on with at the first of them
	limit    int    // deliveries in a step
}

// Scan begins one with so many deliveries in a step.
func (s *Set) Scan(limit int) *Scan {
	return &Scan{slices.Collect(maps.Values(s.channels)), 1, limit}
}

// Step calls f for the next deliveries. It reports whether those were the last.
func (x *Scan) Step(f func(Unsettled)) (done bool) {
	left := x.limit
	for ; len(x.channels) > 0 && left > 0; left-- {
		h := x.channels[0]
		x.next = h.Unacked.Some(x.next, left, func(number uint64, u Delivery) {
			f(Unsettled{u, h, number})
			left--
		})
		if x.next == 0 {
			x.channels, x.next = x.channels[1:], 1
		}
	}
	return len(x.channels) == 0
}
