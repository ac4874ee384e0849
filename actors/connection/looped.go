package connection

import (
	"errors"

	"candlemark/internal/socket"
)

// looped is a connection that a loop waits for, together with others (internal/socket).
type looped interface {
	TryRead(b []byte) (int, error)
	TryWrite(b []byte) int
	Listen(client socket.Client) error
	Pause()
}

var (
	// errLeft: the loop reads from now on.
	errLeft = errors.New("left to the loop")
	// errPending: what was read is not handed out, or not all, and may have to be waited for.
	errPending = errors.New("not handed out yet")
)

// leave leaves the socket to its loop, if it has one. Then nothing of the reader may be touched any more.
func (r *reader) leave() bool {
	if r.loop == nil {
		return false
	}
	return r.loop.Listen(r) == nil // else it is closed, and the next read tells
}

// resume takes the socket back from the loop and goes on in a goroutine.
func (r *reader) resume() {
	r.loop.Pause()
	go r.work(r.traffic)
}

// Fill implements socket.Client.
func (r *reader) Fill() (n int) {
	r.guarded(func() {
		free := r.in.Room(r.want)
		got, err := r.loop.TryRead(free)
		switch {
		case err == nil:
			r.in.Took(got, len(free))
			n, r.published = got, false
		case !errors.Is(err, socket.ErrNotNow):
			r.err = &socketError{err}
			r.resume()
		}
	})
	return n
}

// Handle implements socket.Client.
func (r *reader) Handle() {
	r.guarded(func() {
		if !isClosed(r.c.stopping) {
			r.inLoop = true
			r.want, r.err = r.dispatch()
			r.inLoop = false
		}
		if r.err != nil || isClosed(r.c.stopping) || !r.isCalm() || !r.hasCredit() {
			r.resume()
		}
	})
}

// guarded ends the reader if do panics, not the loop.
func (r *reader) guarded(do func()) {
	done := false
	defer func() {
		if !done {
			r.loop.Pause()
			r.end()
		}
	}()
	defer func() { r.c.recovered("reader", recover()) }()
	do()
	done = true
}
