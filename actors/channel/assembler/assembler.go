package assembler

import (
	"errors"
	"slices"

	"candlemark/internal/budget"
	"candlemark/protocol"
)

// Assembler puts a publish together: method, content header, body frames. The
// exported fields are for reading; they alias the reads that they came in unless Owned.
type Assembler struct {
	Publish    protocol.PublishView
	Properties []byte // flags and list
	Content    []byte // the body so far
	Owned      bool   // Publish and Properties are memory of our own, at the end Content too
	stage      stage
	size       uint64 // of the body
	got        uint64 // bytes of it have come
	joined     bool   // Content is memory of our own
	early      bool   // Publish is, because the content header came in a later read
	// While the content is not whole, what has come of it is kept only with room
	// that it has asked for, and if nothing is wrong with it (Settled).
	room    budget.Arrival
	held    bool  // it has room
	refusal error // what is wrong; nothing is kept, and its end is answered with this
}

type stage uint8

const (
	idle stage = iota
	wantHeader
	wantBody
	complete
)

// largestBody is the most bytes that AMQP 0-9-1 clients may announce; beyond
// that it is not a message that is too large but a broken frame, as in RabbitMQ.
const largestBody = 512 << 20

// PublishMethod is the method that errors in contents name.
var PublishMethod protocol.Method = &protocol.BasicPublish{}

// Busy tells whether a content has begun and is not taken yet.
func (a *Assembler) Busy() bool { return a.stage != idle }

// Partial tells whether the body is not whole yet.
func (a *Assembler) Partial() bool { return a.stage == wantBody }

// Reset forgets the content and gives its room back.
func (a *Assembler) Reset() {
	a.room.Return()
	*a = Assembler{}
}

// Unexpected is the error for a frame that does not belong to what has come so
// far: 505, with RabbitMQ's texts.
func (a *Assembler) Unexpected() error {
	switch a.stage {
	case idle:
		return protocol.ConnectionErrorf(protocol.UnexpectedFrame, "expected method frame, got non method frame instead")
	case wantHeader:
		return protocol.ConnectionErrorf(protocol.UnexpectedFrame,
			"expected content header for class 60, got non content header frame instead").For(PublishMethod)
	case wantBody, complete:
	}
	return protocol.ConnectionErrorf(protocol.UnexpectedFrame,
		"expected content body, got non content body frame instead").For(PublishMethod)
}

// Method takes basic.publish, with which a content begins.
func (a *Assembler) Method(payload []byte) error {
	a.Reset()
	if err := protocol.DecodePublish(payload, &a.Publish); err != nil {
		return err
	}
	if a.Publish.Immediate {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "immediate=true").For(PublishMethod)
	}
	a.stage = wantHeader
	return nil
}

// Header takes the content header. A body beyond limit is refused before any of
// it is kept.
func (a *Assembler) Header(f protocol.Frame, limit uint64) error {
	if a.stage != wantHeader {
		return a.Unexpected()
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return Blame(err)
	}
	switch {
	case h.BodySize > largestBody:
		return protocol.ConnectionErrorf(protocol.FrameErr,
			"content body size %d exceeds maximum allowed size %d", h.BodySize, largestBody).For(PublishMethod)
	case h.BodySize > limit:
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"message size %d is larger than configured max size %d", h.BodySize, limit).For(PublishMethod)
	}
	a.Properties, a.size = h.Properties, h.BodySize
	a.stage = wantBody
	if a.size == 0 {
		a.stage = complete
	}
	return nil
}

// Body takes a body frame. A body of one frame is not copied.
func (a *Assembler) Body(f protocol.Frame) error {
	if a.stage != wantBody {
		return a.Unexpected()
	}
	left := a.size - a.got
	part := f.Payload
	if uint64(len(part)) > left {
		return protocol.ConnectionErrorf(protocol.FrameErr,
			"content body frame exceeds remaining content size").For(PublishMethod)
	}
	a.got += uint64(len(part))
	a.room.Came(len(part))
	if a.got == a.size {
		a.stage = complete
	}
	switch {
	case a.refusal != nil || len(part) == 0:
	case a.got == a.size && !a.joined:
		a.Content = part
	default:
		a.join(part, int(left))
	}
	return nil
}

// Prolongs reports whether a frame brings a part of a body that has to be kept
// until the rest comes.
func (a *Assembler) Prolongs(f protocol.Frame) bool {
	return f.Type == protocol.FrameBody && a.stage == wantBody && len(f.Payload) > 0 && uint64(len(f.Payload)) < a.size-a.got
}

// join appends a part of the body, of which left bytes were to come. What is
// allocated grows with what has really come, not with what was announced.
func (a *Assembler) join(part []byte, left int) {
	a.joined = true
	if free := cap(a.Content) - len(a.Content); free < len(part) {
		a.Content = slices.Grow(a.Content, min(left, 2*len(a.Content)+4*len(part)))
	}
	a.Content = append(a.Content, part...)
}

// Refuse notes what is wrong with a content before it is whole. As in RabbitMQ the
// client is told when it is, so that it meets the same order of events; until then
// what comes of it is forgotten.
func (a *Assembler) Refuse(err error) {
	a.room.Return()
	a.refusal, a.held = err, false
	a.Publish, a.Properties, a.Content = protocol.PublishView{}, nil, nil
}

// Settled tells whether the content has room, or is refused.
func (a *Assembler) Settled() bool { return a.held || a.refusal != nil }

// Ask asks for room for all of the content. False: decided is called with the number
// when there is some or never will be, and Decide is to be called then.
func (a *Assembler) Ask(of *budget.Arrivals, number uint64, decided func(number uint64, granted bool)) bool {
	bytes := int64(a.size) + int64(len(a.Properties)+len(a.Publish.Exchange)+len(a.Publish.RoutingKey))
	a.held = a.room.Ask(of, bytes, number, decided)
	return a.held
}

// Decide ends the waiting for room.
func (a *Assembler) Decide(granted bool) {
	if a.held = granted; !granted {
		a.Refuse(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for a message of %d bytes besides the others that this connection has begun", a.size))
	}
}

// Own copies what aliases the read chunk, before the chunk is let go: the rest
// of the content is still to come.
func (a *Assembler) Own() {
	if !a.Busy() || a.Owned || a.refusal != nil {
		return
	}
	if !a.early {
		a.Publish.Exchange = slices.Clone(a.Publish.Exchange)
		a.Publish.RoutingKey = slices.Clone(a.Publish.RoutingKey)
		a.early = true
	}
	if a.stage != wantHeader { // else raw is still to come
		a.Properties = slices.Clone(a.Properties)
		a.Owned = true
	}
}

// Take tells whether the content is whole, and what is wrong with it if that was
// noted. What is whole and good either all aliases the present read, which is the
// rule, or is all memory of our own.
func (a *Assembler) Take() (whole bool, refusal error) {
	if a.stage != complete {
		return false, nil
	}
	if a.refusal == nil && (a.joined || a.early) {
		a.Own()
		if !a.joined {
			a.Content = slices.Clone(a.Content)
			a.joined = true
		}
	}
	return true, a.refusal
}

// Blame gives an error the ids of basic.publish if it has none (ERR-1).
func Blame(err error) error {
	var ce *protocol.ChannelError
	if errors.As(err, &ce) && ce.Class == 0 {
		return ce.For(PublishMethod)
	}
	var oe *protocol.ConnectionError
	if errors.As(err, &oe) && oe.Class == 0 {
		return oe.For(PublishMethod)
	}
	return err
}
