package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"candlemark/protocol"
)

var be = binary.BigEndian

// Kind is of an Event.
type Kind uint8

// The kinds.
const (
	Deliver   Kind = iota + 1 // a message for a consumer
	Return                    // a message that the broker could not route
	Ack                       // a confirm
	Nack                      // a refused publish
	Method                    // any other method, see Event.Decode
	Heartbeat                 // a heartbeat
	Credit                    // a publisher may send all up to Tag; not in AMQP 0-9-1
)

// Event is one thing that the broker sent. Its slices are good until the next call of Next.
type Event struct {
	Kind       Kind
	Channel    uint16
	Tag        uint64 // of a delivery or confirm
	First      uint64 // a confirm is for all from here to Tag; 0: Flag decides
	Flag       bool   // a delivery came before; a confirm is for all up to Tag
	Properties []byte // raw property flags and list of a content
	Body       []byte
	payload    []byte // of a method
}

// Decode returns the method of an event of that kind.
func (e *Event) Decode() (protocol.Method, error) { return protocol.DecodeMethod(e.payload) }

// content is a message on its way in.
type content struct {
	kind       Kind
	tag        uint64
	flag       bool
	left       uint64 // bytes of the body still to arrive
	properties []byte
	body       []byte
}

// The class and method ids that the hot path looks for.
const (
	deliverKey = 60<<16 | 60
	returnKey  = 60<<16 | 50
	ackKey     = 60<<16 | 80
	nackKey    = 60<<16 | 120
)

var errShort = errors.New("a method is too short")

// Next reads the next event.
func (c *Conn) Next(ev *Event) error {
	for {
		f, err := c.next()
		if err != nil {
			return err
		}
		whole := true
		switch f.Type {
		case protocol.FrameMethod:
			whole, err = c.method(ev, f)
		case protocol.FrameHeader:
			whole, err = c.header(ev, f)
		case protocol.FrameBody:
			whole, err = c.body(ev, f)
		default:
			*ev = Event{Kind: Heartbeat}
		}
		if err != nil || whole {
			return err
		}
	}
}

// method reads a method frame; whole is false if a content comes with it.
func (c *Conn) method(ev *Event, f protocol.Frame) (whole bool, err error) {
	args := f.Payload[4:]
	switch be.Uint32(f.Payload) {
	case deliverKey: // a consumer's tag, the delivery's, whether it came before, …
		if len(args) < 1 || len(args) < int(args[0])+10 {
			return false, errShort
		}
		args = args[1+int(args[0]):]
		p := c.part(f.Channel)
		p.kind, p.tag, p.flag = Deliver, be.Uint64(args), args[8]&1 == 1
		return false, nil
	case returnKey:
		c.part(f.Channel).kind = Return
		return false, nil
	case ackKey, nackKey:
		if len(args) < 9 {
			return false, errShort
		}
		*ev = Event{Kind: Ack, Channel: f.Channel, Tag: be.Uint64(args), Flag: args[8]&1 == 1}
		if be.Uint32(f.Payload) == nackKey {
			ev.Kind = Nack
		}
		return true, nil
	}
	*ev = Event{Kind: Method, Channel: f.Channel, payload: f.Payload}
	return true, nil
}

func (c *Conn) header(ev *Event, f protocol.Frame) (whole bool, err error) {
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return false, err
	}
	p := c.part(f.Channel)
	p.left, p.body = h.BodySize, p.body[:0]
	p.properties = append(p.properties[:0], h.Properties...)
	if p.left > 0 {
		return false, nil
	}
	p.event(ev, f.Channel, nil)
	return true, nil
}

// body reads a body frame; a body of one frame is not copied.
func (c *Conn) body(ev *Event, f protocol.Frame) (whole bool, err error) {
	p, n := c.part(f.Channel), uint64(len(f.Payload))
	if p.kind == 0 || n > p.left {
		return false, fmt.Errorf("a body of %d bytes too many on channel %d", n-p.left, f.Channel)
	}
	p.left -= n
	if len(p.body) == 0 && p.left == 0 {
		p.event(ev, f.Channel, f.Payload)
		return true, nil
	}
	p.body = append(p.body, f.Payload...)
	if p.left > 0 {
		return false, nil
	}
	p.event(ev, f.Channel, p.body)
	return true, nil
}

func (p *content) event(ev *Event, ch uint16, body []byte) {
	*ev = Event{Kind: p.kind, Channel: ch, Tag: p.tag, Flag: p.flag, Properties: p.properties, Body: body}
}

func (c *Conn) part(ch uint16) *content {
	for int(ch) >= len(c.parts) {
		c.parts = append(c.parts, &content{})
	}
	return c.parts[ch]
}

// Closed is a close that the broker sent.
type Closed struct {
	Scope string // connection, channel or consumer
	Code  uint16
	Text  string
}

// Error implements error.
func (e *Closed) Error() string {
	return fmt.Sprintf("the broker closed the %s: %d %s", e.Scope, e.Code, e.Text)
}

// Closed answers a close, and returns it; nil for any other event. A consumer that the broker cancels is closed too.
func (c *Conn) Closed(ev *Event) error {
	if ev.Kind != Method {
		return nil
	}
	m, err := ev.Decode()
	if err != nil {
		return err
	}
	return c.closed(ev.Channel, m)
}

func (c *Conn) closed(ch uint16, m protocol.Method) error {
	switch m := m.(type) {
	case *protocol.ConnectionClose:
		_ = c.Send(0, &protocol.ConnectionCloseOk{}) // it is over in any case
		return &Closed{"connection", m.ReplyCode, m.ReplyText}
	case *protocol.ChannelClose:
		_ = c.Send(ch, &protocol.ChannelCloseOk{}) // the channel is over in any case
		return &Closed{"channel", m.ReplyCode, m.ReplyText}
	case *protocol.BasicCancel:
		return &Closed{"consumer", 0, "its queue is gone"}
	}
	return nil
}
