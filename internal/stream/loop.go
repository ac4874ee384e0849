package stream

import (
	"errors"
	"net"

	"candlemark/internal/socket"
)

// looped is a connection that a loop waits for, together with others (internal/socket).
type looped interface {
	TryRead(b []byte) (int, error)
	Listen(client socket.Client) error
	Pause()
}

// Reader is who has its socket read by a Loop at times. The methods are called by the goroutine of the loop.
type Reader interface {
	// HandOut hands out what was read, as far as that waits for nobody. False says that the goroutine of the reader has to go on.
	HandOut() bool
	// GoOn begins that goroutine. The error is that of the socket, if there is one.
	GoOn(err error)
	// Broken ends the reader, which has panicked.
	Broken(reason any)
}

// Loop has a socket read by a loop for many, where there is one, as long as its reader has nothing to wait for (ADR 57). Who has left it to
// the loop touches nothing of its own until GoOn or HandOut.
type Loop struct {
	Input  *Input
	Reader Reader
	Want   int // bytes that the frame at the start of the input has in all, 0 if that is not known

	conn looped // nil for a goroutine that blocks on it
}

// Over finds out whether a loop can read a connection.
func (l *Loop) Over(conn net.Conn) { l.conn, _ = conn.(looped) }

// Leave leaves the socket to its loop. False if it has none, or is closed, which the next read tells.
func (l *Loop) Leave() bool { return l.conn != nil && l.conn.Listen(l) == nil }

// Fill implements socket.Client.
func (l *Loop) Fill() (n int) {
	l.guarded(func() {
		free := l.Input.Room(l.Want)
		got, err := l.conn.TryRead(free)
		switch {
		case err == nil:
			l.Input.Took(got, len(free))
			n = got
		case !errors.Is(err, socket.ErrNotNow):
			l.conn.Pause()
			l.Reader.GoOn(err)
		}
	})
	return n
}

// Handle implements socket.Client.
func (l *Loop) Handle() {
	l.guarded(func() {
		if !l.Reader.HandOut() {
			l.conn.Pause()
			l.Reader.GoOn(nil)
		}
	})
}

// guarded ends the reader if do panics, not the loop.
func (l *Loop) guarded(do func()) {
	done := false
	defer func() {
		if !done {
			l.conn.Pause()
			l.Reader.Broken(recover())
		}
	}()
	do()
	done = true
}
