package session10

import (
	"slices"

	"candlemark/actors/client/input"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol/amqp10"
)

// The minimum amounts by which a consumer's window is freed at a time (see the queue's window).
const (
	grantMessages = 1024
	grantBytes    = 256 << 10
)

// output writes the session's frames to the outbox, as far as it has room and the client's window allows.
//
// Owns: outcomes, replies, deliveries and answers that wait, the message that is partly written, and the windows.
type output struct {
	*base
	queues     *queues.Side
	windows    window.Session
	outcomes   []outcome          // to be sent
	replies    []amqp10.Composite // waiting for room; input is stopped until they are written
	held       []*writing         // output that waits for the client's window or for room, in order
	sending    sending            // the first of held, partly written
	scratch    []byte
	owners     seqmap.Map[*link] // links of the unacked deliveries, by the same numbers
	unread     *budget.Part      // charged with deliveries until they are in the outbox, and with answers; nil for no limit
	replyBytes int               // bytes of waiting direct replies
	wantsRoom  bool              // OutboxReady will arrive
}

// writing is output that waits: deliveries, the answer of a node, or a flow.
type writing struct {
	link    *link
	deliver *mail.Deliver
	answer  *nodeAnswer
	flow    *mail.CreditTaken
}

// stops reports whether input waits for the client to read.
func (o *output) stops() bool { return len(o.replies) > 0 && !o.in.Leaving }

// reply writes a frame in order; input waits for it.
func (o *output) reply(p amqp10.Composite) { o.replies = append(o.replies, p) }

// write writes output to the outbox until it is full: outcomes, replies, then deliveries.
func (o *output) write() {
	if o.in.Phase == input.Dead || o.wantsRoom && !o.in.Leaving {
		return
	}
	for len(o.outcomes) > 0 || len(o.replies) > 0 || len(o.held) > 0 {
		written, blocked, room := false, false, true
		o.append(func(b []byte) []byte {
			if room = o.cfg.Outbox.RoomFor(b) || o.in.Leaving; !room {
				return b
			}
			written = true
			b = o.appendOutcomes(b)
			for _, p := range o.replies {
				b = amqp10.AppendFrame(b, o.cfg.Channel, p)
			}
			clear(o.replies)
			o.replies = o.replies[:0]
			for len(o.held) > 0 && !blocked && room {
				b, blocked = o.appendWriting(b, o.held[0])
				if !blocked {
					o.held = slices.Delete(o.held, 0, 1)
				}
				room = o.cfg.Outbox.RoomFor(b)
			}
			return b
		})
		if len(o.held) > 0 && o.held[0].deliver != nil {
			o.held[0].deliver.Paid()
		}
		if written {
			o.outcomesWritten() // which may have added replies
		}
		if !room && !o.in.Leaving {
			o.wantRoom()
			break
		}
		if blocked && len(o.replies) == 0 {
			break
		}
	}
	if len(o.held) > 0 && o.held[0].deliver != nil { // only deliveries come from a queue
		o.held[0].deliver.DetachChunk()
	}
}

// append appends to the outbox; nothing if f panics.
func (o *output) append(f func(b []byte) []byte) {
	b := o.cfg.Outbox.Begin()
	defer func() { o.cfg.Outbox.End(b) }()
	b = f(b)
}

// wantRoom requests one OutboxReady.
func (o *output) wantRoom() {
	o.wantsRoom = true
	o.cfg.Outbox.WhenRoom(func() { o.cfg.Post(o.Self(), &mail.OutboxReady{}) })
}

// sending is a message that is being written, perhaps in several transfers.
type sending struct {
	transferMessage
	of *writing // nil for none
}

