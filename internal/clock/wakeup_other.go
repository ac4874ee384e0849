//go:build !linux

package clock

// newWakeup: the runtime's timers are as good as the system's.
func newWakeup() (wakeup, error) { return nil, nil }
