//go:build linux || darwin

package clock

import "golang.org/x/sys/unix"

func bootReading() (int64, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(bootClock, &t); err != nil {
		return 0, false
	}
	return t.Nano(), true
}
