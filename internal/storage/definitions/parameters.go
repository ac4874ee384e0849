package definitions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"candlemark/internal/access/auth"
	"candlemark/internal/servicebus/entity"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/storage/parameters"
)

// Parameters are the parameters of components while the broker runs. Reads use an immutable snapshot; changes wait
// until they are stored.
type Parameters struct {
	meta Store // nil: nothing is stored
	now  atomic.Pointer[map[parameterKey]Parameter]
	mu   sync.Mutex // held while the next snapshot is made

	statuses status.Table // of entities, from their parameters
	limits   map[string]int
}

type parameterKey struct{ vhost, component, name string }

func keyOf(p Parameter) parameterKey { return parameterKey{p.VHost, p.Component, p.Name} }

// NewParameters returns Parameters with the values stored in m. With a nil m nothing is stored. limits are the maximum
// numbers of parameters in all virtual hosts, by component; others have no limit there.
func NewParameters(m Store, stored []Parameter, limits map[string]int) *Parameters {
	ps := &Parameters{meta: m, limits: limits}
	all := map[parameterKey]Parameter{}
	for _, p := range stored {
		all[keyOf(p)] = p
		ps.updateStatus(p)
	}
	ps.now.Store(&all)
	return ps
}

// Statuses returns the statuses of entities of Azure Service Bus.
func (ps *Parameters) Statuses() *status.Table { return &ps.statuses }

// updateStatus updates the status of the entity that a parameter belongs to. A deleted parameter has no value.
func (ps *Parameters) updateStatus(what any) {
	if p, is := what.(Parameter); is && p.Component == parameters.Entity {
		extra, _ := entity.ParseExtra(p.Value) // none if it cannot be read
		ps.statuses.Set(p.VHost, p.Name, extra.Status)
		ps.statuses.SetMaximum(p.VHost, p.Name, extra.MaxMessage())
	}
}

// All returns the parameters of a virtual host, or of all for "", by virtual host, component and name. They are
// immutable.
func (ps *Parameters) All(vhost string) []Parameter {
	var list []Parameter
	for _, p := range *ps.now.Load() {
		if vhost == "" || p.VHost == vhost {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Parameter) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Get returns the parameter with the names of p, false if there is none. It is immutable.
func (ps *Parameters) Get(p Parameter) (Parameter, bool) {
	found, there := (*ps.now.Load())[keyOf(p)]
	return found, there
}

// Put creates or replaces a parameter. Errors: parameters.TooMany, parameters.Full, or auth.ErrNotStored.
func (ps *Parameters) Put(p Parameter) (created bool, err error) {
	err = ps.change(Change{Put: []any{p}}, func(next map[parameterKey]Parameter) error {
		_, there := next[keyOf(p)]
		if created = !there; created && ps.count(p.VHost, p.Component) >= parameters.MaxOf(p.Component) {
			return parameters.TooMany(p.Component, p.VHost)
		}
		if limit, limited := ps.limits[p.Component]; limited && created && ps.count("", p.Component) >= limit {
			return parameters.Full(p.Component, limit)
		}
		next[keyOf(p)] = p
		return nil
	})
	return created, err
}

// count returns the number of parameters of a component in a virtual host, or in all for "".
func (ps *Parameters) count(vhost, component string) (n int) {
	for key := range *ps.now.Load() {
		if (vhost == "" || key.vhost == vhost) && key.component == component {
			n++
		}
	}
	return n
}

// Delete removes the parameter with these names; found reports whether it existed. Error: auth.ErrNotStored.
func (ps *Parameters) Delete(p Parameter) (found bool, err error) {
	err = ps.change(Change{Delete: []any{p}}, func(next map[parameterKey]Parameter) error {
		_, found = next[keyOf(p)]
		delete(next, keyOf(p))
		return nil
	})
	return found, err
}

// Forget removes the parameters of a deleted virtual host, which are deleted from the store with it.
func (ps *Parameters) Forget(vhost string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	next := maps.Clone(*ps.now.Load())
	maps.DeleteFunc(next, func(key parameterKey, _ Parameter) bool { return key.vhost == vhost })
	ps.now.Store(&next)
	ps.statuses.Forget(vhost)
}

// change makes the next snapshot with f, unless that fails, and publishes it once the change is stored.
func (ps *Parameters) change(c Change, f func(next map[parameterKey]Parameter) error) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	next := maps.Clone(*ps.now.Load())
	if err := f(next); err != nil {
		return err
	}
	if ps.meta != nil {
		if _, err := Wait(ps.meta, c); err != nil {
			return fmt.Errorf("%w: %w", auth.ErrNotStored, err)
		}
	}
	ps.now.Store(&next)
	for _, p := range c.Put {
		ps.updateStatus(p)
	}
	for _, p := range c.Delete {
		p := p.(Parameter)
		p.Value = nil
		ps.updateStatus(p)
	}
	return nil
}
