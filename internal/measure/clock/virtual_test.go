//go:build linux || darwin

package clock

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestVirtualTime_NoSleep: a test with virtual time that takes long on a busy machine does not look like a sleep.
func TestVirtualTime_NoSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		var from, to unix.Timespec
		for _ = unix.ClockGettime(bootClock, &from); to.Nano()-from.Nano() < int64(3*minSleep); {
			_ = unix.ClockGettime(bootClock, &to)
		}
		if slept, set := c.Look(); slept != 0 || set != 0 {
			t.Errorf("slept %v, set by %v", slept, set)
		}
		if c.Skew() != 0 || c.Now().Floor() != time.Now().UnixMilli() {
			t.Errorf("skew %d, %d", c.Skew(), c.Now().Floor())
		}
	})
}
