package rest

import (
	"context"
	"net/http"
	"regexp/syntax"
	"time"
)

// Limits on the work for one filter.
const (
	// heaviestFilter is the approximate maximum number of instructions of a regular expression, in which repetitions
	// and classes are expanded.
	heaviestFilter = 2000
	// filterTime is the time limit for all names together.
	filterTime = 2 * time.Second
)

// filtered returns the items whose names the view keeps. Error: the time was not enough for all of them.
func filtered[T any](ctx context.Context, v *view, items []T, name func(*T) string) (kept []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, filterTime)
	defer cancel()
	kept = items[:0]
	for i := range items {
		if ctx.Err() != nil {
			return nil, Refuse(http.StatusServiceUnavailable, "timeout", "filtering by name took too long")
		}
		if v.matches(name(&items[i])) {
			kept = append(kept, items[i])
		}
	}
	clear(items[len(kept):])
	return kept, nil
}

// weight returns the approximate number of instructions that an expression is compiled to.
func weight(e *syntax.Regexp) int {
	n := 1 + len(e.Rune)/2
	if e.Op == syntax.OpLiteral {
		n = len(e.Rune)
	}
	for _, sub := range e.Sub {
		n = min(n+weight(sub), heaviestFilter+1)
	}
	if e.Op == syntax.OpRepeat {
		if e.Max < 0 {
			n *= e.Min + 1
		} else {
			n *= max(e.Max, 1)
		}
	}
	return min(n, heaviestFilter+1)
}
