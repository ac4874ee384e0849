package output

import (
	"candlemark/actors/client/channel/confirms"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"
)

// Get answers basic.get from q, the queue with the given name.
func (o *Output) Get(q *unacked.Queue, name string, r *mail.GetReply) {
	if r.Empty {
		o.Forgo()
		o.counts.GetEmpty++
		o.Reply(&protocol.BasicGetEmpty{})
		return
	}
	o.InTurn(func() bool { return o.get(q, name, r) })
}

// get writes the answer if there is room. The tag is assigned only then, so that tags stay in order.
func (o *Output) get(q *unacked.Queue, name string, r *mail.GetReply) bool {
	d := &r.Delivery
	if !o.Offer(func(b []byte) []byte {
		b = protocol.AppendMethodFrame(b, o.cfg.ID, &protocol.BasicGetOk{
			DeliveryTag: o.unacked.Tag(q, d.Number, true), Redelivered: d.Redelivered, Exchange: string(d.Message.Exchange),
			RoutingKey: string(d.Message.RoutingKey), MessageCount: uint32(r.MessageCount),
		})
		return o.appendContent(b, &d.Message, o.HeaderOf(d))
	}) {
		return false
	}
	o.Forgo()
	o.cfg.Unread.Return(int64(d.Charge()))
	if d.Number == 0 {
		o.counts.GetNoAck++
	} else {
		o.counts.Get++
	}
	if d.Redelivered {
		o.counts.Redeliver++
	}
	if o.cfg.VHost.Tracing() {
		o.cfg.Trace(name, []mail.Delivery{*d})
	}
	return true
}

// Return writes basic.return for an unroutable mandatory message, if there is room.
func (o *Output) Return(m *message.Message) bool {
	return o.Offer(func(b []byte) []byte {
		b = protocol.AppendMethodFrame(b, o.cfg.ID, &protocol.BasicReturn{
			ReplyCode: protocol.NoRoute, ReplyText: "NO_ROUTE", Exchange: string(m.Exchange), RoutingKey: string(m.RoutingKey),
		})
		return o.appendContent(b, m, m.Header)
	})
}

func (o *Output) appendContent(b []byte, m *message.Message, header []byte) []byte {
	b = protocol.AppendHeaderFrame(b, o.cfg.ID, uint64(len(m.Body)), header)
	return o.appendBody(b, m)
}

// appendBody appends the body, or a reference to it if it is large and immutable.
func (o *Output) appendBody(b []byte, m *message.Message) []byte {
	if !m.Owned || len(m.Body) < outbox.MinReference {
		return protocol.AppendBodyFrames(b, o.cfg.ID, m.Body, o.cfg.FrameMax)
	}
	return protocol.AppendBodyFramesWith(b, o.cfg.ID, m.Body, o.cfg.FrameMax, o.cfg.Outbox.Refer)
}

// Confirm writes confirms if there is room; otherwise it postpones them and returns false.
func (o *Output) Confirm(c *confirms.Confirms) bool {
	if !c.Due() {
		return true
	}
	if o.wantsRoom || !o.Offer(func(b []byte) []byte { return c.Append(b, o.cfg.ID) }) {
		c.PutOff()
		return false
	}
	return true
}

// ConfirmAll does the same as Confirm at the end of the channel, when confirms cannot be postponed.
func (o *Output) ConfirmAll(c *confirms.Confirms) {
	if c.Due() {
		b := o.cfg.Outbox.Begin()
		defer func() { o.cfg.Outbox.End(b) }()
		b = c.Append(b, o.cfg.ID)
	}
}
