package clock

import "golang.org/x/sys/unix"

// bootClock goes on while the machine is suspended; the monotonic clock that Go's timers go by does not.
const bootClock = unix.CLOCK_BOOTTIME
