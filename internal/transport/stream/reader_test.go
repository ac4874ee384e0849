package stream

import (
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a protocol with frames of three bytes that records its calls.
type lines struct {
	*Reader
	publishes bool // every frame is a message
	calls     []string
	err       error // returned for the next frame
	grace     uint64
	again     chan struct{}
}

func (l *lines) Dispatch() (want int, err error) {
	for len(l.Input.Unparsed()) >= 3 {
		l.calls = append(l.calls, string(l.Input.Unparsed()[:3]))
		l.Input.Consume(3)
		if l.Published = l.publishes; l.err != nil {
			return 0, l.err
		}
	}
	return 3, nil
}

func (l *lines) HeldUp()              { l.calls = append(l.calls, "held up") }
func (l *lines) Lost(error)           { l.calls = append(l.calls, "lost") }
func (l *lines) Left()                { l.calls = append(l.calls, "left") }
func (l *lines) Farewell(error) error { l.calls = append(l.calls, "farewell"); return l.Forget() }
func (l *lines) Recovered(reason any) {
	if reason != nil {
		l.calls = append(l.calls, "recovered")
	}
}

// reads runs a reader while do uses the other end of its socket, and returns the recorded calls.
func reads(t *testing.T, l *lines, do func(peer net.Conn, valve *budget.Valve, stop func())) []string {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		ours, theirs := net.Pipe()
		stopping, again, valve := make(chan struct{}), make(chan struct{}, 1), &budget.Valve{}
		l.again = again
		l.Reader = &Reader{Protocol: l, Valve: valve, Stopping: stopping, Again: again, Grace: l.grace}
		l.Input.Gate = message.NewGate(1 << 20)
		l.Init(ours)
		over := make(chan struct{})
		go func() {
			defer close(over)
			l.Run(func() bool { return true })
		}()
		do(theirs, valve, func() { close(stopping) })
		_ = theirs.Close()
		<-over
		_ = ours.Close()
	})
	return l.calls
}

func write(peer net.Conn, text string) {
	_, _ = peer.Write([]byte(text))
	synctest.Wait()
}

// Input is dispatched in whole frames, in order, until the socket is closed.
func TestReader(t *testing.T) {
	calls := reads(t, &lines{}, func(peer net.Conn, _ *budget.Valve, _ func()) {
		write(peer, "onetw")
		write(peer, "othree")
	})
	if want := []string{"one", "two", "thr", "lost", "left"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

// After a protocol error, or when it is stopped, the reader calls Farewell, and later input is discarded.
func TestReaderFarewell(t *testing.T) {
	for name, l := range map[string]*lines{"error": {err: errors.New("no frame")}, "end": {}} {
		calls := reads(t, l, func(peer net.Conn, _ *budget.Valve, stop func()) {
			if name == "end" {
				stop()
			}
			write(peer, "one")
			write(peer, "two")
		})
		want := []string{"one", "farewell", "lost", "left"}
		if name == "end" {
			want = want[1:]
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: calls %q, want %q", name, calls, want)
		}
	}
}

// A publishing connection is not read during an alarm; others are.
func TestReaderAlarm(t *testing.T) {
	for _, publishes := range []bool{true, false} {
		l := &lines{publishes: publishes}
		calls := reads(t, l, func(peer net.Conn, valve *budget.Valve, _ func()) {
			valve.SetShut(true)
			write(peer, "one")
			synctest.Wait()
			if l.Waiting.Load() != publishes {
				t.Errorf("publishes %v, waits %v", publishes, l.Waiting.Load())
			}
			valve.SetShut(false)
			l.again <- struct{}{}
			write(peer, "two")
		})
		want := []string{"one", "two", "lost", "left"}
		if publishes {
			want = slices.Insert(want, 1, "held up")
		}
		if !slices.Equal(calls, want) {
			t.Errorf("publishes %v: calls %q, want %q", publishes, calls, want)
		}
	}
}

// During each alarm a publishing connection is read up to its grace, and no further.
func TestReaderGrace(t *testing.T) {
	l := &lines{publishes: true, grace: 7}
	calls := reads(t, l, func(peer net.Conn, valve *budget.Valve, _ func()) {
		for range 2 {
			valve.SetShut(true)
			write(peer, "one")
			write(peer, "two")
			write(peer, "thr")
			if l.Waiting.Load() {
				t.Error("it waits before the grace is over")
			}
			write(peer, "fou")
			if !l.Waiting.Load() {
				t.Error("it reads on")
			}
			valve.SetShut(false)
			l.again <- struct{}{}
			synctest.Wait()
		}
	})
	calls = slices.DeleteFunc(calls, func(c string) bool { return c == "held up" })
	if want := []string{"one", "two", "thr", "fou", "one", "two", "thr", "fou", "lost", "left"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}
