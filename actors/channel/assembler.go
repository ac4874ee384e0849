package channel

import (
	"slices"

	"candlemark/protocol"
)

// assembler puts a publish together: method, content header, body frames.
type assembler struct {
	stage   stage
	publish protocol.PublishView
	raw     []byte // property flags and list
	size    uint64 // of the body
	content []byte // the body so far
	joined  bool   // content is memory of our own
	owned   bool   // publish and raw are too
	early   bool   // publish is, because the content header came in a later read
}

type stage uint8

const (
	idle stage = iota
	wantHeader
	wantBody
	complete
)

// startSize bounds what a content header alone makes us allocate, in bytes; the
// body grows from there as it really comes.
const startSize = 1 << 20

func (a *assembler) busy() bool { return a.stage != idle }

func (a *assembler) reset() { *a = assembler{} }

func (a *assembler) method(payload []byte) error {
	a.reset()
	if err := protocol.DecodePublish(payload, &a.publish); err != nil {
		return err
	}
	if a.publish.Immediate {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "immediate=true").For(&protocol.BasicPublish{})
	}
	a.stage = wantHeader
	return nil
}

// header takes the content header. A body beyond limit is refused before any of
// it is kept.
func (a *assembler) header(f protocol.Frame, limit uint64) error {
	if a.stage != wantHeader {
		return f.Unexpected()
	}
	h, err := protocol.ParseContentHeader(f.Payload)
	if err != nil {
		return err
	}
	if h.ClassID != 60 {
		return f.Unexpected()
	}
	if h.BodySize > limit {
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"message size %d is larger than configured max size %d", h.BodySize, limit).For(&protocol.BasicPublish{})
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
		return f.Unexpected()
	}
	have := uint64(len(a.content)) + uint64(len(f.Payload))
	switch {
	case have > a.size:
		return f.Unexpected()
	case have == a.size && !a.joined:
		a.content = f.Payload
	case len(f.Payload) == 0:
		return nil
	default:
		if !a.joined {
			a.content = make([]byte, 0, min(a.size, startSize))
			a.joined = true
		}
		a.content = append(slices.Grow(a.content, int(min(a.size-uint64(len(a.content)), 2*uint64(len(a.content))+1))), f.Payload...)
	}
	if have == a.size {
		a.stage = complete
	}
	return nil
}

// own copies what aliases the read chunk, before the chunk is let go: the rest
// of the content is still to come.
func (a *assembler) own() {
	if !a.busy() || a.owned {
		return
	}
	a.publish.Exchange = slices.Clone(a.publish.Exchange)
	a.publish.RoutingKey = slices.Clone(a.publish.RoutingKey)
	a.raw = slices.Clone(a.raw)
	a.early = true
	a.owned = a.stage != wantHeader // else raw is still to come
}

// unify makes a complete content either all alias the present chunk, which is
// the rule, or all memory of its own.
func (a *assembler) unify() {
	if !a.owned && !a.joined && !a.early {
		return
	}
	a.own()
	if !a.joined {
		a.content = slices.Clone(a.content)
	}
	a.owned = true
}
