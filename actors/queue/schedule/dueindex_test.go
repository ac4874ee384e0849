package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// entries is a store in which a handle is the index of an entry.
type entries struct {
	dues []int64
	seqs []uint64
}

func (e *entries) Deadline(h uint32) int64 { return e.dues[h] }
func (e *entries) Seq(h uint32) uint64     { return e.seqs[h] }

// TestModel_DLY11 compares an index with a sorted list while entries are added in any order, removed and changed.
func TestModel_DLY11(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, spread := range []int64{1, 3, 1000, 1 << 40} {
		e := &entries{dues: []int64{0}, seqs: []uint64{0}}
		a := newDueIndex(e)
		var want []uint32
		order := func(x, y uint32) int {
			if e.dues[x] != e.dues[y] {
				return int(min(max(e.dues[x]-e.dues[y], -1), 1))
			}
			return int(min(max(int64(e.seqs[x])-int64(e.seqs[y]), -1), 1))
		}
		add := func(h uint32) {
			i, _ := slices.BinarySearchFunc(want, h, order)
			want = slices.Insert(want, i, h)
			a.Add(h)
		}
		drop := func(i int) uint32 {
			h := want[i]
			a.Remove(h)
			want = slices.Delete(want, i, i+1)
			return h
		}
		for step := range 30_000 {
			switch n := r.IntN(100); {
			case n < 50-step/600:
				e.dues = append(e.dues, 1+r.Int64N(spread))
				if n%2 == 0 {
					e.dues[len(e.dues)-1] = int64(step)
				}
				e.seqs = append(e.seqs, uint64(len(e.seqs)))
				add(uint32(len(e.dues) - 1))
			case len(want) == 0:
			case n < 60:
				drop(0)
			case n < 80:
				drop(r.IntN(len(want)))
			case n < 90:
				h := drop(r.IntN(len(want)))
				e.dues[h] = 1 + r.Int64N(spread)
				add(h)
			default:
				check(t, &a, e, want, r)
			}
			if h, due, ok := a.First(); a.Len() != len(want) || ok != (len(want) > 0) || ok && (h != want[0] || due != e.dues[h]) {
				t.Fatalf("step %d: %d entries, first %d, want %d, %v", step, a.Len(), h, len(want), want[:min(1, len(want))])
			}
		}
		for len(want) > 0 {
			drop(r.IntN(len(want)))
		}
		if a.Len() != 0 || len(a.leaves) != 0 {
			t.Errorf("%d entries and %d leaves are left", a.Len(), len(a.leaves))
		}
	}
}

func check(t *testing.T, a *dueIndex[*entries], e *entries, want []uint32, r *rand.Rand) {
	t.Helper()
	i := r.IntN(len(want))
	due, seq := e.dues[want[i]], e.seqs[want[i]]
	var got []uint32
	a.Behind(due, seq, func(h uint32) bool {
		got = append(got, h)
		return len(got) < 1000
	})
	if rest := want[i+1:]; !slices.Equal(got, rest[:min(len(rest), 1000)]) {
		t.Fatalf("behind %d: %d entries, want %d", i, len(got), len(rest))
	}
	got = got[:0]
	a.Behind(0, 0, func(h uint32) bool {
		got = append(got, h)
		return true
	})
	if !slices.Equal(got, want) {
		t.Fatalf("%d entries from the beginning, want %d", len(got), len(want))
	}
	for _, ms := range []int64{due, due - 1, 0, e.dues[want[len(want)-1]]} {
		n := 0
		for _, h := range want {
			if e.dues[h] <= ms {
				n++
			}
		}
		if a.Until(ms) != n {
			t.Fatalf("until %d: %d, want %d", ms, a.Until(ms), n)
		}
	}
}

// TestAddAll_DLY11: the result equals the result of adding entries one by one, also after later additions and removals.
func TestAddAll_DLY11(t *testing.T) {
	for _, n := range []int{0, 1, leafSize, leafSize + 1, 5000} {
		e := &entries{dues: []int64{0}, seqs: []uint64{0}}
		one, all := newDueIndex(e), newDueIndex(e)
		var handles []uint32
		for h := uint32(1); int(h) <= n; h++ {
			e.dues, e.seqs = append(e.dues, rand.Int64N(500)), append(e.seqs, uint64(h))
			handles = append(handles, h)
			one.Add(h)
		}
		rand.Shuffle(n, func(i, j int) { handles[i], handles[j] = handles[j], handles[i] })
		all.AddAll(handles)
		for range 2 * n {
			e.dues, e.seqs = append(e.dues, rand.Int64N(600)), append(e.seqs, uint64(len(e.seqs)))
			one.Add(uint32(len(e.seqs) - 1))
			all.Add(uint32(len(e.seqs) - 1))
		}
		for one.Len() > 0 {
			x, _, _ := one.First()
			if y, _, ok := all.First(); !ok || x != y || one.Len() != all.Len() {
				t.Fatalf("%d: %d, not %d, is next", n, y, x)
			}
			one.Remove(x)
			all.Remove(x)
		}
	}
}

// TestDueOnceRemoved_DLY11: removing an entry that is not in the index panics.
func TestDueOnceRemoved_DLY11(t *testing.T) {
	e := &entries{dues: []int64{0, 5, 5}, seqs: []uint64{0, 1, 2}}
	a := newDueIndex(e)
	a.Add(1)
	defer func() {
		if recover() == nil {
			t.Error("it was")
		}
	}()
	a.Remove(2)
}
