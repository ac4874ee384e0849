package queries

import (
	"context"
	"sync"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
)

// turns lets one query at a time run. A user has a share of the waiting queries (ACC-10).
type turns struct {
	running chan struct{} // capacity 1
	mu      sync.Mutex
	of      map[string]int // running and waiting queries, by user
}

// perUser is the maximum number of a user's queries that run or wait.
const perUser = 4

func newTurns() *turns { return &turns{running: make(chan struct{}, 1), of: map[string]int{}} }

// take waits for the turn of the user of ctx, which lasts until leave is called. Errors: management.ErrBusy, or ctx's.
func (t *turns) take(ctx context.Context) (leave func(), err error) {
	user := ""
	if by := events.OriginOf(ctx); by != nil {
		user = by.User
	}
	t.mu.Lock()
	if t.of[user] >= perUser {
		t.mu.Unlock()
		return nil, management.ErrBusy
	}
	t.of[user]++
	t.mu.Unlock()
	select {
	case t.running <- struct{}{}:
		return func() { <-t.running; t.forget(user) }, nil
	case <-ctx.Done():
		t.forget(user)
		return nil, ctx.Err()
	}
}

func (t *turns) forget(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[user]--; t.of[user] == 0 {
		delete(t.of, user)
	}
}
