package wire10

import (
	"bytes"
	"errors"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol/amqp10"
)

// maxFrame bounds in bytes what a peer can make a reader allocate.
const maxFrame = 256 << 20

// errClosed is that the broker has closed the connection without an error.
var errClosed error = &wire.Closed{Scope: "connection", Text: "without an error"}

// Next reads the next event. If the broker closes something with an error, or unasked, the error is a *wire.Closed.
func (c *Conn) Next(ev *wire.Event) error {
	for {
		f, n, need, err := amqp10.ParseFrame(c.in.Bytes(), maxFrame)
		if err != nil {
			return err
		}
		if n == 0 {
			if err := c.in.Fill(need); err != nil {
				return err
			}
			continue
		}
		c.in.Skip(n)
		if whole, err := c.frame(ev, f); err != nil || whole {
			return err
		}
	}
}

// frame reads a frame; whole is false if it makes no event.
func (c *Conn) frame(ev *wire.Event, f amqp10.Frame) (whole bool, err error) {
	if len(f.Body) == 0 {
		*ev = wire.Event{Kind: wire.Heartbeat}
		return true, nil
	}
	p, payload, err := c.decoder.Decode(f)
	if err != nil {
		return false, err
	}
	var l *link
	if at := int(f.Channel); at < len(c.links) { // the broker's sessions have the client's numbers, see begin
		l = c.links[at]
	}
	if l != nil {
		switch p := p.(type) {
		case *amqp10.Transfer:
			return c.delivered(ev, f.Channel, l, p, payload)
		case *amqp10.Disposition:
			l.settledBy(ev, f.Channel, p)
			return true, nil
		case *amqp10.Flow:
			return l.flowed(ev, f.Channel, p), nil
		}
	}
	return c.other(ev, f.Channel, p)
}

// other handles infrequent performatives.
func (c *Conn) other(ev *wire.Event, ch uint16, p amqp10.Composite) (whole bool, err error) {
	c.answer = p
	*ev = wire.Event{Kind: wire.Method, Channel: ch + 1}
	switch p := p.(type) {
	case *amqp10.Close:
		if p.Error == nil {
			return false, errClosed
		}
		return false, closed("connection", p.Error)
	case *amqp10.End:
		if p.Error != nil {
			return false, closed("session", p.Error)
		}
	case *amqp10.Detach:
		return false, closed("link", p.Error)
	}
	return true, nil
}

func closed(scope string, reason *amqp10.Error) error {
	if reason == nil {
		return &wire.Closed{Scope: scope, Text: "without an error"}
	}
	return &wire.Closed{Scope: scope, Text: reason.Error()}
}

// Closed is nil: such things are errors of Next.
func (c *Conn) Closed(*wire.Event) error { return nil }

// await returns the next performative that is an answer; passed gets the events before it.
func (c *Conn) await(ch uint16, passed ...func(*wire.Event)) (amqp10.Composite, error) {
	var ev wire.Event
	for {
		if err := c.Next(&ev); err != nil {
			return nil, err
		}
		if ev.Kind == wire.Method && ev.Channel == ch+1 {
			return c.answer, nil
		}
		for _, f := range passed {
			f(&ev)
		}
	}
}

// near returns the number whose lower half is n and that is nearest to another one.
func near(to uint64, n uint32) uint64 { return uint64(int64(to) + int64(int32(n-uint32(to)))) }

// flowed makes an event of the credit of a publisher.
func (l *link) flowed(ev *wire.Event, ch uint16, f *amqp10.Flow) (whole bool) {
	if !l.sender {
		return false
	}
	l.window = near(l.confirmed, f.NextIncomingID.Or(0)/uint32(l.frames)+f.IncomingWindow/uint32(l.frames))
	if f.Handle.Set {
		l.credit = near(l.confirmed, f.DeliveryCount.Or(0)+f.LinkCredit.Or(0))
	}
	*ev = wire.Event{Kind: wire.Credit, Channel: ch + 1, Tag: min(l.credit, l.window)}
	return true
}

// settledBy makes a confirm of a disposition.
func (l *link) settledBy(ev *wire.Event, ch uint16, d *amqp10.Disposition) {
	*ev = wire.Event{Kind: wire.Nack, Channel: ch + 1, First: near(l.confirmed, d.First+1), Tag: near(l.confirmed, d.Last.Or(d.First)+1)}
	if d.State.Kind == amqp10.Accepted {
		ev.Kind = wire.Ack
	}
	l.confirmed = max(l.confirmed, ev.Tag)
}

// delivered makes an event of a message when its last frame has come.
func (c *Conn) delivered(ev *wire.Event, ch uint16, l *link, t *amqp10.Transfer, payload []byte) (whole bool, err error) {
	l.incoming++
	if id := t.DeliveryID; id.Set {
		if l.seen = id.Value; !l.began {
			l.began, l.acked = true, id.Value
		}
	}
	if t.More || len(l.body) > 0 {
		l.body = append(l.body, payload...)
		if t.More {
			return false, nil
		}
		payload, l.body = l.body, l.body[:0]
	}
	l.count++
	*ev = wire.Event{Kind: wire.Deliver, Channel: ch + 1, Tag: uint64(l.seen)}
	if n := len(l.head); n > 0 && len(payload) == l.size && bytes.Equal(payload[:n], l.head) {
		ev.Flag, ev.Body = l.before, payload[n:]
	} else if err := l.sections(ev, payload); err != nil {
		return false, err
	}
	if l.settled {
		return true, c.replenish(ch, l)
	}
	return true, nil
}

// sections reads a message, and keeps the sections before its body, which [Conn.delivered] compares with the next
// message.
func (l *link) sections(ev *wire.Event, message []byte) error {
	s, err := amqp10.ScanSections(message)
	if err != nil {
		return err
	}
	h, err := s.Header()
	if err != nil {
		return err
	}
	ev.Flag = h.DeliveryCount > 0
	values := 0
	for _, v := range s.BodyValues() {
		b, is := v.Binary()
		if !is {
			return errors.New("a body that is no data")
		}
		if values++; values == 1 {
			ev.Body = b
		} else {
			ev.Body = append(ev.Body[:len(ev.Body):len(ev.Body)], b...)
		}
	}
	l.head = l.head[:0]
	if n := len(message) - len(ev.Body); values == 1 && s.BareEnd == len(message) {
		l.head, l.size, l.before = append(l.head, message[:n]...), len(message), ev.Flag
	}
	return nil
}
