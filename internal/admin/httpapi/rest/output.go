package rest

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"candlemark/internal/transport/budget"
)

// Output writes an answer. The bytes that its client has not read count for its user (budget.Unread), and a client that does not read
// while others need the memory is cut off. Close it.
type Output struct {
	w       http.ResponseWriter
	control *http.ResponseController
	out     *budget.Output
	part    *budget.Part
	gone    atomic.Bool
}

// NewOutput returns the output of an answer to a user, "" for none. A nil unread has no bounds.
func NewOutput(w http.ResponseWriter, unread *budget.Unread, user string) *Output {
	o := &Output{w: w, control: http.NewResponseController(w)}
	o.out = unread.Of(user, func() {
		o.gone.Store(true) // before the deadline: see Write
		_ = o.control.SetWriteDeadline(time.Unix(1, 0))
	})
	o.part = o.out.Part()
	return o
}

// Close returns what the output holds.
func (o *Output) Close() {
	if o != nil {
		o.out.Close()
	}
}

// Admits reports whether the user may have more answers.
func (o *Output) Admits() bool { return o.out.Admits() }

// await waits until the user may have more answers. Error: ctx's.
func (o *Output) await(ctx context.Context) error {
	for !o.Admits() {
		room := make(chan struct{}, 1)
		o.part.WhenRoom(budget.FreeUnread+1, func() { room <- struct{}{} })
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// deadline sets how long the client may take to read that many bytes, if the connection supports deadlines.
func deadline(w http.ResponseWriter, bytes int) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writing(bytes)))
}

// Write writes a part of the answer, and keeps no more of it than the client has not read, but for a factor of two. The caller
// must not keep it either. It calls charged when the part counts for the user, and reports whether the client still reads.
func (o *Output) Write(b []byte, charged func()) bool {
	left := int64(len(b))
	o.part.Take(left)
	charged()
	defer func() { o.part.Return(left) }()
	deadline(o.w, len(b))
	if o.gone.Load() {
		return false
	}
	for held := len(b); len(b) > 0; {
		n := min(len(b), piece)
		if _, err := o.w.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
		o.part.Return(int64(n))
		if left -= int64(n); len(b) < held/2 && len(b) > piece {
			b = slices.Clone(b)
			held = len(b)
		}
	}
	return true
}
