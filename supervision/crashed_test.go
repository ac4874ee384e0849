package supervision

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
)

func TestCrashedQueues(t *testing.T) {
	f := newCrashedQueues()
	queue := func(n int) mail.Address { return address.Named(fmt.Sprint(n)) }
	if f.has(nil) || f.has(queue(0)) {
		t.Error("nobody has crashed")
	}
	for n := range 3 * maxCrashed {
		f.add(queue(n))
		f.add(queue(n)) // the second time changes nothing
		if !f.has(queue(n)) {
			t.Fatalf("%d is forgotten", n)
		}
	}
	for n := range 3 * maxCrashed {
		if got, want := f.has(queue(n)), n >= 2*maxCrashed; got != want {
			t.Fatalf("%d: %v", n, got)
		}
	}
	if n := f.ids.Len(); n != maxCrashed {
		t.Errorf("%d are remembered", n)
	}
}