// appendWriting appends waiting output. blocked: the client's window is full.
func (o *output) appendWriting(b []byte, w *writing) (_ []byte, blocked bool) {
	a := w.link.account()
	switch {
	case a == nil: // the link is gone
		if w.deliver != nil {
			w.deliver.Release()
		}
		o.dropAnswer(w.answer)
		return b, false
	case w.flow != nil:
		if w.flow.Drained {
			a.Drained(w.flow.DeliveryCount)
		}
		f := w.link.flow(&o.windows)
		f.Drain, f.Available = w.flow.Drained, amqp10.Some(w.flow.Available)
		return amqp10.AppendFrame(b, o.cfg.Channel, f), false
	case w.answer != nil:
		return o.appendAnswer(b, w)
	}
	c, m := w.link.consumer, w.deliver
	for m.Written < len(m.Items) {
		if o.windows.RemoteIncoming == 0 || !o.cfg.Outbox.RoomFor(b) {
			return b, true
		}
		d := &m.Items[m.Written]
		if o.sending.of == nil && !o.start(w, d) {
			return b, true
		}
		if b = o.appendTransfers(b, d.Message.Owned); o.sending.of != nil {
			return b, true
		}
		m.Wrote()
		o.wrote(c, m, d)
	}
	m.Release()
	return b, false
}

// encode appends the head of a delivery of a queue to dst, returns its body, and traces it.
func (o *output) encode(dst []byte, l *link, d *mail.Delivery, queue string) (head, body []byte) {
	head, body, err := l.writer.Append(dst, &d.Message, entities.DeliveryOf(d, l.numbers(), l.consumer != nil && l.consumer.from.DeadLetters))
	if err != nil {
		o.cfg.Log.Error().Err(err).Msg("a message with an unreadable header is delivered without the header")
		body = d.Message.Body
		head = amqp10.AppendDataHead(dst, len(body))
	}
	o.traceDelivery(queue, d)
	return head, body
}

// start starts writing a message. If the message is too large for the client, it ends the session and returns false.
func (o *output) start(w *writing, d *mail.Delivery) bool {
	var body []byte
	o.scratch, body = o.encode(o.scratch[:0], w.link, d, w.link.consumer.name)
	if size, c := uint64(len(o.scratch)+len(body)), w.link.consumer; c.from.MaxMessage > 0 && size > c.from.MaxMessage {
		o.up.fail(amqp10.Errorf(amqp10.MessageSizeExceeded, "message size (%d bytes) > maximum message size (%d bytes)", size, c.from.MaxMessage))
		return false
	}
	tag := o.queues.Unacked.Tag(w.link.consumer.queue, d.Number, false)
	if d.Number == 0 {
		o.owners.Skip()
	} else {
		o.owners.Append(w.link)
	}
	o.begins(w, tag, o.scratch, body, d.Number == 0)
	if d.Facts != nil {
		o.sending.Tag(servicebus.NewLockToken(d.Facts.Lock, d.Facts.Seq))
	}
	return true
}

// begins starts writing a message that has its tag.
func (o *output) begins(w *writing, tag uint64, head, body []byte, settled bool) {
	o.sending.of = w
	o.sending.Begin(w.link.handle, uint32(tag-1), head, body, settled)
	w.link.account().Sent()
}

// appendTransfers appends the rest of the current message, as far as the client's window allows.
func (o *output) appendTransfers(b []byte, owned bool) []byte {
	to := transferWriter{Outbox: o.cfg.Outbox, Channel: o.cfg.Channel, FrameMax: o.cfg.FrameMax, Windows: &o.windows}
	b, whole := o.sending.Append(b, &to, owned)
	if whole {
		o.sending = sending{}
	}
	return b
}

// wrote counts a written message, and frees part of the queue's window.
func (o *output) wrote(c *consumer, m *mail.Deliver, d *mail.Delivery) {
	if d.Number == 0 {
		o.counts.DeliverNoAck++
	} else {
		o.counts.Deliver++
	}
	if d.Redelivered {
		o.counts.Redeliver++
	}
	c.written++
	c.bytes += len(d.Message.Body)
	if c.written >= grantMessages || c.bytes >= grantBytes {
		o.Send(m.Queue, &mail.ReturnWindow{Channel: o.Self(), Tag: m.Tag, Messages: c.written, Bytes: c.bytes})
		c.written, c.bytes = 0, 0
	}
}

// traceDelivery traces a delivery to a link.
func (o *output) traceDelivery(queue string, d *mail.Delivery) {
	if o.cfg.VHost.Tracing() {
		header, _ := d.Message.Overlay.Header(d.Message.Header) // no header if it cannot be decoded
		o.queues.Tracer.Delivered(queue, &d.Message, header, d.Redelivered)
	}
}
