package grants

import (
	"errors"
	"maps"
	"math"
	"strings"
	"sync/atomic"

	"candlemark/internal/auth"
	"candlemark/internal/servicebus/sas"
)

// Most is how many grants a connection has at most.
const Most = 2000

// ErrTooMany is the error of one more.
var ErrTooMany = errors.New("the connection has too many tokens")

// Never is the end of what does not end.
const Never = math.MaxInt64

// Grant says who counts at the addresses of a scope. It is not altered.
type Grant struct {
	User auth.User // whose key has signed the token
	Ends int64     // of the broker's time, ms, from which on it is good for nothing
}

// Table has the grants of a connection, by scope. The zero value has none. One that has ended stays: the rights of the login do not come back because a
// token has run out.
type Table struct{ now atomic.Pointer[snapshot] }

type snapshot struct {
	generation uint64
	grants     map[string]*Grant
}

// Put puts a grant in the place of the one with that scope, an address such as sb://host/queue. Only its owner calls it. Error: ErrTooMany.
func (t *Table) Put(scope string, g *Grant) error {
	s := t.snapshot()
	path := sas.Path(scope)
	if s.grants[path] == nil && len(s.grants) >= Most {
		return ErrTooMany
	}
	next := &snapshot{s.generation + 1, maps.Clone(s.grants)}
	if next.grants == nil {
		next.grants = map[string]*Grant{}
	}
	next.grants[strings.Clone(path)] = g
	t.now.Store(next)
	return nil
}

func (t *Table) snapshot() *snapshot {
	if s := t.now.Load(); s != nil {
		return s
	}
	return &snapshot{}
}

// Generation grows with each Put.
func (t *Table) Generation() uint64 { return t.snapshot().generation }

// At is the grant that counts at an address: that of the longest scope which covers it, nil if none does.
func (t *Table) At(address string) *Grant {
	s := t.snapshot()
	if len(s.grants) == 0 {
		return nil
	}
	for path := sas.Path(address); ; {
		if g := s.grants[path]; g != nil || path == "" {
			return g
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
}

// Ended are the scopes of the grants that have ended behind from, until now.
func (t *Table) Ended(from, now int64) (scopes []string) {
	for path, g := range t.snapshot().grants {
		if g.Ends > from && g.Ends <= now {
			scopes = append(scopes, path)
		}
	}
	return scopes
}

// Covers tells whether a scope covers an address.
func Covers(scope, address string) bool {
	in, path := sas.Path(scope), sas.Path(address)
	return in == "" || strings.HasPrefix(path, in) && (len(path) == len(in) || path[len(in)] == '/')
}

// Next is the first end behind now, Never if there is none.
func (t *Table) Next(now int64) int64 {
	next := int64(Never)
	for _, g := range t.snapshot().grants {
		if g.Ends > now {
			next = min(next, g.Ends)
		}
	}
	return next
}
