package clock

import "golang.org/x/sys/unix"

// everClock goes on while the machine sleeps.
const everClock = unix.CLOCK_MONOTONIC_RAW
