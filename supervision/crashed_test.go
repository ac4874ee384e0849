package supervision

import (
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

func TestFallen(t *testing.T) {
	var f crashedQueues
	pid := func(n int) *actor.PID { return actor.NewPID("here", fmt.Sprint(n)) }
	if f.has(nil) || f.has(pid(0)) {
		t.Error("nobody has crashed")
	}
	for n := range 3 * fallenLimit {
		f.add(pid(n))
		f.add(pid(n)) // once is enough
		if !f.has(pid(n)) {
			t.Fatalf("%d is forgotten", n)
		}
	}
	for n := range 3 * fallenLimit {
		if got, want := f.has(pid(n)), n >= 2*fallenLimit; got != want {
			t.Fatalf("%d: %v", n, got)
		}
	}
	if len(f.ids) != fallenLimit || len(f.ring) != fallenLimit {
		t.Errorf("%d and %d are remembered", len(f.ids), len(f.ring))
	}
}
