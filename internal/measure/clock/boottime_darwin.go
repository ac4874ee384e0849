package clock

import "golang.org/x/sys/unix"

// bootClock continues while the machine sleeps, awakeClock, the clock of Go's timers, does not.
const (
	bootClock  = unix.CLOCK_MONOTONIC_RAW
	awakeClock = unix.CLOCK_UPTIME_RAW
)
