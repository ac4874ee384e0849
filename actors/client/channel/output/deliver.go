package output

import (
	"bytes"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// The minimum amounts by which a consumer's window is freed at a time (see the queue's window).
const (
	GrantMessages = 1024
	GrantBytes    = 256 << 10
)

// Consumer is one consumer as seen by the client.
type Consumer struct {
	Queue *unacked.Queue // nil for the consumer of direct replies
	Name  string         // name of the queue
	// Memory is the number of bytes that the connection's objects are charged with.
	Memory int64
	// Messages and bytes passed to the outbox and not yet granted to the queue again.
	written, bytes int
}

// Deliver writes messages for a consumer, or keeps them while the outbox is
// full.
func (o *Output) Deliver(c *Consumer, m *mail.Deliver) { o.hold(pendingWrite{consumer: c, deliver: m}) }

// hold writes a delivery at once or, if other output waits for room, later.
func (o *Output) hold(l pendingWrite) {
	o.held = append(o.held, l)
	if len(o.held) == 1 {
		o.Resume()
	} else {
		l.deliver.DetachChunk()
	}
}

// ReplyLimit is the limit of bytes of direct replies that wait for a client that does not read, over all channels of a
// connection; further replies are refused, so that one requester cannot fill the memory or block responders.
const ReplyLimit = 16 << 20

// replyOverhead is the assumed size of a waiting reply without its content, in bytes.
const replyOverhead = 256

// DeliverReplies writes direct replies for their consumer, which has the given tag, keeps them while the outbox is
// full, or drops them if the connection is ending. It returns false if the client reads too slowly.
func (o *Output) DeliverReplies(c *Consumer, tag string, m *mail.Enqueue) bool {
	if o.leaving {
		return true
	}
	bytes := 0
	for i := range m.Messages {
		bytes += m.Messages[i].Size() + replyOverhead
	}
	if !o.cfg.Unread.Room(int64(bytes)) {
		return false
	}
	if waiting := o.countReplies(bytes); waiting > bytes && waiting > ReplyLimit {
		o.countReplies(-bytes)
		return false
	}
	d := mail.NewDeliver(nil, tag, true)
	d.Chunk, m.Chunk = m.Chunk, nil
	for i := range m.Messages {
		d.Items = append(d.Items, mail.Delivery{Message: m.Messages[i]})
	}
	o.hold(pendingWrite{consumer: c, deliver: d, replies: bytes})
	return true
}

// countReplies adds bytes of waiting replies, and returns the number over all channels of the connection.
func (o *Output) countReplies(bytes int) int {
	o.replyBytes += bytes
	o.cfg.Unread.Take(int64(bytes)) // or returns it
	return int(o.cfg.Replies.Add(int64(bytes)))
}

// Withdraw drops the held deliveries that their queue has requeued.
func (o *Output) Withdraw(m *mail.DeliveriesRequeued) {
	for i := range o.held {
		d := o.held[i].deliver
		if d == nil || !mail.Same(d.Queue, m.Queue) {
			continue
		}
		d.Drop(d.Written, func(x *mail.Delivery) bool { return m.Covers(x.Number) })
	}
}

// write appends whole contents to the outbox. It returns false if there is no more room, with the rest left in m;
// Ready will be called.
func (o *Output) write(c *Consumer, m *mail.Deliver) bool {
	before := m.Written
	size := o.encode(c, m)
	c.written += m.Written - before
	if n := uint64(m.Written - before); m.NoAck {
		o.counts.DeliverNoAck += n
	} else {
		o.counts.Deliver += n
	}
	c.bytes += size
	if o.cfg.VHost.Tracing() {
		o.cfg.Trace(c.Name, m.Items[before:m.Written])
	}
	if c.written >= GrantMessages || c.bytes >= GrantBytes {
		o.out.Send(m.Queue, &mail.ReturnWindow{Channel: o.out.Self(), Tag: m.Tag, Messages: c.written, Bytes: c.bytes})
		c.written, c.bytes = 0, 0
	}
	if m.Written < len(m.Items) {
		m.DetachChunk()
		o.wantRoom()
		return false
	}
	m.Release()
	return true
}

// encode appends as many items as fit and returns the bytes of their bodies.
func (o *Output) encode(c *Consumer, m *mail.Deliver) (size int) {
	out, id := o.cfg.Outbox, o.cfg.ID
	b := out.Begin()
	defer func() {
		out.End(b)
		m.Paid()
	}()
	start := len(b)
	for m.Written < len(m.Items) && out.RoomFor(b) {
		d := &m.Items[m.Written]
		header := o.HeaderOf(d)
		if d.Redelivered {
			o.counts.Redeliver++
		}
		tag := o.unacked.Tag(c.Queue, d.Number, false)
		b = protocol.AppendDeliverFrame(b, id, m.Tag, tag, d.Redelivered, d.Message.Exchange, d.Message.RoutingKey)
		b = protocol.AppendHeaderFrame(b, id, uint64(len(d.Message.Body)), header)
		b = o.appendBody(b, &d.Message)
		size += len(d.Message.Body)
		m.Wrote()
		if left := len(m.Items) - m.Written; left > 0 && cap(b)-len(b) < len(b)-start { // items usually have similar sizes
			b = out.Grow(b, left*(len(b)-start))
		}
		start = len(b)
	}
	return size
}

// merged caches the last property list merged from a publisher's list and the broker's additions: dead letters that end
// together usually get the same list.
type merged struct {
	overlay     *message.Overlay
	raw, header []byte
}

// maxMerged is the longest property list that is cached, in bytes.
const maxMerged = 1024

// HeaderOf returns the raw property list for the client.
func (o *Output) HeaderOf(d *mail.Delivery) []byte {
	overlay, raw, last := d.Message.Overlay, d.Message.Header, &o.merged
	if overlay.Dead() && overlay == last.overlay && bytes.Equal(raw, last.raw) {
		return last.header
	}
	header, err := overlay.Header(raw)
	if err != nil {
		o.cfg.Log.Error().Err(err).Msg("a message with an unreadable header is delivered unchanged")
		return raw
	}
	if overlay.Dead() && len(raw) <= maxMerged {
		*last = merged{overlay, append(last.raw[:0], raw...), header}
	}
	return header
}
