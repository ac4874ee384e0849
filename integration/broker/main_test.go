package broker

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // there is memory enough, and no time
	goleak.VerifyTestMain(m)
}
