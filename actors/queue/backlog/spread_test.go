package backlog

import (
	"testing"

	"candlemark/internal/routing/message"
)

// TestSpread_DL32: the spread of a message is kept with its content, in the slab or by reference, with an overlay or
// without.
func TestSpread_DL32(t *testing.T) {
	var b Backlog
	for i, r := range []Record{
		{Spread: 0},
		{Spread: 63},
		{Spread: 5, Body: make([]byte, 1000), Shared: true},
		{Spread: 7, Body: make([]byte, 2*maxRecord)},
		{Spread: 9, Overlay: &message.Overlay{Hops: 1}},
	} {
		h := b.Push(&r)
		if i == 4 {
			b.SetOverlay(h, &message.Overlay{Hops: 2})
			b.SetOverlay(h, nil)
		}
		var got Record
		if b.Get(h, &got); got.Spread != r.Spread {
			t.Errorf("%d: spread %d", i, got.Spread)
		}
		b.SetPlace(h, 1)
		b.PageOut(h)
		b.PageIn(h, &Record{Body: r.Body})
		got = Record{}
		if b.Get(h, &got); got.Spread != 0 || got.Overlay != nil {
			t.Errorf("%d: read back: %+v", i, got)
		}
	}
}
