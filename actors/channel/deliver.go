package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// What a consumer's window is given back in, at least (see the queue's window).
const (
	grantMessages = 1024
	grantBytes    = 256 << 10
)

// deliver writes messages for a consumer, or keeps them while the outbox is
// full. Nothing that belongs behind them overtakes them.
func (s *state) deliver(m *mail.Deliver) {
	c := s.consumers[m.Tag]
	if s.phase != open || c == nil {
		m.Release() // the queue learns, or has learnt, that we are gone
		return
	}
	if len(s.held) > 0 || !s.write(c, m) {
		s.held = append(s.held, m)
	}
}

// write appends whole contents to the outbox. False: there is no more room; m
// is what is left then, and OutboxReady will come.
func (s *state) write(c *consumer, m *mail.Deliver) bool {
	n, bytes := s.encode(c, m)
	c.written += n
	c.bytes += bytes
	if c.written >= grantMessages || c.bytes >= grantBytes {
		s.send(m.Queue, &mail.Grant{Channel: s.self, Tag: m.Tag, Messages: c.written, Bytes: c.bytes})
		c.written, c.bytes = 0, 0
	}
	if m.Written < len(m.Items) {
		self, send := s.self, s.cfg.Post
		s.cfg.Outbox.WhenRoom(func() { send(self, &mail.OutboxReady{}) })
		return false
	}
	m.Release()
	return true
}

// encode appends as many items as there is room for and counts them and their
// body bytes.
func (s *state) encode(c *consumer, m *mail.Deliver) (n, bytes int) {
	out, id := s.cfg.Outbox, s.cfg.ID
	b := out.Begin()
	defer func() { out.End(b) }()
	for m.Written < len(m.Items) && out.RoomFor(b) {
		d := &m.Items[m.Written]
		header, err := d.Message.Overlay.Header(d.Message.Header)
		if err != nil {
			s.cfg.Log.Error().Err(err).Msg("message with an unreadable header is delivered as it came")
			header = d.Message.Header
		}
		tag := s.tag(c.peer, d, c.limited && s.common.limit > 0)
		b = protocol.AppendDeliverFrame(b, id, m.Tag, tag, d.Redelivered, d.Message.Exchange, d.Message.RoutingKey)
		b = protocol.AppendHeaderFrame(b, id, uint64(len(d.Message.Body)), header)
		b = protocol.AppendBodyFrames(b, id, d.Message.Body, s.cfg.FrameMax)
		bytes += len(d.Message.Body)
		m.Written++
		n++
	}
	return n, bytes
}

// tag gives a delivery its tag.
func (s *state) tag(p *peer, d *mail.Delivery, common bool) uint64 {
	if d.Number == 0 {
		return s.unacked.Skip()
	}
	p.unacked++
	return s.unacked.Append(unacked{peer: p, number: d.Number, common: common})
}

// resume goes on with what was held back.
func (s *state) resume() {
	for len(s.held) > 0 {
		switch m := s.held[0].(type) {
		case *mail.Deliver:
			c := s.consumers[m.Tag]
			if c == nil {
				m.Release()
			} else if !s.write(c, m) {
				return
			}
		case *mail.ConsumerCancelled:
			s.cancelled(m)
		case func():
			m()
		}
		s.held[0] = nil
		s.held = s.held[1:]
	}
	s.held = nil
}

// behind runs f once everything held back before it is written.
func (s *state) behind(f func()) {
	if len(s.held) == 0 {
		f()
		return
	}
	s.held = append(s.held, f)
}
