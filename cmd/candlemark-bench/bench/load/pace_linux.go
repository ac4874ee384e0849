package load

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// maxTied is how many pacers have a thread: with thousands of them the kernel has so many to choose from that consumers starve.
const maxTied = 64

var tied atomic.Int32

// pacer waits with a finer grain than time.Sleep, which the runtime rounds to a millisecond when nothing else happens.
// It belongs to the goroutine that made it.
type pacer struct {
	tied  bool // to a thread
	loose bool // waits as time.Sleep does
}

// newPacer ties the goroutine to its thread, whose timers it asks the kernel not to batch. Where there are many already it waits as
// time.Sleep does: among so many a millisecond is seldom without anything going on.
func newPacer() pacer {
	if tied.Add(1) > maxTied {
		tied.Add(-1)
		return pacer{loose: true}
	}
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0) // without it the kernel's default of 50 µs holds
	return pacer{tied: true}
}

func (p pacer) release() {
	if p.tied {
		runtime.UnlockOSThread()
		tied.Add(-1)
	}
}

func (p pacer) sleep(d time.Duration) {
	if p.loose {
		time.Sleep(d)
		return
	}
	if d <= 0 {
		return
	}
	left := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&left, &left) == unix.EINTR { // left is the remaining time
	}
}
