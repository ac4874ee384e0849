package consumers

import "candlemark/actors/system/mail"

// maxOwed is the maximum number of bytes of a consumer's deliveries in one turn that its Unread is not charged with, so
// that small messages do not each change it.
const maxOwed = 4 << 10

// Admits reports whether c, the next consumer, may get a delivery with the given charge. If its client has to read
// before, c and its channel's other consumers that get no more wait for mail.UnreadRoom (PRO-20).
func (s *Consumers) Admits(c *Consumer, charge int) bool {
	if c.Unread == nil || c.owed > 0 && c.owed+charge <= maxOwed || c.Unread.Room(int64(c.owed+charge)) {
		return true
	}
	h, needs := c.Channel, int64(c.owed+charge)
	c.pay()
	c.crowded = true
	s.refresh(c)
	if h.crowded = append(h.crowded, c); !h.waits {
		h.waits = true
		channel := h.Address
		c.Unread.WhenRoom(needs, func() { s.post(s.queue, &mail.UnreadRoom{Channel: channel}) })
	}
	return false
}

// NextFor returns the next consumer for a delivery with the given charge, nil if none can take it.
func (s *Consumers) NextFor(charge int) *Consumer {
	for {
		if c := s.Next(); c == nil || s.Admits(c, charge) {
			return c
		}
	}
}

// roomy lets the waiting consumers of a channel continue.
func (s *Consumers) roomy(m *mail.UnreadRoom) {
	h := s.channels[m.Channel.GetId()]
	if h == nil {
		return
	}
	waiting := h.crowded
	h.crowded, h.waits = nil, false
	for _, c := range waiting {
		c.crowded = false
		s.refresh(c)
	}
}

// pay charges what is owed.
func (c *Consumer) pay() {
	c.Unread.Take(int64(c.owed))
	c.owed = 0
}
