package figures

import (
	"testing"

	"candlemark/policies"
)

// What a queue tells is what one reads, and telling it again takes no memory.
func TestFigures(t *testing.T) {
	var f Figures
	var v Values
	for round := range int64(3) {
		for i := range v {
			v[i] = int64(i) * round
		}
		f.Tell(&v)
		for i := range v {
			if f.Get(i) != v[i] {
				t.Errorf("%d is %d, want %d", i, f.Get(i), v[i])
			}
		}
	}
	v[Running] = 1
	f.Tell(&v)
	f.Match(&policies.Policy{Name: "p"}, nil)
	if user, operator := f.Policies(); user != "p" || operator != "" {
		t.Error(user, operator)
	}
	f.Match(nil, &policies.Policy{Name: "o"})
	if user, operator := f.Policies(); user != "" || operator != "o" {
		t.Error(user, operator)
	}
	if n := testing.AllocsPerRun(100, func() { v[Ready]++; f.Tell(&v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var none *Figures
	if user, operator := none.Policies(); none.Get(Ready) != 0 || user != "" || operator != "" {
		t.Error("nil is no queue")
	}
}

func BenchmarkTell(b *testing.B) {
	var f Figures
	var v Values
	for b.Loop() {
		v[Ready]++
		v[ReadyBytes] += 100
		f.Tell(&v)
	}
}
