package channel

import (
	"errors"
	"slices"

	"candlemark/internal/budget"
	"candlemark/protocol"
)

// assembler puts a publish together: method, content header, body frames.
type assembler struct {
	stage   stage
	publish protocol.PublishView
	raw     []byte // property flags and list
	size    uint64 // of the body
	got     uint64 // bytes of it have come
	content []byte // the body so far
	joined  bool   // content is memory of our own
	owned   bool   // publish and raw are too
	early   bool   // publish is, because the content header came in a later read
	// While the content is not whole, what has come of it is kept only with room
	// that it has asked for, and if nothing is wrong with it (mayKeep).
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

// publishMethod is the method that errors in contents name.
var publishMethod protocol.Method = &protocol.BasicPublish{}

func (a *assembler) busy() bool { return a.stage != idle }

func (a *assembler) reset() {
	a.room.Return()
	*a = assembler{}
}

// unexpected is the error for a frame that does not belong to what has come so
// far: 505, with RabbitMQ's texts.
func (a *assembler) unexpected() error {
	switch a.stage {
	case idle:
		return protocol.ConnectionErrorf(protocol.UnexpectedFrame, "expected method frame, got non method frame instead")
	case wantHeader:
		return protocol.ConnectionErrorf(protocol.UnexpectedFrame,
			"expected content header for class 60, got non content header frame instead").For(publishMethod)
	case wantBody, complete:
	}
	return protocol.ConnectionErrorf(protocol.UnexpectedFrame,
		"expected content body, got non content body frame instead").For(publishMethod)
}

func (a *assembler) method(payload []byte) error {
	a.reset()
	if err := protocol.DecodePublish(payload, &a.publish); err != nil {
		return err
	}
	if a.publish.Immediate {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "immediate=true").For(publishMethod)
	}
	a.stage = wantHeader
	return nil
}

// header takes the content header. A body beyond limit is refused before any of
// it is kept.
func (a *assembler) header(f protocol.Frame, limit uint64) error {
	if a.stage != wantHeader {
		return a.unexpected()
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return blamePublish(err)
	}
	switch {
	case h.BodySize > largestBody:
		return protocol.ConnectionErrorf(protocol.FrameErr,
			"content body size %d exceeds maximum allowed size %d", h.BodySize, largestBody).For(publishMethod)
	case h.BodySize > limit:
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"message size %d is larger than configured max size %d", h.BodySize, limit).For(publishMethod)
	}
	a.raw, a.size = h.Properties, h.BodySize
	a.stage = wantBody
	if a.size == 0 {
		a.stage = complete
	}
	return nil
}

// body takes a body frame. A body of one frame is not copied.
func (a *assembler) body(f protocol.Frame) error {
	if a.stage != wantBody {
		return a.unexpected()
	}
	left := a.size - a.got
	part := f.Payload
	if uint64(len(part)) > left {
		return protocol.ConnectionErrorf(protocol.FrameErr,
			"content body frame exceeds remaining content size").For(publishMethod)
	}
	a.got += uint64(len(part))
	a.room.Came(len(part))
	if a.got == a.size {
		a.stage = complete
	}
	switch {
	case a.refusal != nil || len(part) == 0:
	case a.got == a.size && !a.joined:
		a.content = part
	default:
		a.join(part, int(left))
	}
	return nil
}

// prolongs reports whether a frame brings a part of a body that has to be kept
// until the rest comes.
func (a *assembler) prolongs(f protocol.Frame) bool {
	return f.Type == protocol.FrameBody && a.stage == wantBody && len(f.Payload) > 0 && uint64(len(f.Payload)) < a.size-a.got
}

// join appends a part of the body, of which left bytes were to come. What is
// allocated grows with what has really come, not with what was announced.
func (a *assembler) join(part []byte, left int) {
	a.joined = true
	if free := cap(a.content) - len(a.content); free < len(part) {
		a.content = slices.Grow(a.content, min(left, 2*len(a.content)+4*len(part)))
	}
	a.content = append(a.content, part...)
}

// refuse notes what is wrong with a content before it is whole. As in RabbitMQ the
// client is told when it is, so that it meets the same order of events; until then
// what comes of it is forgotten.
func (a *assembler) refuse(err error) {
	a.room.Return()
	a.refusal, a.held = err, false
	a.publish, a.raw, a.content = protocol.PublishView{}, nil, nil
}

// bytes is how much a content keeps when it is whole.
func (a *assembler) bytes() int64 {
	return int64(a.size) + int64(len(a.raw)+len(a.publish.Exchange)+len(a.publish.RoutingKey))
}

// own copies what aliases the read chunk, before the chunk is let go: the rest
// of the content is still to come.
func (a *assembler) own() {
	if !a.busy() || a.owned || a.refusal != nil {
		return
	}
	if !a.early {
		a.publish.Exchange = slices.Clone(a.publish.Exchange)
		a.publish.RoutingKey = slices.Clone(a.publish.RoutingKey)
		a.early = true
	}
	if a.stage != wantHeader { // else raw is still to come
		a.raw = slices.Clone(a.raw)
		a.owned = true
	}
}

// unify makes a complete content either all alias the present chunk, which is
// the rule, or all memory of its own.
func (a *assembler) unify() {
	if !a.joined && !a.early {
		return
	}
	a.own()
	if !a.joined {
		a.content = slices.Clone(a.content)
		a.joined = true
	}
}

// blamePublish gives an error the ids of basic.publish if it has none (ERR-1).
func blamePublish(err error) error {
	var ce *protocol.ChannelError
	if errors.As(err, &ce) && ce.Class == 0 {
		return ce.For(publishMethod)
	}
	var oe *protocol.ConnectionError
	if errors.As(err, &oe) && oe.Class == 0 {
		return oe.For(publishMethod)
	}
	return err
}
