package messages

import "testing"

// TestBound_DUP3: the number of ids is limited to MaxIDs; the oldest is dropped first, together with its note.
func TestBound_DUP3(t *testing.T) {
	w := NewDuplicateWindow()
	var forgotten []uint64
	for i := range uint64(MaxIDs + 10) {
		w.Add(1+i, 1000, 1+i, func(seq uint64) { forgotten = append(forgotten, seq) })
	}
	if w.Len() != MaxIDs || len(forgotten) != 10 || forgotten[9] != 10 || w.Bytes() != MaxIDs*bytesPerID {
		t.Errorf("%d ids, %v forgotten", w.Len(), forgotten)
	}
	if seen, _ := w.Seen(10, 0); seen {
		t.Error("the oldest is known")
	}
	if seen, stored := w.Seen(11, 999); !seen || !stored {
		t.Error("another one is not")
	}
	if seen, _ := w.Seen(11, 1000); seen {
		t.Error("it is over")
	}
	n := len(forgotten)
	if at, ok := w.Next(); !ok || at != 1000+duplicateSlack || w.Advance(at-1, 1<<30, nil) {
		t.Error("early")
	}
	for w.Advance(1000+duplicateSlack, 1000, func(uint64) { n++ }) {
	}
	if n != MaxIDs+10 || w.Len() != 0 {
		t.Errorf("%d forgotten, %d left", n, w.Len())
	}
	var none *DuplicateWindow
	if _, ok := none.Next(); ok || none.Len() != 0 || none.Bytes() != 0 || none.Advance(1, 1, nil) {
		t.Error("something of nothing")
	}
}

// While memory is scarce a window is reduced to its newest ids, in steps.
func TestKeep_DUP3(t *testing.T) {
	w, forgotten := NewDuplicateWindow(), 0
	for id := range uint64(5000) {
		w.Add(id+1, 1000, id+1, func(uint64) {})
	}
	for range 3 {
		w.Keep(ScarceIDs, 1500, func(uint64) { forgotten++ })
	}
	if seen, _ := w.Seen(4000, 0); seen || w.Len() != ScarceIDs || forgotten != 4000 {
		t.Errorf("%d ids, %d forgotten", w.Len(), forgotten)
	}
	if seen, _ := w.Seen(4001, 0); !seen {
		t.Error("a newer id is gone")
	}
	if w.Bytes() != ScarceIDs*bytesPerID {
		t.Errorf("%d bytes", w.Bytes())
	}
}
