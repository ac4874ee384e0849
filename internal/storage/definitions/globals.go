package definitions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"candlemark/internal/access/auth"
)

// Globals are the global parameters while the broker runs. Reads use an immutable snapshot; changes wait until they are
// stored.
type Globals struct {
	meta Store // nil: nothing is stored
	now  atomic.Pointer[map[string]json.RawMessage]
	mu   sync.Mutex // held while the next snapshot is made
}

// NewGlobals returns Globals with the values stored in m. With a nil m nothing is stored.
func NewGlobals(m Store, stored []Global) *Globals {
	g := &Globals{meta: m}
	all := map[string]json.RawMessage{}
	for _, one := range stored {
		all[one.Name] = one.Value
	}
	g.now.Store(&all)
	return g
}

// All returns all values by name. They are immutable.
func (g *Globals) All() map[string]json.RawMessage { return *g.now.Load() }

// Put creates or replaces a parameter. Errors: the value is not JSON, or auth.ErrNotStored.
func (g *Globals) Put(name string, value json.RawMessage) (created bool, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return false, err
	}
	value = compact.Bytes()
	err = g.change(Change{Put: []any{Global{name, value}}}, func(next map[string]json.RawMessage) {
		created = next[name] == nil
		next[name] = value
	})
	return created, err
}

// Delete removes a parameter; found reports whether it existed. Error: auth.ErrNotStored.
func (g *Globals) Delete(name string) (found bool, err error) {
	err = g.change(Change{Delete: []any{Global{Name: name}}}, func(next map[string]json.RawMessage) {
		found = next[name] != nil
		delete(next, name)
	})
	return found, err
}

func (g *Globals) change(c Change, f func(next map[string]json.RawMessage)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.meta != nil {
		if _, err := Wait(g.meta, c); err != nil {
			return fmt.Errorf("%w: %w", auth.ErrNotStored, err)
		}
	}
	next := maps.Clone(g.All())
	f(next)
	g.now.Store(&next)
	return nil
}
