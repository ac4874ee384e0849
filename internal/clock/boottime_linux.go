package clock

import "golang.org/x/sys/unix"

// bootClock continues while the machine is suspended, unlike the monotonic clock of Go's timers.
const bootClock = unix.CLOCK_BOOTTIME
