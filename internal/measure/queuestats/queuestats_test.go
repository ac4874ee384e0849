package queuestats

import (
	"testing"

	"candlemark/policies"
)

// Readers see the values that the queue has set; setting the same values again does not allocate.
func TestFigures(t *testing.T) {
	var f Stats
	var v Values
	for round := range int64(3) {
		for i := range v {
			v[i] = int64(i) * round
		}
		f.Set(&v)
		for i := range v {
			if f.Get(i) != v[i] {
				t.Errorf("%d is %d, want %d", i, f.Get(i), v[i])
			}
		}
	}
	v[Running] = 1
	f.Set(&v)
	f.SetPolicies(&policies.Policy{Name: "p"}, nil)
	if user, operator := f.Policies(); user != "p" || operator != "" {
		t.Error(user, operator)
	}
	f.SetPolicies(nil, &policies.Policy{Name: "o"})
	if user, operator := f.Policies(); user != "" || operator != "o" {
		t.Error(user, operator)
	}
	if n := testing.AllocsPerRun(100, func() { v[Ready]++; f.Set(&v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var none *Stats
	if user, operator := none.Policies(); none.Get(Ready) != 0 || user != "" || operator != "" {
		t.Error("nil is no queue")
	}
}

func BenchmarkReport(b *testing.B) {
	var f Stats
	var v Values
	for b.Loop() {
		v[Ready]++
		v[ReadyBytes] += 100
		f.Set(&v)
	}
}
