package rest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"candlemark/internal/transport/budget"
)

// Bounds on requests whose answers may be large, or that ask many actors (ACC-12).
const (
	collections = 4                // that run at a time
	collectTime = 10 * time.Second // to wait for a place and for room, running time
	turnTime    = 3 * time.Second  // after which a turn no longer keeps other users waiting
)

// gate bounds the requests that run at a time: one of each user, and collections in all. Requests that have run for
// turnTime no longer count among the latter. Others wait in the order in which they came. Safe for concurrent use.
type gate struct {
	mu      sync.Mutex
	running map[string]*turn // by user
	counted int              // of running
	waiting []*waiter
}

// turn is a request that runs.
type turn struct {
	late  *time.Timer
	freed bool // it is not counted any more
}

type waiter struct {
	user  string
	enter chan struct{} // closed when it may run
}

// enter waits for a place until ctx ends; then it returns its error. Call leave.
func (g *gate) enter(ctx context.Context, user string) error {
	w := &waiter{user, make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.enter:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return ctx.Err()
	}
	return nil // it was admitted before the lock was taken
}

// leave ends a request of the user that had entered.
func (g *gate) leave(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[user].late.Stop()
	g.free(g.running[user])
	delete(g.running, user)
	g.admit()
}

// free has a turn not counted any more. The mutex is held.
func (g *gate) free(t *turn) {
	if !t.freed {
		t.freed = true
		g.counted--
	}
}

// admit admits the requests that may run. The mutex is held.
func (g *gate) admit() {
	if g.running == nil {
		g.running = map[string]*turn{}
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if g.counted >= collections || g.running[w.user] != nil {
			return false
		}
		t := &turn{}
		t.late = time.AfterFunc(turnTime, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.free(t)
			g.admit()
		})
		g.running[w.user] = t
		g.counted++
		close(w.enter)
		return true
	})
}

// Large returns the route with an answer that may be large or that asks many actors: it waits for its turn, which lasts until
// the answer is collected, and is refused if what its user does not read takes too much memory (ACC-12).
func (to Route) Large() Route {
	to.gate = func(a *API) *gate { return &a.lists }
	return to
}

// Import is Large with turns of its own: an import takes long, and must not keep lists waiting.
func (to Route) Import() Route {
	to.gate = func(a *API) *gate { return &a.imports }
	return to
}

// Turn is Large for a handler that has to read the body first.
func (r *Request) Turn() error { return r.begin(&r.lists) }

// begin waits for the turn of a large request.
func (r *Request) begin(g *gate) error {
	ctx, cancel := r.Broker.WithTimeout(r.Context(), collectTime)
	defer cancel()
	if r.out == nil {
		r.out = r.open()
	}
	err := r.takeTurn(ctx, g)
	switch {
	case err == nil:
		return nil
	case r.Context().Err() != nil:
		return r.Context().Err()
	}
	r.W.Header().Set("Retry-After", "1")
	return Refuse(http.StatusServiceUnavailable, "service_unavailable", "too many large requests at a time: try again")
}

// takeTurn waits until it is the turn of the request and its user may have more answers. Error: ctx's.
func (r *Request) takeTurn(ctx context.Context, g *gate) error {
	for {
		if err := r.out.await(ctx); err != nil {
			return err
		}
		if err := g.enter(ctx, r.User.Name); err != nil {
			return err
		}
		r.turn, r.turnOf = g, r.User.Name
		if r.out.Admits() {
			return nil
		}
		r.collected() // while it waited, others got the room
	}
}

// Charge counts memory, in bytes, that an answer takes until it is sent, before it is taken. A user who holds nothing may exceed
// the share by it; without room because of other answers it is refused with 503 (ACC-12).
func (r *Request) Charge(bytes int64) error {
	if r.out == nil {
		r.out = r.open()
	}
	r.charging.Lock()
	defer r.charging.Unlock()
	if bytes > budget.FreeUnread && !r.out.Admits() {
		r.W.Header().Set("Retry-After", "1")
		return Refuse(http.StatusServiceUnavailable, "service_unavailable", "too many large answers at a time")
	}
	r.out.part.Take(bytes)
	return nil
}

// collected ends the turn of the request, if it has one.
func (r *Request) collected() {
	if r.turn != nil {
		r.turn.leave(r.turnOf)
		r.turn = nil
	}
}

// open returns the output of the request.
func (r *Request) open() *Output {
	return NewOutput(r.W, r.Broker.Unread(), r.User.Name)
}

// piece is the number of bytes written at a time.
const piece = 64 << 10

// writing returns the time in which a client must have read that many bytes.
func writing(bytes int) time.Duration {
	return Writing + time.Duration(bytes)*time.Second/budget.SlowestRate
}
