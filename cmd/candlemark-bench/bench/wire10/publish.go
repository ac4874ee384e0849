package wire10

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// mark is the id and the tag of a publish that is yet to be numbered: both are found by it.
const mark = 0xc0ffee77

// sent are the properties that a publish may have.
const sent = protocol.FlagContentType | protocol.FlagContentEncoding | protocol.FlagHeaders | protocol.FlagDeliveryMode | protocol.FlagPriority |
	protocol.FlagCorrelationID | protocol.FlagReplyTo | protocol.FlagExpiration | protocol.FlagMessageID | protocol.FlagUserID

// begin begins a session. Sessions are begun in the order of their channels, from 0 on, so the broker's have the same numbers.
func (c *Conn) begin(ch uint16, l *link) error {
	err := c.send(ch, &amqp10.Begin{IncomingWindow: 1<<31 - 1, OutgoingWindow: 1<<31 - 1, HandleMax: 7})
	if err != nil {
		return err
	}
	p, err := c.await(ch)
	b, is := p.(*amqp10.Begin)
	if !is {
		return otherwise(err, p)
	}
	if b.RemoteChannel.Or(ch) != ch || int(ch) != len(c.links) {
		return fmt.Errorf("session %d is none of the broker's %d", ch, b.RemoteChannel.Value)
	}
	c.links = append(c.links, l)
	if l.incoming = b.NextOutgoingID; l.sender {
		l.window = uint64(b.IncomingWindow) / l.frames
	}
	return nil
}

// attach attaches the link of a session; passed gets the events that arrive before the answer.
func (c *Conn) attach(ch uint16, a *amqp10.Attach, passed ...func(*wire.Event)) error {
	a.Name = fmt.Sprint("bench ", c.LocalAddr(), " ", ch)
	if err := c.send(ch, a); err != nil {
		return err
	}
	p, err := c.await(ch, passed...)
	if _, is := p.(*amqp10.Attach); !is {
		return otherwise(err, p)
	}
	return nil
}

// Publisher begins a session and attaches a link for messages such as p. Credit comes as events.
func (c *Conn) Publisher(ch uint16, p *wire.Publish, confirms bool) error {
	if p.Properties.Flags&^sent != 0 || p.Mandatory {
		return errors.New("a publish in AMQP 1.0 is not mandatory and has no properties of 0-9-1 alone")
	}
	l := &link{sender: true, settled: !confirms}
	example, _ := c.encode(nil, l, p, mark)
	l.frames = frames(example)
	if err := c.begin(ch-1, l); err != nil {
		return err
	}
	mode := amqp10.SenderUnsettled
	if l.settled {
		mode = amqp10.SenderSettled
	}
	address := "/queues/" + url.PathEscape(p.Key)
	if p.Exchange != "" {
		address = "/exchanges/" + url.PathEscape(p.Exchange) + "/" + url.PathEscape(p.Key)
	}
	return c.attach(ch-1, &amqp10.Attach{
		Role: amqp10.RoleSender, SndSettleMode: mode, Source: &amqp10.Source{}, Target: &amqp10.Target{Address: amqp10.Some(address)},
		InitialDeliveryCount: amqp10.Some(uint32(0)),
	})
}

// Credit returns the number of the last publish that a publisher has credit for, as far as events were read.
func (c *Conn) Credit(ch uint16) uint64 {
	l := c.links[ch-1]
	return min(l.credit, l.window)
}

// Batch encodes n copies of a publish.
func (c *Conn) Batch(n int, p *wire.Publish) *wire.Batch {
	l := c.links[p.Channel-1]
	one, body := c.encode(nil, l, p, mark)
	id, tag := numbers(one)
	return wire.NewBatch(n, one, body, func(message []byte) {
		binary.BigEndian.PutUint32(message[id:], l.next)
		binary.BigEndian.PutUint32(message[tag:], l.next)
		l.next++
	})
}

// Append appends a publish, encoded.
func (c *Conn) Append(dst []byte, p *wire.Publish) []byte {
	l := c.links[p.Channel-1]
	start := len(dst)
	dst, _ = c.encode(dst, l, p, mark)
	id, tag := numbers(dst[start:]) // as long as in the example that the number of frames was computed from
	binary.BigEndian.PutUint32(dst[start+id:], l.next)
	binary.BigEndian.PutUint32(dst[start+tag:], l.next)
	l.next++
	return dst
}

