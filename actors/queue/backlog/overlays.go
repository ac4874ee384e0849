package backlog

import "candlemark/internal/routing/message"

// rareParts are the rarely used parts of a backlog. nil has none.
type rareParts struct {
	overlays map[Handle]*message.Overlay
	extra    int64 // bytes of amendments in overlays
	disorder bool  // messages are not in the order of their numbers
	retimed  retimed
}

// withRare returns the rarely used parts of b, which it creates if there are none yet.
func withRare(b *Backlog) *rareParts {
	if b.rare == nil {
		b.rare = &rareParts{}
	}
	return b.rare
}

// size returns the counted bytes of overlays.
func (o *rareParts) size() int64 {
	if o == nil {
		return 0
	}
	return o.extra
}

// memory returns the counted bytes.
func (o *rareParts) memory() int64 {
	if o == nil {
		return 0
	}
	return o.extra + o.retimed.size()
}

// SetOverlay replaces the overlay of h; nil removes it.
func (b *Backlog) SetOverlay(h Handle, o *message.Overlay) {
	e := b.Entry(h)
	if e.flags&flagOverlay != 0 {
		b.rare.drop(h)
		e.flags &^= flagOverlay
	}
	if o == nil {
		return
	}
	x := withRare(b)
	if x.overlays == nil {
		x.overlays = make(map[Handle]*message.Overlay)
	}
	e.flags |= flagOverlay
	x.overlays[h] = o
	x.extra += o.Extra()
}

// drop removes the overlay of h, which must have one.
func (o *rareParts) drop(h Handle) {
	o.extra -= o.overlays[h].Extra()
	delete(o.overlays, h)
}
