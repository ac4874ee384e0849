package session10

import (
	"slices"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
)

// holdDeliveries queues deliveries for writing.
func (o *output) holdDeliveries(l *link, m *mail.Deliver) {
	if len(o.held) > 0 {
		m.DetachChunk()
	}
	o.held = append(o.held, &writing{link: l, deliver: m})
}

// dropRequeued drops deliveries that were requeued, except a message that is partly written.
func (o *output) dropRequeued(m *mail.DeliveriesRequeued) {
	for _, w := range o.held {
		if w.deliver == nil || !mail.Same(w.deliver.Queue, m.Queue) {
			continue
		}
		from := w.deliver.Written
		if o.sending.of == w {
			from++
		}
		w.deliver.Drop(from, func(x *mail.Delivery) bool { return m.Covers(x.Number) })
	}
}

// holdFlow queues a flow of a link for writing.
func (o *output) holdFlow(l *link, m *mail.CreditTaken) {
	for _, w := range slices.Backward(o.held) {
		if w.link == l && w.flow != nil && w.flow.Drained == m.Drained {
			w.flow = m
			return
		} else if w.link == l && w.flow == nil {
			break
		}
	}
	o.held = append(o.held, &writing{link: l, flow: m})
}

// withdraw returns the unwritten deliveries of a link to their queue, and drops its answers.
func (o *output) withdraw(l *link) {
	kept := o.held[:0]
	for _, w := range o.held {
		if w.link != l {
			kept = append(kept, w)
			continue
		}
		begun := o.sending.of == w
		if begun {
			o.sending = sending{}
		}
		if w.deliver != nil {
			if begun { // the current message already has its number
				w.deliver.Wrote()
			}
			o.sendBack(l, w.deliver)
		}
		o.refill(o.dropAnswer(w.answer))
	}
	clear(o.held[len(kept):])
	o.held = kept
	for l.answers != nil && len(l.answers.Waiting) > 0 {
		o.refill(o.dropAnswer(l.answers.Waiting[0]))
		l.answers.Waiting = l.answers.Waiting[1:]
	}
}

// sendBack returns unwritten deliveries to their queue. When a link of RabbitMQ's dialect is detached, the queue requeues them itself.
func (o *output) sendBack(l *link, m *mail.Deliver) {
	c := l.consumer
	back := entities.Unwritten(m)
	m.Release()
	if len(back) > 0 && (!c.leaving || l.dialect.Left() == mail.Leave) && !c.queue.Gone {
		o.Send(c.queue.Address, &mail.Settle{Channel: o.Self(), Ranges: back})
	}
}

// dropHeld drops held output; queues requeue the deliveries.
func (o *output) dropHeld() {
	for _, w := range o.held {
		if w.deliver != nil {
			w.deliver.Release()
		}
		o.dropAnswer(w.answer)
	}
	o.held, o.sending = nil, sending{}
}

// holdAnswers queues the answers for which there is credit for writing.
func (o *output) holdAnswers(l *link) {
	for _, a := range l.answers.Next() {
		o.held = append(o.held, &writing{link: l, answer: a})
	}
}

// keep charges the client's unread output with an answer; false if it has no room.
func (o *output) keep(answer []byte) bool {
	if !o.unread.Room(int64(len(answer))) {
		return false
	}
	o.unread.Take(int64(len(answer)))
	return true
}

// appendAnswer appends an answer. blocked: the client's window is full.
func (o *output) appendAnswer(b []byte, w *writing) (_ []byte, blocked bool) {
	if o.windows.RemoteIncoming == 0 || !o.cfg.Outbox.RoomFor(b) {
		return b, true
	}
	if o.sending.of == nil {
		tag := o.queues.Unacked.Tag(nil, 0, false)
		o.owners.Skip()
		o.begins(w, tag, w.answer.Message, nil, w.link.answers.Settled)
		w.link.answers.Held--
	}
	if b = o.appendTransfers(b, false); o.sending.of != nil {
		return b, true
	}
	o.refill(o.dropAnswer(w.answer))
	return b, false
}

// dropAnswer removes an answer or a direct reply, unless it is nil, that was written or is no longer needed. It returns
// the link of the request, which may send another one.
func (o *output) dropAnswer(a *nodeAnswer) *link {
	if a == nil {
		return nil
	}
	o.unread.Return(int64(len(a.Message)))
	switch {
	case a.Of == nil:
		o.replyBytes -= len(a.Message)
	case a.Of.publisher != nil:
		a.Of.publisher.Open--
	}
	return a.Of
}

// refill renews the client's credit on a link, unless that is nil, once half of it is used and settled.
func (o *output) refill(l *link) {
	if l == nil {
		return
	}
	if p := l.publisher; p != nil && o.in.Phase == input.Open && p.Refill() {
		o.replyFlow(l)
	}
}

// replyFlow sends the client the credit of a link.
func (o *output) replyFlow(l *link) { o.reply(l.flow(&o.windows)) }

// tellWindow sends the client its window if that has changed.
func (o *output) tellWindow(f *amqp10.Flow) {
	if f != nil && o.in.Phase == input.Open {
		o.reply(f)
	}
}
