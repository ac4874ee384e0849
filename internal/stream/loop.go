package stream

import (
	"errors"

	"candlemark/internal/socket"
)

// looped is a connection that a loop waits for, together with others (internal/socket).
type looped interface {
	TryRead(b []byte) (int, error)
	Listen(client socket.Client) error
	Pause()
}

// loop has a socket read by a loop for many, where there is one, as long as its reader has nothing to wait for (ADR
// 57). A reader that has handed its socket to the loop touches none of its own state until goOn or handOut.
type loop struct {
	reader *Reader
	want   int    // bytes that the frame at the start of the input has in all, 0 if that is not known
	conn   looped // nil for a goroutine that blocks on it
}

// leave leaves the socket to its loop. False if it has none, or is closed, as the next read reports.
func (l *loop) leave() bool { return l.conn != nil && l.conn.Listen(l) == nil }

// Fill implements socket.Client.
func (l *loop) Fill() (n int) {
	l.guarded(func() {
		in := &l.reader.Input
		free := in.Room(l.want)
		got, err := l.conn.TryRead(free)
		switch {
		case err == nil:
			in.Took(got, len(free))
			n = got
		case !errors.Is(err, socket.ErrNotNow):
			l.conn.Pause()
			l.reader.goOn(err)
		}
	})
	return n
}

// Handle implements socket.Client.
func (l *loop) Handle() {
	l.guarded(func() {
		if !l.reader.handOut() {
			l.conn.Pause()
			l.reader.goOn(nil)
		}
	})
}

// guarded ends the reader if do panics, not the loop.
func (l *loop) guarded(do func()) {
	done := false
	defer func() {
		if !done {
			l.conn.Pause()
			l.reader.Protocol.Recovered(recover())
			l.reader.end()
		}
	}()
	do()
	done = true
}
