//go:build linux || darwin

package clock

import "golang.org/x/sys/unix"

// asleep returns how long the machine has slept since it was started, in ns. A delay between the readings makes it shorter, so
// that no sleep is invented.
func asleep() (int64, bool) {
	var boot, awake unix.Timespec
	if unix.ClockGettime(bootClock, &boot) != nil || unix.ClockGettime(awakeClock, &awake) != nil {
		return 0, false
	}
	return boot.Nano() - awake.Nano(), true
}
