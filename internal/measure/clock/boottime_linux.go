package clock

import "golang.org/x/sys/unix"

// bootClock continues while the machine is suspended, awakeClock, the clock of Go's timers, does not.
const (
	bootClock  = unix.CLOCK_BOOTTIME
	awakeClock = unix.CLOCK_MONOTONIC
)
