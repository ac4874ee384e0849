package mailbox

import (
	"testing"
	"testing/synctest"
)

// TestQuiet_CLK6: a dispatcher is quiet when no turn waits or runs, and each turn counts.
func TestQuiet_CLK6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher(1)
		defer d.Stop()
		end := make(chan struct{})
		if n, quiet := d.Quiet(); n != 0 || !quiet {
			t.Error(n, quiet)
		}
		d.Schedule(func() { <-end })
		d.Schedule(func() {})
		if n, quiet := d.Quiet(); n != 2 || quiet {
			t.Error("while turns wait:", n, quiet)
		}
		synctest.Wait()
		if n, quiet := d.Quiet(); n != 2 || quiet {
			t.Error("while a turn runs:", n, quiet)
		}
		close(end)
		synctest.Wait()
		if n, quiet := d.Quiet(); n != 2 || !quiet {
			t.Error("at the end:", n, quiet)
		}
	})
}
