package grants

import (
	"container/heap"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
)

// Max is the maximum number of grants of a connection.
const Max = 2000

// ErrTooMany is the error for more than Max grants.
var ErrTooMany = errors.New("the connection has too many tokens")

// Never is the end of grants without expiry.
const Never = math.MaxInt64

// Grant defines the user for the addresses of a scope. It is immutable.
type Grant struct {
	User auth.User // whose key has signed the token
	Ends int64     // time of expiry, ms of the broker's time
}

// Table has the grants of a connection, by scope. The zero value has none. An expired grant stays, so that the rights
// of the login do not return when a token expires.
type Table struct {
	grants     sync.Map // *Grant by path
	generation atomic.Uint64
	// Used only by their owner:
	byPath map[string]*end
	ends   ends // of grants whose end is not yet reported
}

// Put sets the grant of a scope, an address such as sb://host/queue. Only its owner calls it. Error: ErrTooMany.
func (t *Table) Put(scope string, g *Grant) error {
	path := sas.Path(scope)
	e := t.byPath[path]
	switch {
	case e == nil && len(t.byPath) >= Max:
		return ErrTooMany
	case e == nil:
		if t.byPath == nil {
			t.byPath = map[string]*end{}
		}
		e = &end{path: strings.Clone(path), index: -1}
		t.byPath[e.path] = e
	case e.index >= 0:
		heap.Remove(&t.ends, e.index)
	}
	if e.at = g.Ends; e.at != Never {
		heap.Push(&t.ends, e)
	}
	t.grants.Store(e.path, g)
	t.generation.Add(1) // after the grant: readers of the old value check again
	return nil
}

// Generation grows with each Put.
func (t *Table) Generation() uint64 { return t.generation.Load() }

// At returns the grant of the longest scope that covers an address, nil if none does.
func (t *Table) At(address string) *Grant {
	if t.Generation() == 0 {
		return nil
	}
	for path := sas.Path(address); ; {
		if g, ok := t.grants.Load(path); ok {
			return g.(*Grant)
		}
		if path == "" {
			return nil
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
}

// Ended returns the scopes of the grants that have expired by now, each once. Only the owner calls it.
func (t *Table) Ended(now int64) (scopes []string) {
	for len(t.ends) > 0 && t.ends[0].at <= now {
		scopes = append(scopes, heap.Pop(&t.ends).(*end).path)
	}
	return scopes
}

// Next returns the first end of the grants not yet returned by Ended, Never if there are none. Only the owner calls it.
func (t *Table) Next() int64 {
	if len(t.ends) == 0 {
		return Never
	}
	return t.ends[0].at
}

// Covers reports whether a scope covers an address.
func Covers(scope, address string) bool {
	in, path := sas.Path(scope), sas.Path(address)
	return in == "" || strings.HasPrefix(path, in) && (len(path) == len(in) || path[len(in)] == '/')
}
