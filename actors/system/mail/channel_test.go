package mail

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers can be added in any order, and adjacent ones share a range.
func TestDeliveriesRequeued(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var d DeliveriesRequeued
		added := map[uint64]bool{}
		for range rng.IntN(200) {
			n := rng.Uint64N(100)
			d.Add(n)
			added[n] = true
		}
		for n := range uint64(100) {
			if d.Covers(n) != added[n] {
				t.Fatalf("%d: %v, added %v", n, d.Numbers, added[n])
			}
		}
		if !slices.IsSortedFunc(d.Numbers, func(a, b Range) int { return int(a.First) - int(b.Last) }) {
			t.Fatal(d.Numbers)
		}
	}
	var d DeliveriesRequeued
	for n := range uint64(1000) {
		d.Add(n)
	}
	if len(d.Numbers) != 1 {
		t.Errorf("%d ranges", len(d.Numbers))
	}
}
