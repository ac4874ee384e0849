package wheel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"
)

const epoch = int64(1_800_000_000_000)

// filled returns a wheel at epoch with one entry per deadline, in ms after epoch; handles start at 1.
func filled(deadlines ...int64) (*Wheel[*entries], *entries) {
	e := newEntries(len(deadlines))
	w := New(e)
	w.Advance(epoch, 1, nil)
	for i, d := range deadlines {
		e.deadlines[i+1] = epoch + d
		w.Add(uint32(i + 1))
	}
	return &w, e
}

func TestAdvance(t *testing.T) {
	const day = 86_400_000
	tests := []struct {
		name      string
		deadlines []int64
		steps     []int64
		want      string // handles fired in each step
	}{
		{"TTL-14 due at the deadline, not before", []int64{10}, []int64{9, 10}, "[[] [1]]"},
		{"TTL-30 any position", []int64{600, 100, 300}, []int64{100, 300, 600}, "[[2] [3] [1]]"},
		{"TTL-31 equal deadlines in order", []int64{5, 5, 5, 4}, []int64{5}, "[[4 1 2 3]]"},
		{"TTL-31 equal deadlines across cascades", []int64{5000, 70, 5000, 5000}, []int64{100, 4999, 5000}, "[[2] [] [1 3 4]]"},
		{"different deadlines in their order in a late call", []int64{3000, 200, 2999, 201}, []int64{3500}, "[[2 4 3 1]]"},
		{"in the past", []int64{-5, -1, 0, 1}, []int64{0, 1}, "[[1 2 3] [4]]"},
		{"TTL-34 ten years", []int64{315_360_000_000, 315_360_000_001}, []int64{315_359_999_999, 315_360_000_000, 315_360_000_001}, "[[] [1] [2]]"},
		{"clock jumps by days", []int64{30 * day, 3 * day, 1, 40 * day}, []int64{35 * day, 41 * day}, "[[3 2 1] [4]]"},
		{"the largest deadline", []int64{math.MaxInt64 - 1 - epoch}, []int64{math.MaxInt64 - 2 - epoch, math.MaxInt64 - 1 - epoch}, "[[] [1]]"},
		{"never", []int64{math.MaxInt64 - epoch}, []int64{math.MaxInt64 - epoch}, "[[]]"},
		{"time does not go back", []int64{50, 70}, []int64{60, 40, 70}, "[[1] [] [2]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := filled(tt.deadlines...)
			var got [][]uint32
			for _, step := range tt.steps {
				fired := []uint32{}
				w.Advance(epoch+step, 1000, func(h uint32) { fired = append(fired, h) })
				got = append(got, fired)
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("fired %v, want %v", got, tt.want)
			}
			if w.Len() != 0 {
				t.Errorf("%d entries left", w.Len())
			}
		})
	}
}

func TestRemove(t *testing.T) {
	for removed := uint32(1); removed <= 4; removed++ {
		w, _ := filled(100, 100, 100, 5000)
		w.Remove(removed)
		w.Remove(removed)
		var got []uint32
		w.Advance(epoch+6000, 1000, func(h uint32) { got = append(got, h) })
		want := slices.DeleteFunc([]uint32{1, 2, 3, 4}, func(h uint32) bool { return h == removed })
		if !slices.Equal(got, want) {
			t.Errorf("fired %v after Remove(%d), want %v", got, removed, want)
		}
	}
}

func TestAddTwiceIsAddOnce(t *testing.T) {
	w, _ := filled(100, 100)
	w.Add(1)
	if w.Len() != 2 {
		t.Errorf("Len %d, want 2", w.Len())
	}
}

func TestBoundedAdvance_TTL33(t *testing.T) {
	deadlines := make([]int64, 10_000)
	for i := range deadlines {
		deadlines[i] = 70_000 + int64(i%3)
	}
	w, e := filled(deadlines...)
	var got []uint32
	calls := 1
	for ; w.Advance(epoch+70_002, 100, func(h uint32) { got = append(got, h) }); calls++ {
		if calls == 150 { // an equal deadline added between two calls comes last
			w.Remove(9_999)
			w.Add(9_999)
		}
	}
	if len(got) != len(deadlines) || calls < len(deadlines)/100 {
		t.Fatalf("%d entries in %d calls", len(got), calls)
	}
	sorted := slices.IsSortedFunc(got, func(a, b uint32) int {
		if a == 9_999 || b == 9_999 {
			return 0
		}
		return int(e.deadlines[a]-e.deadlines[b])*100_000 + int(a) - int(b)
	})
	if !sorted {
		t.Error("not in the order of deadlines and Adds")
	}
}

// A call with a limit of 0 opens no list, so entries added before the next call still fire in order of deadline.
func TestAdvanceOfNothing_TTL31(t *testing.T) {
	w, e := filled(2, 1)
	w.Remove(2)
	if !w.Advance(epoch+200, 0, nil) {
		t.Error("nothing is left")
	}
	w.Add(2)
	var fired []int64
	w.Advance(epoch+200, 10, func(h uint32) { fired = append(fired, e.deadlines[h]-epoch) })
	if !slices.Equal(fired, []int64{1, 2}) {
		t.Error(fired)
	}
}

func TestNext(t *testing.T) {
	w, _ := filled()
	if _, ok := w.Next(); ok {
		t.Error("an empty wheel has a deadline")
	}
	w, _ = filled(123_456_789)
	if next, _ := w.Next(); next != epoch+123_456_789 {
		t.Errorf("one entry: Next %d ms off", next-epoch-123_456_789)
	}
	w, _ = filled(60_000, 60_001, 90_000)
	wakes := 0
	for last := epoch; w.Len() > 0; wakes++ {
		next, _ := w.Next()
		if next <= last {
			t.Fatalf("Next does not grow: %d after %d", next, last)
		}
		w.Advance(next, 1000, func(uint32) {})
		last = next
	}
	if wakes > 6 {
		t.Errorf("%d wakes for 3 entries", wakes)
	}
}

func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Wheel[*entries]{}); size > 64 {
		t.Errorf("an empty wheel has %d bytes", size)
	}
	if size := unsafe.Sizeof(level{}); size != 536 {
		t.Errorf("a level has %d bytes", size)
	}
	e := newEntries(1)
	if n := testing.AllocsPerRun(10, func() { w := New(e); w.Advance(epoch, 1, nil) }); n != 0 {
		t.Errorf("%v allocations for an empty wheel", n)
	}
}

// The list being emptied is found from its own ms, not from the next one.
func TestFrom_Opened(t *testing.T) {
	w, _ := filled(10, 10, 10, 500)
	w.Advance(epoch+10, 1, func(uint32) {})
	if list, ok := w.From(epoch + 10); !ok || list.First != epoch+10 || list.Last != epoch+10 {
		t.Errorf("%+v %v", list, ok)
	}
	if list, ok := w.From(epoch + 11); !ok || list.Last < epoch+500 {
		t.Errorf("%+v %v", list, ok)
	}
}
