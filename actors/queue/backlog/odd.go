package backlog

import "candlemark/internal/message"

// odd holds the rarely used parts of a backlog. nil is empty.
type odd struct {
	overlays map[Handle]*message.Overlay
	extra    int64 // bytes of amendments in overlays
	disorder bool  // messages are not in the order of their numbers
}

func oddities(b *Backlog) *odd {
	if b.odd == nil {
		b.odd = &odd{}
	}
	return b.odd
}

// size returns the bytes that are counted.
func (o *odd) size() int64 {
	if o == nil {
		return 0
	}
	return o.extra
}

// SetOverlay replaces the overlay of h; nil removes it.
func (b *Backlog) SetOverlay(h Handle, o *message.Overlay) {
	e := b.Entry(h)
	if e.flags&flagOverlay != 0 {
		dropOverlay(b, h)
		e.flags &^= flagOverlay
	}
	if o == nil {
		return
	}
	x := oddities(b)
	if x.overlays == nil {
		x.overlays = make(map[Handle]*message.Overlay)
	}
	e.flags |= flagOverlay
	x.overlays[h] = o
	x.extra += o.Extra()
}

// dropOverlay removes the overlay of h, which must have one.
func dropOverlay(b *Backlog, h Handle) {
	b.odd.extra -= b.odd.overlays[h].Extra()
	delete(b.odd.overlays, h)
}
