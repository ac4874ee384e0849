//go:build !linux

package clock

// newWakeup returns nil, because the runtime's timers are as precise as the system's.
func newWakeup() (wakeup, error) { return nil, nil }
