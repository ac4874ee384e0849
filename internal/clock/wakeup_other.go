//go:build !linux

package clock

// newBell: the runtime's timers are as good as the system's.
func newWakeup() (wakeup, error) { return nil, nil }
