package backlog

import "testing"

// filled returns a backlog of n messages with a body of 36 bytes each, all of one priority.
func filled(n int, priority uint8) (b *Backlog, handles []Handle) {
	b = new(Backlog)
	for i := range n {
		handles = append(handles, b.Push(&Record{Seq: uint64(i), Body: make([]byte, 36), TTL: NoTTL, Priority: priority}))
	}
	return b, handles
}

// TestWindow: the window contains as many whole messages of average size as fit.
func TestWindow(t *testing.T) {
	for _, priority := range []uint8{0, 3} {
		b, handles := filled(150, priority)
		for bytes, want := range map[int64]int{
			-1: 0, 0: 0, 99: 0, 100: 1, 250: 2, 6300: 63, 6400: 64, 6500: 65, 14_900: 149, 15_000: 150, 1 << 40: 150,
		} {
			w := b.Window(bytes)
			for i, h := range handles {
				if b.Within(h, w) != (i < want) {
					t.Errorf("priority %d, %d bytes: message %d is within: %v, want %d", priority, bytes, i, i >= want, want)
					break
				}
			}
		}
	}
}

// TestWindowOfWholeSegments_TTL16: a message that returns to its position in a segment before the end of the window is in the
// window.
func TestWindowOfWholeSegments_TTL16(t *testing.T) {
	b, handles := filled(150, 0)
	b.Take(handles[0])
	w := b.Window((segmentSize - 1) * 100)
	if b.Return(handles[0]); !b.Within(handles[0], w) || b.Within(handles[segmentSize], w) {
		t.Error("the window does not end behind the segment")
	}
}

// TestTrimLimit: a segment counts one, even if it is empty, and so does each of its messages; the rest above the limit is left
// for the next call.
func TestTrimLimit(t *testing.T) {
	const full = 1 + segmentSize
	b, _ := filled(5*segmentSize, 0)
	for limit, want := range map[int]int{0: 0, 1: 1, full: 1, full + 1: 2, 2 * full: 2, 4*full + 1: 5} {
		seen := 0
		next := b.Trim(segmentSize, limit, b.Window(0), func(Handle) bool { seen++; return true })
		if through := want == 5; seen != want*segmentSize || (next == 0) != through || !through && next != Handle(1+want)<<segmentBits {
			t.Errorf("limit %d: %d messages, then %d", limit, seen, next)
		}
	}
}

// TestSpotsOfPriorities: the spots of a higher priority precede the spots of a lower one, for any number of past
// segments.
func TestSpotsOfPriorities(t *testing.T) {
	for _, places := range []uint64{0, 1 << 20, 1<<49 - 2} {
		var b Backlog
		SkipPlaces(&b, places)
		low, middle := b.Push(&Record{TTL: NoTTL}), b.Push(&Record{TTL: NoTTL, Priority: 1})
		high := b.Push(&Record{TTL: NoTTL, Priority: 2})
		if b.Spot(high) >= b.Spot(middle) || b.Spot(middle) >= b.Spot(low) {
			t.Errorf("%d places: %x, %x, %x", places, b.Spot(high), b.Spot(middle), b.Spot(low))
		}
		b.Behind(b.Spot(middle), func(h Handle) bool {
			if h != low {
				t.Errorf("%d places: %d is behind %d", places, h, middle)
			}
			return true
		})
	}
}

// TestLists: there is one list for each priority up to the highest seen.
func TestLists(t *testing.T) {
	var b Backlog
	for _, c := range []struct {
		priority uint8
		lists    int
	}{{3, 4}, {1, 4}, {9, 10}, {10, 11}, {255, 256}} {
		if b.Push(&Record{TTL: NoTTL, Priority: c.priority}); len(b.table.lists) != c.lists {
			t.Errorf("priority %d: %d lists, want %d", c.priority, len(b.table.lists), c.lists)
		}
	}
}

// TestContents: small contents count with their whole blocks, others with their size. Counted excludes contents counted
// by a share.
func TestContents(t *testing.T) {
	var b Backlog
	record := func(body int, shared bool) *Record {
		return &Record{Body: make([]byte, body), TTL: NoTTL, Shared: shared}
	}
	const own, reference, large, amended = maxRecord + 1, maxCopied + 1, maxRecord + 2, 7
	b.Push(record(100, false))
	b.Push(record(own, false))
	b.Push(record(reference, true))
	b.Push(record(large, true))
	withRare(&b).extra = amended
	small, blocks := int64(recordSize(record(100, false))), b.slab.held
	for name, c := range map[string][2]int64{
		"contents": {b.Contents(), small + own + reference + large + amended},
		"held":     {b.Held(), blocks + own + reference + large + amended},
		"counted":  {b.Counted(), blocks + reference + amended},
	} {
		if c[0] != c[1] || blocks <= small {
			t.Errorf("%s: %d bytes, want %d", name, c[0], c[1])
		}
	}
}

// TestPlacesOfShortQueues: a short queue allocates journal places for a few messages only.
func TestPlacesOfShortQueues(t *testing.T) {
	var b Backlog
	h := b.Push(&Record{TTL: NoTTL})
	before := b.Memory()
	if b.SetPlace(h, 1); b.Memory()-before != 8*smallSegment {
		t.Errorf("%d bytes for a place", b.Memory()-before)
	}
}

// TestPlacesAreRecycled: a full segment reuses the places of removed segments.
func TestPlacesAreRecycled(t *testing.T) {
	var b Backlog
	allocs := testing.AllocsPerRun(10, func() {
		for range 100 {
			var handles [segmentSize]Handle
			for i := range handles {
				handles[i] = b.PushPaged(paged(uint64(i)), 100, 1)
			}
			if b.Len() != segmentSize {
				t.Fatalf("%d messages", b.Len())
			}
			for _, h := range handles {
				b.Remove(h)
			}
		}
	})
	if allocs > 70 { // with the race detector, pools drop one item in four
		t.Errorf("%v allocations for 100 segments", allocs)
	}
}
