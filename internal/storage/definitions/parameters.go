package definitions

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"candlemark/internal/access/auth"
	"candlemark/internal/servicebus/entity"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/storage/parameters"
)

// Parameters are the parameters of components while the broker runs. Changes are visible once they are stored.
type Parameters struct {
	meta     Store      // nil: nothing is stored
	changing sync.Mutex // held from the check of a change until it is visible
	mu       sync.RWMutex
	all      map[parameterKey]Parameter
	counts   map[parameterKey]int // by component, in a virtual host and, without one, in all; no names

	statuses status.Table // of entities, from their parameters
	limits   map[string]int
}

type parameterKey struct{ vhost, component, name string }

func keyOf(p Parameter) parameterKey { return parameterKey{p.VHost, p.Component, p.Name} }

// NewParameters returns Parameters with the values stored in m. With a nil m nothing is stored. limits are the maximum
// numbers of parameters in all virtual hosts, by component; others have no limit there.
func NewParameters(m Store, stored []Parameter, limits map[string]int) *Parameters {
	ps := &Parameters{meta: m, limits: limits, all: map[parameterKey]Parameter{}, counts: map[parameterKey]int{}}
	for _, p := range stored {
		ps.put(p)
		ps.updateStatus(p)
	}
	return ps
}

// Statuses returns the statuses of entities of Azure Service Bus.
func (ps *Parameters) Statuses() *status.Table { return &ps.statuses }

// updateStatus updates the status of the entity that a parameter belongs to. A deleted parameter has no value.
func (ps *Parameters) updateStatus(p Parameter) {
	if p.Component == parameters.Entity {
		extra, _ := entity.ParseExtra(p.Value) // none if it cannot be read
		ps.statuses.Set(p.VHost, p.Name, extra.Status)
		ps.statuses.SetMaximum(p.VHost, p.Name, extra.MaxMessage())
	}
}

// All returns the parameters of a virtual host, or of all for "", by virtual host, component and name. They are
// immutable.
func (ps *Parameters) All(vhost string) []Parameter {
	var list []Parameter
	ps.mu.RLock()
	for _, p := range ps.all {
		if vhost == "" || p.VHost == vhost {
			list = append(list, p)
		}
	}
	ps.mu.RUnlock()
	slices.SortFunc(list, func(a, b Parameter) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Get returns the parameter with the names of p, false if there is none. It is immutable.
func (ps *Parameters) Get(p Parameter) (Parameter, bool) {
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	found, there := ps.all[keyOf(p)]
	return found, there
}

// Put creates or replaces a parameter. Errors: parameters.TooMany, parameters.Full, or auth.ErrNotStored.
func (ps *Parameters) Put(p Parameter) (created bool, err error) {
	ps.changing.Lock()
	defer ps.changing.Unlock()
	if _, there := ps.Get(p); !there {
		created = true
		if ps.counts[parameterKey{p.VHost, p.Component, ""}] >= parameters.MaxOf(p.Component) {
			return created, parameters.TooMany(p.Component, p.VHost)
		}
		if limit, limited := ps.limits[p.Component]; limited && ps.counts[parameterKey{"", p.Component, ""}] >= limit {
			return created, parameters.Full(p.Component, limit)
		}
	}
	if err := ps.store(Change{Put: []any{p}}); err != nil {
		return created, err
	}
	ps.mu.Lock()
	ps.put(p)
	ps.mu.Unlock()
	ps.updateStatus(p)
	return created, nil
}

// put and drop keep the counts. They are called with both mutexes, or from the only goroutine.
func (ps *Parameters) put(p Parameter) {
	ps.drop(p)
	ps.all[keyOf(p)] = p
	ps.count(p, 1)
}

func (ps *Parameters) drop(p Parameter) (found bool) {
	if _, found = ps.all[keyOf(p)]; found {
		delete(ps.all, keyOf(p))
		ps.count(p, -1)
	}
	return found
}

func (ps *Parameters) count(p Parameter, by int) {
	for _, key := range []parameterKey{{p.VHost, p.Component, ""}, {"", p.Component, ""}} {
		if ps.counts[key] += by; ps.counts[key] == 0 {
			delete(ps.counts, key)
		}
	}
}

// Delete removes the parameter with these names; found reports whether it existed. Error: auth.ErrNotStored.
func (ps *Parameters) Delete(p Parameter) (found bool, err error) {
	ps.changing.Lock()
	defer ps.changing.Unlock()
	if err := ps.store(Change{Delete: []any{p}}); err != nil {
		return false, err
	}
	ps.mu.Lock()
	found = ps.drop(p)
	ps.mu.Unlock()
	p.Value = nil
	ps.updateStatus(p)
	return found, nil
}

// Forget removes the parameters of a deleted virtual host, which are deleted from the store with it.
func (ps *Parameters) Forget(vhost string) {
	ps.changing.Lock()
	defer ps.changing.Unlock()
	for _, p := range ps.All(vhost) {
		ps.mu.Lock()
		ps.drop(p)
		ps.mu.Unlock()
	}
	ps.statuses.Forget(vhost)
}

// store waits until a change is stored.
func (ps *Parameters) store(c Change) error {
	if ps.meta == nil {
		return nil
	}
	if _, err := Wait(ps.meta, c); err != nil {
		return fmt.Errorf("%w: %w", auth.ErrNotStored, err)
	}
	return nil
}
