package window

import (
	"testing"

	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Windows of any size are counted from the last transfer that the client knows of.
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

// Link credit may be any number, and is counted from the last delivery that the client knows of.
func TestAccount(t *testing.T) {
	for _, c := range []struct{ sent, seen, credit, want uint32 }{
		{0, 0, 1, 1},
		{0, 0, 0x7fff_ffff, 0x7fff_ffff},
		{0, 0, 0x8000_0000, 0x8000_0000},
		{0, 0, 0xffff_ffff, 0xffff_ffff},
		{10, 4, 0xffff_ffff, 0xffff_fff9},
		{10, 0, 5, 0},
		{2, 0xffff_ffff, 5, 2},
		{0xffff_ffff, 1, 5, 7},
		{0xffff_ffff, 1, 0xffff_ffff, 0xffff_ffff},
	} {
		a := Account{Count: c.sent}
		a.Given(&amqp10.Flow{DeliveryCount: amqp10.Some(c.seen), LinkCredit: amqp10.Some(c.credit)})
		if a.Credit() != c.want {
			t.Errorf("%+v: %d", c, a.Credit())
		}
	}
	a := Account{Count: 0xffff_ffff}
	a.Given(&amqp10.Flow{DeliveryCount: amqp10.Some(uint32(0xffff_ffff)), LinkCredit: amqp10.Some(uint32(5))})
	if a.Sent(); a.Count != 0 || a.Credit() != 4 {
		t.Errorf("%+v after a message", a)
	}
	if a.Drained(2); a.Count != 2 || a.Credit() != 2 {
		t.Errorf("%+v after a drain that began before the last credit", a)
	}
	a.Keep(1)
	if a.Drained(9); a.Count != 9 || a.Credit() != 0 {
		t.Errorf("%+v at the end", a)
	}
}
