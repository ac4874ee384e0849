package channel

import (
	"bytes"

	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/message"
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
	if s.leaving || c == nil {
		m.Release() // the queue learns, or has learnt, that we are gone
		return
	}
	s.hold(pendingWrite{consumer: c, deliver: m})
}

// hold writes a delivery at once unless others wait for room.
func (s *state) hold(l pendingWrite) {
	s.held = append(s.held, l)
	if len(s.held) == 1 {
		s.resume()
	} else {
		detachChunk(l.deliver)
	}
}

// write appends whole contents to the outbox. False: there is no more room; m
// is what is left then, and OutboxReady will come.
func (s *state) write(c *consumer, m *mail.Deliver) bool {
	before := m.Written
	size := s.encode(c, m)
	c.written += m.Written - before
	if n := uint64(m.Written - before); m.NoAck {
		s.counts.DeliverNoAck += n
	} else {
		s.counts.Deliver += n
	}
	c.bytes += size
	if s.cfg.VHost.Tracing() {
		s.traceDeliveries(c.queue, m.Items[before:m.Written])
	}
	if c.written >= grantMessages || c.bytes >= grantBytes {
		s.Send(m.Queue, &mail.Grant{Channel: s.self, Tag: m.Tag, Messages: c.written, Bytes: c.bytes})
		c.written, c.bytes = 0, 0
	}
	if m.Written < len(m.Items) {
		detachChunk(m)
		s.wantRoom()
		return false
	}
	m.Release()
	return true
}

// encode appends as many items as there is room for and counts their body
// bytes.
func (s *state) encode(c *consumer, m *mail.Deliver) (size int) {
	out, id := s.cfg.Outbox, s.cfg.ID
	b := out.Begin()
	defer func() { out.End(b) }()
	var queue *unacked.Queue // nil for replies, which expect no acknowledgement
	if c.peer != nil {
		queue = &c.peer.Queue
	}
	start := len(b)
	for m.Written < len(m.Items) && out.RoomFor(b) {
		d := &m.Items[m.Written]
		header := s.headerOf(d)
		if d.Redelivered {
			s.counts.Redeliver++
		}
		tag := s.unacked.Tag(queue, d.Number, false)
		b = protocol.AppendDeliverFrame(b, id, m.Tag, tag, d.Redelivered, d.Message.Exchange, d.Message.RoutingKey)
		b = protocol.AppendHeaderFrame(b, id, uint64(len(d.Message.Body)), header)
		b = protocol.AppendBodyFrames(b, id, d.Message.Body, s.cfg.FrameMax)
		size += len(d.Message.Body)
		m.Written++
		if left := len(m.Items) - m.Written; left > 0 && cap(b)-len(b) < len(b)-start { // mostly they are alike
			b = out.Grow(b, left*(len(b)-start))
		}
		start = len(b)
	}
	return size
}

// merged is the last property list that was made of a publisher's and of what the
// broker adds: dead letters that end together mostly get the same.
type merged struct {
	overlay     *message.Overlay
	raw, header []byte
}

// longestMerged is the longest property list that is remembered, in bytes.
const longestMerged = 1024

// headerOf is the raw property list that the client gets.
func (s *state) headerOf(d *mail.Delivery) []byte {
	o, raw, last := d.Message.Overlay, d.Message.Header, &s.merged
	if o.Dead() && o == last.overlay && bytes.Equal(raw, last.raw) {
		return last.header
	}
	header, err := o.Header(raw)
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("message with an unreadable header is delivered as it came")
		return raw
	}
	if o.Dead() && len(raw) <= longestMerged {
		*last = merged{o, append(last.raw[:0], raw...), header}
	}
	return header
}
