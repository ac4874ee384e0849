package broker

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // memory is plentiful, time is not
	goleak.VerifyTestMain(m)
}
