package session10

import (
	"encoding/binary"
	"slices"

	"candlemark/actors/client/session10/window"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// This part writes messages as transfers of a session, as many as necessary for the client's frame size.
//
// Owns: the current message, which is partly written.
//
// Deadlines: none. A restart loses the rest of a message, and the session with it.

// transferRoom is the part of a frame, in bytes, that is not message content: the frame header and the transfer.
const transferRoom = 64

// transferWriter is the destination of transfers.
type transferWriter struct {
	Outbox   *outbox.Outbox
	Channel  uint16
	FrameMax uint32 // largest frame that the client accepts, in bytes
	Windows  *window.Session
}

// transferMessage is a message that is being written.
type transferMessage struct {
	head []byte // its sections up to the body
	body []byte
	t    amqp10.Transfer
	tag  [16]byte
}

// Begin starts a message, whose delivery tag is its id. It aliases head and body.
func (m *transferMessage) Begin(handle, id uint32, head, body []byte, settled bool) {
	binary.BigEndian.PutUint32(m.tag[:4], id)
	m.head, m.body = head, body
	m.t = amqp10.Transfer{
		Handle: handle, DeliveryID: amqp10.Some(id), DeliveryTag: m.tag[:4], MessageFormat: amqp10.Some(uint32(0)), Settled: settled,
	}
}

// Tag sets another delivery tag for a message that was begun.
func (m *transferMessage) Tag(tag [16]byte) {
	m.tag = tag
	m.t.DeliveryTag = m.tag[:]
}

// Append appends the rest of a message, as far as the client's window allows; whole is false if some is left. An owned
// body is referenced, not copied.
func (m *transferMessage) Append(b []byte, to *transferWriter, owned bool) (_ []byte, whole bool) {
	limit := int(min(to.FrameMax, 1<<30)) - transferRoom
	for to.Windows.RemoteIncoming > 0 {
		start := len(b)
		m.t.More = len(m.head)+len(m.body) > limit
		b = hotpath.AppendTransfer(b, to.Channel, &m.t)
		head := m.head[:min(len(m.head), limit)]
		body := m.body[:min(len(m.body), limit-len(head))]
		b = append(b, head...)
		size := len(b) - start + len(body)
		binary.BigEndian.PutUint32(b[start:], uint32(size))
		if n := len(body) - 1; owned && n >= outbox.MinReference { // something must follow the reference
			b = append(to.Outbox.Refer(b, body[:n]), body[n])
		} else {
			b = append(b, body...)
		}
		m.head, m.body = m.head[len(head):], m.body[len(body):]
		to.Windows.Sent()
		if !m.t.More {
			return b, true
		}
		m.t = amqp10.Transfer{Handle: m.t.Handle}
	}
	if !owned { // the rest waits
		m.body = slices.Clone(m.body)
	}
	m.head = slices.Clone(m.head)
	return b, false
}
