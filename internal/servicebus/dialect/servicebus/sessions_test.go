package servicebus

import (
	"reflect"
	"testing"

	"candlemark/protocol/amqp10"
)

// TestSessionOf: a filter is described or plain; the answer has the same form.
func TestSessionOf(t *testing.T) {
	described := func(v any) any { return amqp10.Described{Descriptor: uint64(0x137000000C), Value: v} }
	for _, c := range []struct {
		given      any
		id         string
		next, fine bool
		answer     any
	}{
		{described("a"), "a", false, true, described("x")},
		{"a", "a", false, true, "x"},
		{"", "", false, true, "x"},
		{described(nil), "", true, true, described("x")},
		{nil, "", true, true, "x"},
		{int32(1), "", false, false, nil},
	} {
		filter := amqp10.Map{{Key: amqp10.Symbol(sessionFilter), Value: c.given}}
		id, next, wanted, err := SessionOf(filter)
		if (err == nil) != c.fine || id != c.id || next != c.next || wanted != c.fine {
			t.Errorf("%v: %q, %v, %v, %v", c.given, id, next, wanted, err)
		}
		if answer, _ := SessionFilter(filter, "x").Get(sessionFilter); c.fine && !reflect.DeepEqual(answer, c.answer) {
			t.Errorf("%v: the answer is %v, want %v", c.given, answer, c.answer)
		}
	}
	if _, _, wanted, err := SessionOf(nil); wanted || err != nil {
		t.Error("wanted without a filter")
	}
	if _, _, _, err := SessionOf(amqp10.Map{{Key: amqp10.Symbol("other"), Value: "x"}}); err == nil {
		t.Error("another filter is taken")
	}
	if WaitOf(amqp10.Map{{Key: amqp10.Symbol(timeout), Value: uint32(5)}}) != 5 || WaitOf(nil) != defaultWait {
		t.Error("waits are misread")
	}
	for ms, want := range map[int64]int64{0: 621_355_968_000_000_000, 1: 621_355_968_000_010_000, 1_700_000_000_000: 638_355_968_000_000_000} {
		if at, _ := LockedUntil(ms).Get(lockedUntil); at != want {
			t.Errorf("%d ms: %v, want %d", ms, at, want)
		}
	}
}
