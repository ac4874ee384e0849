package supervision

import (
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

func TestCrashedQueues(t *testing.T) {
	f := newCrashedQueues()
	pid := func(n int) *actor.PID { return actor.NewPID("here", fmt.Sprint(n)) }
	if f.has(nil) || f.has(pid(0)) {
		t.Error("nobody has crashed")
	}
	for n := range 3 * maxCrashed {
		f.add(pid(n))
		f.add(pid(n)) // once is enough
		if !f.has(pid(n)) {
			t.Fatalf("%d is forgotten", n)
		}
	}
	for n := range 3 * maxCrashed {
		if got, want := f.has(pid(n)), n >= 2*maxCrashed; got != want {
			t.Fatalf("%d: %v", n, got)
		}
	}
	if n := f.ids.Len(); n != maxCrashed {
		t.Errorf("%d are remembered", n)
	}
}
