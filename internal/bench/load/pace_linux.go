package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// pacer waits with a finer grain than time.Sleep, which the runtime rounds to a millisecond when nothing else goes on. It belongs
// to the goroutine that made it.
type pacer struct{}

// newPacer ties the goroutine to its thread, whose timers it asks the kernel not to batch.
func newPacer() pacer {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0) // without it the kernel's default of 50 µs holds
	return pacer{}
}

func (pacer) release() { runtime.UnlockOSThread() }

func (pacer) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	left := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&left, &left) == unix.EINTR { // left is what is left
	}
}
