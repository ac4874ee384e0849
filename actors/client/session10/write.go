package session10

import (
	"slices"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// The minimum amounts by which a consumer's window is freed at a time (see the queue's window).
const (
	grantMessages = 1024
	grantBytes    = 256 << 10
)

// writing is output that waits: deliveries, the answer of a node, or a flow.
type writing struct {
	link    *link
	deliver *mail.Deliver
	answer  *nodeAnswer
	flow    *mail.CreditTaken
}

// drop drops deliveries that were requeued, except a message that is partly written.
func (w *writing) drop(m *mail.DeliveriesRequeued, inHand bool) {
	from := w.deliver.Written
	if inHand {
		from++
	}
	w.deliver.Drop(from, func(x *mail.Delivery) bool { return m.Covers(x.Number) })
}

// reply writes a frame in order; input waits for it.
func (s *state) reply(p amqp10.Composite) { s.replies = append(s.replies, p) }

// write writes output to the outbox until it is full: outcomes, replies, then deliveries.
func (s *state) write() {
	if s.in.Phase == input.Dead || s.wantsRoom && !s.in.Leaving {
		return
	}
	for len(s.outcomes) > 0 || len(s.replies) > 0 || len(s.held) > 0 {
		written, blocked, room := false, false, true
		s.append(func(b []byte) []byte {
			if room = s.cfg.Outbox.RoomFor(b) || s.in.Leaving; !room {
				return b
			}
			written = true
			b = appendOutcomes(s, b)
			for _, p := range s.replies {
				b = amqp10.AppendFrame(b, s.cfg.Channel, p)
			}
			clear(s.replies)
			s.replies = s.replies[:0]
			for len(s.held) > 0 && !blocked && room {
				b, blocked = s.appendWriting(b, s.held[0])
				if !blocked {
					s.held = slices.Delete(s.held, 0, 1)
				}
				room = s.cfg.Outbox.RoomFor(b)
			}
			return b
		})
		if len(s.held) > 0 && s.held[0].deliver != nil {
			s.held[0].deliver.Paid()
		}
		if written {
			outcomesWritten(s) // which may have added replies
		}
		if !room && !s.in.Leaving {
			s.wantRoom()
			break
		}
		if blocked && len(s.replies) == 0 {
			break
		}
	}
	if len(s.held) > 0 && s.held[0].deliver != nil { // only deliveries come from a queue
		s.held[0].deliver.DetachChunk()
	}
}

// append appends to the outbox; nothing if f panics.
func (s *state) append(f func(b []byte) []byte) {
	b := s.cfg.Outbox.Begin()
	defer func() { s.cfg.Outbox.End(b) }()
	b = f(b)
}

// wantRoom requests one OutboxReady.
func (s *state) wantRoom() {
	s.wantsRoom = true
	s.cfg.Outbox.WhenRoom(func() { s.cfg.Post(s.Self(), &mail.OutboxReady{}) })
}

// sending is a message that is being written, perhaps in several transfers.
type sending struct {
	transferMessage
	of *writing // nil for none
}

// appendWriting appends waiting output. blocked: the client's window is full.
func (s *state) appendWriting(b []byte, w *writing) (_ []byte, blocked bool) {
	a := w.link.account()
	switch {
	case a == nil: // the link is gone
		if w.deliver != nil {
			w.deliver.Release()
		}
		s.dropAnswer(w.answer)
		return b, false
	case w.flow != nil:
		if w.flow.Drained {
			a.Drained(w.flow.DeliveryCount)
		}
		f := w.link.flow(&s.windows)
		f.Drain, f.Available = w.flow.Drained, amqp10.Some(w.flow.Available)
		return amqp10.AppendFrame(b, s.cfg.Channel, f), false
	case w.answer != nil:
		return appendAnswer(s, b, w)
	}
	c, m := w.link.consumer, w.deliver
	for m.Written < len(m.Items) {
		if s.windows.RemoteIncoming == 0 || !s.cfg.Outbox.RoomFor(b) {
			return b, true
		}
		d := &m.Items[m.Written]
		if s.sending.of == nil && !s.start(w, d) {
			return b, true
		}
		if b = s.appendTransfers(b, d.Message.Owned); s.sending.of != nil {
			return b, true
		}
		m.Wrote()
		s.wrote(c, m, d)
	}
	m.Release()
	return b, false
}

// encode appends the head of a delivery of a queue to dst, returns its body, and traces it.
func (s *state) encode(dst []byte, l *link, d *mail.Delivery, queue string) (head, body []byte) {
	head, body, err := l.writer.Append(dst, &d.Message, entities.DeliveryOf(d, l.numbers(), l.consumer != nil && l.consumer.from.DeadLetters))
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("a message with an unreadable header is delivered without the header")
		body = d.Message.Body
		head = amqp10.AppendDataHead(dst, len(body))
	}
	traceDelivery(s, queue, d)
	return head, body
}

// start starts writing a message. If the message is too large for the client, it ends the session and returns false.
func (s *state) start(w *writing, d *mail.Delivery) bool {
	var body []byte
	s.scratch, body = s.encode(s.scratch[:0], w.link, d, w.link.consumer.name)
	if size, c := uint64(len(s.scratch)+len(body)), w.link.consumer; c.from.MaxMessage > 0 && size > c.from.MaxMessage {
		s.fail(amqp10.Errorf(amqp10.MessageSizeExceeded, "message size (%d bytes) > maximum message size (%d bytes)", size, c.from.MaxMessage))
		return false
	}
	tag := s.unacked.Tag(w.link.consumer.queue, d.Number, false)
	if d.Number == 0 {
		s.owners.Skip()
	} else {
		s.owners.Append(w.link)
	}
	s.begins(w, tag, s.scratch, body, d.Number == 0)
	if d.Facts != nil {
		s.sending.Tag(servicebus.NewLockToken(d.Facts.Lock, d.Facts.Seq))
	}
	return true
}

// begins starts writing a message that has its tag.
func (s *state) begins(w *writing, tag uint64, head, body []byte, settled bool) {
	s.sending.of = w
	s.sending.Begin(w.link.handle, uint32(tag-1), head, body, settled)
	w.link.account().Sent()
}

// appendTransfers appends the rest of the current message, as far as the client's window allows.
func (s *state) appendTransfers(b []byte, owned bool) []byte {
	to := transferWriter{Outbox: s.cfg.Outbox, Channel: s.cfg.Channel, FrameMax: s.cfg.FrameMax, Windows: &s.windows}
	b, whole := s.sending.Append(b, &to, owned)
	if whole {
		s.sending = sending{}
	}
	return b
}

// wrote counts a written message, and frees part of the queue's window.
func (s *state) wrote(c *consumer, m *mail.Deliver, d *mail.Delivery) {
	if d.Number == 0 {
		s.counts.DeliverNoAck++
	} else {
		s.counts.Deliver++
	}
	if d.Redelivered {
		s.counts.Redeliver++
	}
	c.written++
	c.bytes += len(d.Message.Body)
	if c.written >= grantMessages || c.bytes >= grantBytes {
		s.Send(m.Queue, &mail.ReturnWindow{Channel: s.Self(), Tag: m.Tag, Messages: c.written, Bytes: c.bytes})
		c.written, c.bytes = 0, 0
	}
}

// traceDelivery traces a delivery to a link.
func traceDelivery(s *state, queue string, d *mail.Delivery) {
	if s.cfg.VHost.Tracing() {
		header, _ := d.Message.Overlay.Header(d.Message.Header) // no header if it cannot be decoded
		s.tracer.Delivered(queue, &d.Message, header, d.Redelivered)
	}
}
