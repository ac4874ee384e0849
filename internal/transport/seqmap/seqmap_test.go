package seqmap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestModel(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Log("seed", seed)
	var l Map[int]
	model := map[uint64]int{}
	for step := range 20000 {
		switch r.IntN(4) {
		case 0, 1:
			model[l.Append(step)] = step
		case 2:
			n := r.Uint64N(l.Last() + 2)
			got, ok := l.Take(n)
			want, has := model[n]
			if ok != has || got != want {
				t.Fatalf("seed %d: take %d: %d %v, want %d %v", seed, n, got, ok, want, has)
			}
			if ok && r.IntN(4) == 0 {
				l.Restore(n, got)
				continue
			}
			delete(model, n)
		case 3:
			if r.IntN(20) == 0 {
				takeRange(t, r, &l, model, step)
			}
		}
		if l.Len() != len(model) {
			t.Fatalf("seed %d: len %d, want %d", seed, l.Len(), len(model))
		}
	}
	l.Each(func(n uint64, v int) bool {
		if got, ok := l.Get(n); !ok || got != v || model[n] != v {
			t.Fatalf("seed %d: %d", seed, n)
		}
		return true
	})
}

// takeRange takes a range from map and model, and restores some of it in random order.
func takeRange(t *testing.T, r *rand.Rand, l *Map[int], model map[uint64]int, step int) {
	t.Helper()
	first := r.Uint64N(l.Last() + 1)
	last := first + r.Uint64N(300)
	var got []uint64
	l.TakeRange(first, last, func(n uint64, v int) {
		if model[n] != v {
			t.Fatalf("%d holds %d, want %d", n, v, model[n])
		}
		got = append(got, n)
	})
	var want []uint64
	for n := range model {
		if n >= first && n <= last {
			want = append(want, n)
			delete(model, n)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("range %d-%d: %v, want %v", first, last, got, want)
	}
	if r.IntN(2) == 0 {
		for _, i := range r.Perm(len(got))[:len(got)/2] {
			l.Restore(got[i], step)
			model[got[i]] = step
		}
	}
}

func TestRestoreOnlyWhatWasTaken(t *testing.T) {
	var l Map[int]
	l.Append(1)
	for _, n := range []uint64{0, 1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d was restored", n)
				}
			}()
			l.Restore(n, 1)
		}()
	}
}

// A value that is never taken does not keep memory allocated for later values that have been taken.
func TestMemoryFollowsTheLiving(t *testing.T) {
	var l Map[int]
	l.Append(-1)
	for range 1_000_000 {
		if _, ok := l.Take(l.Append(1)); !ok {
			t.Fatal("lost")
		}
	}
	if len(l.blocks) > 2 {
		t.Fatalf("%d blocks for one value", len(l.blocks))
	}
	if v, ok := l.Get(1); !ok || v != -1 {
		t.Fatal("the first value is gone")
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	var l Map[int]
	l.Append(1)
	if n := testing.AllocsPerRun(1000, func() { l.Take(l.Append(1)) }); n > 0 {
		t.Fatalf("%v allocations", n)
	}
}
