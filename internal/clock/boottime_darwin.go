package clock

import "golang.org/x/sys/unix"

// bootClock continues while the machine sleeps.
const bootClock = unix.CLOCK_MONOTONIC_RAW
