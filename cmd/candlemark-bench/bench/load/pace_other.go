//go:build !linux

package load

import "time"

// pacer waits.
type pacer struct{}

func newPacer() pacer { return pacer{} }

func (pacer) release() {}

func (pacer) sleep(d time.Duration) { time.Sleep(d) }
