package input

import (
	"slices"
	"testing"

	"candlemark/actors/client/outgoing"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/measure/clock"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A frame that has to wait stays with the frames after it, in order; broken input is dropped.
func TestRead(t *testing.T) {
	in := &Input{}
	m := &mail.Inbound{Runs: [][]byte{[]byte("ab"), nil, []byte("c"), []byte("d!e")}}
	var got []byte
	stop := byte('c')
	next := func(b []byte) int {
		switch b[0] {
		case stop:
			return 0
		case '!':
			return -1
		}
		got = append(got, b[0])
		return 1
	}
	if in.Read(m, next) || string(got) != "ab" || len(m.Runs) != 2 {
		t.Fatalf("%q, %q is left", got, m.Runs)
	}
	stop = 0
	if !in.Read(m, next) || string(got) != "abcd" || len(m.Runs) != 0 {
		t.Errorf("%q, %q is left", got, m.Runs)
	}
}

// Only the answer to the last request ends the wait; a request without time limit has no deadline.
func TestAnswered(t *testing.T) {
	in := New(Config{Clock: clock.New(), Out: &outgoing.Mail{Me: address.Named("self")}})
	var got []any
	r := in.Await(func(reply any, _ error) { got = append(got, reply) })
	if in.Due() != r.ID || !in.Waits() || in.Answered(&Result{ID: in.Request().ID}) {
		t.Errorf("due %d of %d", in.Due(), r.ID)
	}
	in.Patient()
	if in.Due() != 0 || !in.Answered(&Result{ID: r.ID, Reply: "a"}) || in.Waits() || in.Answered(&Result{ID: r.ID, Reply: "b"}) {
		t.Error("the wait does not end with its answer")
	}
	if !slices.Equal(got, []any{"a"}) {
		t.Error(got)
	}
}

// Parked input is processed in order until some has to wait. Until it is resumed, a turn requests one Resume.
func TestProcess(t *testing.T) {
	in := New(Config{Clock: clock.New(), Out: &outgoing.Mail{Me: address.Named("self")}})
	in.Leaving = true
	for n := range 3 {
		in.Park(n)
	}
	in.Process(func() bool { return !in.Resting() }, func(m any) bool {
		if m == 1 {
			in.Rest()
			in.Rest()
		}
		return m != 1
	})
	if in.Parked() != 2 || len(in.Out.Out) != 1 || in.Drained() {
		t.Errorf("%d are parked, %d sent", in.Parked(), len(in.Out.Out))
	}
	in.Resume()
	in.Process(func() bool { return !in.Resting() }, func(any) bool { return true })
	if !in.Drained() {
		t.Errorf("%d are parked", in.Parked())
	}
}