// numbers returns where the id and the tag of a publish are that is yet to be numbered.
func numbers(message []byte) (id, tag int) {
	number := binary.BigEndian.AppendUint32(nil, mark)
	id = bytes.Index(message, number)
	return id, id + 4 + bytes.Index(message[id+4:], number)
}

// frames returns how many a message has, encoded.
func frames(message []byte) (n uint64) {
	for ; len(message) > 0; n++ {
		message = message[binary.BigEndian.Uint32(message):]
	}
	return n
}

// encode appends the frames of a publish, and returns where the first byte of its body is.
func (c *Conn) encode(dst []byte, l *link, p *wire.Publish, id uint32) (grown []byte, body int) {
	head := amqp10.AppendDataHead(sections(p), len(p.Body))
	t := &amqp10.Transfer{
		DeliveryID: amqp10.Some(id), DeliveryTag: binary.BigEndian.AppendUint32(nil, id), MessageFormat: amqp10.Some(uint32(0)), Settled: l.settled,
	}
	start := len(dst)
	dst = amqp10.AppendTransfer(dst, p.Channel-1, t, c.frameMax, head, p.Body)
	first := dst[start : start+int(binary.BigEndian.Uint32(dst[start:]))]
	_, payload, err := amqp10.Frame{Body: first[8:]}.Decode()
	if err != nil {
		panic(err) // it was encoded just now
	}
	return dst, start + len(first) - len(payload) + len(head)
}

// sections returns the sections before the body.
func sections(p *wire.Publish) []byte {
	q := &p.Properties
	h := amqp10.Header{Durable: q.Has(protocol.FlagDeliveryMode) && q.DeliveryMode == 2}
	if q.Has(protocol.FlagPriority) {
		h.Priority = amqp10.Some(q.Priority)
	}
	if q.Has(protocol.FlagExpiration) {
		ttl, _ := strconv.ParseUint(q.Expiration, 10, 32)
		h.TTL = amqp10.Some(uint32(ttl))
	}
	dst := amqp10.AppendComposite(nil, &h)
	id := func(flag uint16, text string) (v amqp10.Value) {
		if q.Has(flag) {
			v = amqp10.AppendString(nil, text)
		}
		return v
	}
	text := func(flag uint16, text string) (b []byte) {
		if q.Has(flag) {
			b = []byte(text)
		}
		return b
	}
	if q.Flags&^(protocol.FlagDeliveryMode|protocol.FlagPriority|protocol.FlagExpiration|protocol.FlagHeaders) != 0 {
		dst = amqp10.AppendComposite(dst, &amqp10.Properties{
			MessageID: id(protocol.FlagMessageID, q.MessageID), CorrelationID: id(protocol.FlagCorrelationID, q.CorrelationID),
			UserID: text(protocol.FlagUserID, q.UserID), ReplyTo: text(protocol.FlagReplyTo, q.ReplyTo),
			ContentType: text(protocol.FlagContentType, q.ContentType), ContentEncoding: text(protocol.FlagContentEncoding, q.ContentEncoding),
		})
	}
	if q.Has(protocol.FlagHeaders) {
		fields := make(amqp10.Map, 0, len(q.Headers))
		for _, f := range q.Headers {
			fields = append(fields, amqp10.Entry{Key: f.Key, Value: fmt.Sprint(f.Value)})
		}
		v, _ := amqp10.Append(nil, fields) // texts
		dst = amqp10.AppendSection(dst, amqp10.SectionApplicationProperties, v)
	}
	return dst
}

// Finish ends the session of a publisher, which the broker answers when it has taken everything; see Finished.
func (c *Conn) Finish(ch uint16) error { return c.send(ch-1, &amqp10.End{}) }

// Finished reports whether the event is the answer to Finish.
func (c *Conn) Finished(ev *wire.Event) bool {
	_, is := c.answer.(*amqp10.End)
	return ev.Kind == wire.Method && is
}
