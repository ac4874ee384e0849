package assembler

import (
	"errors"
	"slices"

	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// Assembler assembles a publish: method, content header, body frames. The exported fields are read-only; they alias the
// reads in which they arrived unless Owned.
type Assembler struct {
	Publish    protocol.PublishView
	Properties []byte // flags and list
	Content    []byte // the body received so far
	Owned      bool   // Publish and Properties are copies; once complete, Content too
	stage      stage
	size       uint64 // size of the body
	got        uint64 // bytes of the body received
	joined     bool   // Content is a copy
	early      bool   // Publish is a copy, as the content header arrived in a later read
	// An incomplete content is kept across reads only with room for all of it, and if it is valid (Settled).
	room    budget.Arrival
	held    bool  // room was granted
	refusal error // error of the content, which is discarded; returned when the content is complete
}

type stage uint8

const (
	idle stage = iota
	wantHeader
	wantBody
	complete
)

// maxBodySize is the largest body size that clients of AMQP 0-9-1 may announce; a larger one is a malformed frame,
// not a message that is too large, as in RabbitMQ.
const maxBodySize = 512 << 20

// PublishMethod is the method in errors about contents.
var PublishMethod protocol.Method = &protocol.BasicPublish{}

// Busy reports whether a content has begun and is not yet taken.
func (a *Assembler) Busy() bool { return a.stage != idle }

// Partial reports whether a body is incomplete.
func (a *Assembler) Partial() bool { return a.stage == wantBody }

// Reset drops the content and returns its room.
func (a *Assembler) Reset() {
	a.room.Return()
	*a = Assembler{}
}

// Unexpected returns the error for an unexpected frame: 505, with RabbitMQ's texts.
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

// Method handles basic.publish, which starts a content.
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

// Header handles the content header. A body larger than limit is refused before any part of it is kept.
func (a *Assembler) Header(f protocol.Frame, limit uint64) error {
	if a.stage != wantHeader {
		return a.Unexpected()
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return Blame(err)
	}
	switch {
	case h.BodySize > maxBodySize:
		return protocol.ConnectionErrorf(protocol.FrameErr,
			"content body size %d exceeds maximum allowed size %d", h.BodySize, maxBodySize).For(PublishMethod)
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

// Body handles a body frame. A body of a single frame is not copied.
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

// Prolongs reports whether a frame has a part of a body that has to be kept until the rest arrives.
func (a *Assembler) Prolongs(f protocol.Frame) bool {
	return f.Type == protocol.FrameBody && a.stage == wantBody && len(f.Payload) > 0 && uint64(len(f.Payload)) < a.size-a.got
}

// join appends a part of the body, of which left bytes were missing. The allocation grows with the bytes received,
// not with the size announced.
func (a *Assembler) join(part []byte, left int) {
	a.joined = true
	if free := cap(a.Content) - len(a.Content); free < len(part) {
		a.Content = slices.Grow(a.Content, min(left, 2*len(a.Content)+4*len(part)))
	}
	a.Content = append(a.Content, part...)
}

// Refuse sets the error of an incomplete content. As in RabbitMQ the client gets it when the content is complete, so
// that the order of events is the same; until then the content is discarded.
func (a *Assembler) Refuse(err error) {
	a.room.Return()
	a.refusal, a.held = err, false
	a.Publish, a.Properties, a.Content = protocol.PublishView{}, nil, nil
}

// Settled reports whether the content has room or was refused.
func (a *Assembler) Settled() bool { return a.held || a.refusal != nil }

// Ask requests room for all of the content. If it returns false, decided is called with number once there is room, or
// once it is certain that room will never exist; then Decide has to be called.
func (a *Assembler) Ask(of *budget.Arrivals, number uint64, decided func(number uint64, granted bool)) bool {
	bytes := int64(a.size) + int64(len(a.Properties)+len(a.Publish.Exchange)+len(a.Publish.RoutingKey))
	a.held = a.room.Ask(of, bytes, number, decided)
	return a.held
}

// Decide handles the answer to Ask.
func (a *Assembler) Decide(granted bool) {
	if a.held = granted; !granted {
		a.Refuse(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for a message of %d bytes while the other messages of this connection are incomplete", a.size))
	}
}

// Own copies the parts that alias the read chunk, before the chunk is released with the rest of the content still
// missing.
func (a *Assembler) Own() {
	if !a.Busy() || a.Owned || a.refusal != nil {
		return
	}
	if !a.early {
		a.Publish.Exchange = slices.Clone(a.Publish.Exchange)
		a.Publish.RoutingKey = slices.Clone(a.Publish.RoutingKey)
		a.early = true
	}
	if a.stage != wantHeader { // otherwise Properties have not arrived
		a.Properties = slices.Clone(a.Properties)
		a.Owned = true
	}
}

// Take reports whether the content is complete, and its error, if any. A complete valid content aliases the current
// read completely, the usual case, or is copied completely.
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

// Blame adds the ids of basic.publish to an error that has none (ERR-1).
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
