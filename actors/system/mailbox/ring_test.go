package mailbox

import "testing"

// TestRingKeepsOrder pushes two and pops one, so that the ring grows while it is wrapped around.
func TestRingKeepsOrder(t *testing.T) {
	var r ring
	pushed, popped, got := 0, 0, 0
	push := func() {
		number := pushed
		r.push(function(func() { got = number }))
		pushed++
	}
	pop := func() {
		turn := r.pop()
		if turn == nil {
			t.Fatalf("turn %d is missing", popped)
		}
		if turn.process(); got != popped {
			t.Fatalf("turn %d came, want %d", got, popped)
		}
		popped++
	}
	for range 1000 {
		push()
		push()
		pop()
	}
	for popped < pushed {
		pop()
	}
	if r.pop() != nil {
		t.Error("a turn too many")
	}
}
