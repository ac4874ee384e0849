package window

import (
	"testing"

	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Windows of any size are counted from what the client has seen.
func TestWindows(t *testing.T) {
	for _, c := range []struct{ sent, seen, window, want uint32 }{
		{0, 0, 5, 5}, {3, 0, 5, 2}, {7, 0, 5, 0}, {7, 7, 5, 5}, {2, 0xffff_ffff, 5, 2}, {10, 4, 0xffff_ffff, 0xffff_fff9}, {10, 10, 0x7fff_ffff, 0x7fff_ffff},
	} {
		w := Session{NextOutgoing: c.sent}
		w.Heard(&amqp10.Flow{NextIncomingID: amqp10.Some(c.seen), IncomingWindow: c.window})
		if w.RemoteIncoming != c.want {
			t.Errorf("%+v: %d", c, w.RemoteIncoming)
		}
	}
	w := Session{NextIncoming: 0xffff_ffff, Incoming: 1}
	if !w.Came() || w.NextIncoming != 0 || w.Came() {
		t.Errorf("%+v", w)
	}
}
