package stream

import (
	"errors"

	"candlemark/internal/transport/socket"
)

// looped is a connection that shares a loop with others (internal/transport/socket).
type looped interface {
	TryRead(b []byte) (int, error)
	Listen(client socket.Client) error
	Pause()
}

// loop lets the loop of many sockets, if there is one, read a socket while its reader has nothing to wait for (ADR 57).
// A reader that has handed its socket to the loop does not touch its own state until goOn or handOut.
type loop struct {
	reader *Reader
	want   int    // total bytes of the frame at the start of the input, 0 if unknown
	conn   looped // nil if a goroutine reads the socket
}

// leave hands the socket to its loop. False if it has none, or is closed; then the next read reports that.
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

// guarded calls do; a panic ends the reader, not the loop.
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
