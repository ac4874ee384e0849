package consumers

import (
	"hash/maphash"
	"maps"
	"slices"

	"candlemark/actors/system/mail"
)

// Deliver assigns a message, whose body has the given length in bytes and whose delivery has the given charge, to c, the
// next consumer, and advances to the following one. The deliveries to a consumer in one turn form one mail. It returns
// that mail, and the new delivery in it, which the caller has to fill.
func (s *Consumers) Deliver(c *Consumer, body, charge int) (*mail.Deliver, *mail.Delivery) {
	if c.deliver == nil {
		c.deliver = mail.NewDeliver(s.queue, c.Tag, c.NoAck)
		c.deliver.Unread = c.Unread
		s.touched = append(s.touched, c)
	}
	c.deliver.Items = append(c.deliver.Items, mail.Delivery{})
	c.messages++
	c.bytes += body
	if c.owed += charge; c.owed > maxOwed {
		c.pay()
	}
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

// Flush sends each consumer its deliveries of this turn, in one mail, and returns the number of deliveries with and
// without acknowledgements.
func (s *Consumers) Flush() (withAcks, without uint64) {
	for i, c := range s.touched {
		c.pay()
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
	s.answerCredit()
	return withAcks, without
}

// Discard drops the deliveries of this turn.
func (s *Consumers) Discard() {
	for _, c := range s.touched {
		c.pay()
		c.deliver.Release()
	}
	s.touched = nil
}

// Hold adds an unacked delivery to a channel, and returns its number.
func (s *Consumers) Hold(h *Holder, d ChannelDelivery) uint64 {
	s.unacked++
	if d.Consumer != nil {
		d.Consumer.unacked++
	}
	return h.Unacked.Append(d)
}

// Unowned returns the record of the deliveries that no channel holds but a lock still covers (LOCK-10), created if
// necessary. Its Address is nil.
func (s *Consumers) Unowned() *Holder {
	h := s.channels[unowned]
	if h == nil {
		h = &Holder{}
		s.channels[unowned] = h
	}
	return h
}

// unowned is the id of the record of Unowned, which no channel has.
const unowned = ""

// CloseUnowned removes the record of Unowned, which must have no deliveries.
func (s *Consumers) CloseUnowned() { delete(s.channels, unowned) }

// Release frees the prefetch used by a delivery that was removed from its channel.
func (s *Consumers) Release(d ChannelDelivery) {
	s.unacked--
	if c := d.Consumer; c != nil {
		c.unacked--
		s.refresh(c)
		if c == s.active {
			s.electActive()
		}
	}
}

// Grant frees part of a consumer's window.
func (s *Consumers) Grant(m *mail.ReturnWindow) {
	if c := s.Find(m.Channel, m.Tag); c != nil {
		c.messages -= m.Messages
		c.bytes -= m.Bytes
		s.refresh(c)
	}
}

// Oldest returns the time of the oldest unacked delivery, 0 if there is none, and needs the present time; both are in
// wall ms. It examines one block of deliveries of each channel.
func (s *Consumers) Oldest(now int64) (at int64) {
	for _, h := range s.channels {
		h.Unacked.Some(1, 1, func(_ uint64, d ChannelDelivery) {
			if since := d.Since.At(now); at == 0 || since < at {
				at = since
			}
		})
	}
	return at
}

// Unsettled is an unacked delivery.
type Unsettled struct {
	ChannelDelivery
	Channel *Holder
	Number  uint64
}

// seed makes locks unpredictable.
var seed = maphash.MakeSeed()

// Lock returns the lock of a delivery. It differs from the locks of all other deliveries of the message, also on
// other channels and before a restart, and cannot be guessed.
func (u *Unsettled) Lock() uint64 {
	return max(maphash.Comparable(seed, struct {
		channel string
		number  uint64
		since   Moment
	}{u.Channel.Address.GetId(), u.Number, u.Since}), 1)
}

// Scan iterates over all unacked deliveries, in no order, over several steps.
type Scan struct {
	channels []*Holder
	next     uint64 // number at which to continue in the first channel
	limit    int    // deliveries per step
}

// Scan starts an iteration with limit deliveries per step.
func (s *Consumers) Scan(limit int) *Scan {
	return &Scan{slices.Collect(maps.Values(s.channels)), 1, limit}
}

// Step calls f for the next deliveries. It reports whether they were the last.
func (x *Scan) Step(f func(Unsettled)) (done bool) {
	left := x.limit
	for ; len(x.channels) > 0 && left > 0; left-- {
		h := x.channels[0]
		x.next = h.Unacked.Some(x.next, left, func(number uint64, u ChannelDelivery) {
			f(Unsettled{u, h, number})
			left--
		})
		if x.next == 0 {
			x.channels, x.next = x.channels[1:], 1
		}
	}
	return len(x.channels) == 0
}
