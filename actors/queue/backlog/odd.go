package backlog

import "candlemark/internal/message"

// odd holds the rare parts of a backlog. nil has nothing.
type odd struct {
	overlays map[Handle]*message.Overlay
	extra    int64 // bytes of what was amended in them
	disorder bool  // there are messages in another order than that of their numbers
}

func oddities(b *Backlog) *odd {
	if b.odd == nil {
		b.odd = &odd{}
	}
	return b.odd
}

// size is how many bytes of it are counted.
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

// dropOverlay forgets the overlay of h, which has one.
func dropOverlay(b *Backlog, h Handle) {
	b.odd.extra -= b.odd.overlays[h].Extra()
	delete(b.odd.overlays, h)
}
