package budget

import (
	"slices"
	"testing"
)

// TestCommands_PRO21: arguments of commands get room up to a limit, in the order in which they ask; while nothing is held any size
// does. Small ones need none.
func TestCommands_PRO21(t *testing.T) {
	o := NewObjects()
	o.SetLimit(128 << 20) // 16 MiB for commands
	h := o.Connection("u", "/")
	var woken []int
	all := make([]Command, 6)
	ask := func(n int, bytes int64) bool {
		return all[n].Ask(h, bytes, func() { woken = append(woken, n) })
	}
	want := func(what string, held int64, order ...int) {
		t.Helper()
		if o.Commands() != held || !slices.Equal(woken, order) {
			t.Errorf("%s: %d bytes are held, woken %v, want %d, %v", what, o.Commands(), woken, held, order)
		}
		woken = nil
	}
	if !ask(0, 20<<20) || !ask(1, FreeCommand) || ask(2, 8<<20) || ask(2, 8<<20) || ask(3, 8<<20) || ask(4, 1<<20) || ask(5, 12<<20) {
		t.Fatal("the first and small ones get room at once, and no others")
	}
	want("asked", 20<<20)
	all[4].Return()
	all[0].Return()
	want("two have room", 16<<20, 2, 3)
	if !ask(2, 8<<20) || !ask(3, 8<<20) || ask(5, 12<<20) {
		t.Error("those with room may continue")
	}
	all[2].Return()
	want("the rest is too little", 8<<20)
	all[3].Return()
	all[3].Return()
	want("the last", 12<<20, 5)
	all[5].Return()
	all[1].Return()
	want("the end", 0)
	if none := (*Holder)(nil); !all[0].Ask(none, 1<<40, nil) {
		t.Error("without a holder there is a limit")
	}
}
