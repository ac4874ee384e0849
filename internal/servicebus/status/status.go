package status

import (
	"cmp"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"candlemark/internal/servicebus/entity"
)

// Table has the statuses of entities. In the zero value and nil all entities are active. It is safe for concurrent use.
type Table struct {
	now atomic.Pointer[snapshot]

	mu       sync.Mutex // held to make the next snapshot, and for watches
	watchers map[*func(vhost, path string)]struct{}
}

type snapshot struct {
	generation uint64
	statuses   map[key]entity.Status
	kilobytes  map[key]int64 // the maximum sizes of messages of entities that set one
}

type key struct{ vhost, path string }

func (t *Table) snapshot() *snapshot {
	if t != nil {
		if s := t.now.Load(); s != nil {
			return s
		}
	}
	return &snapshot{}
}

// Generation grows with each change.
func (t *Table) Generation() uint64 { return t.snapshot().generation }

// Sends reports whether messages may be sent to the queue or topic of that name.
func (t *Table) Sends(vhost, name string) bool { return t.snapshot().of(vhost, name).Sends() }

// Receives reports whether messages may be received from a queue, or from a dead-letter queue, which has the status of
// its entity. For a subscription its topic must allow it too.
func (t *Table) Receives(vhost, queue string) bool {
	s := t.snapshot()
	if len(s.statuses) == 0 {
		return true
	}
	path := strings.TrimSuffix(queue, entity.DeadLetterQueue(""))
	kind, topic, _ := entity.OfQueue(path)
	return s.of(vhost, path).Receives() && (kind != entity.Subscription || s.of(vhost, topic).Receives())
}

func (s *snapshot) of(vhost, path string) entity.Status {
	return cmp.Or(s.statuses[key{vhost, path}], entity.Active)
}

// Scopes returns the addresses that the status of an entity covers: the entity's own, and its dead-letter queue's by
// name.
func Scopes(path string) []string { return []string{path, entity.DeadLetterQueue(path)} }

// Set sets the status of the entity of a path, "" for none, and notifies the watchers of a change.
func (t *Table) Set(vhost, path string, status entity.Status) {
	t.mu.Lock()
	s := t.snapshot()
	if s.of(vhost, path) == cmp.Or(status, entity.Active) {
		t.mu.Unlock()
		return
	}
	next := &snapshot{s.generation + 1, maps.Clone(s.statuses), s.kilobytes}
	if next.statuses == nil {
		next.statuses = map[key]entity.Status{}
	}
	if next.statuses[key{vhost, path}] = status; cmp.Or(status, entity.Active) == entity.Active {
		delete(next.statuses, key{vhost, path})
	}
	t.now.Store(next)
	watchers := maps.Clone(t.watchers)
	t.mu.Unlock()
	for f := range watchers {
		(*f)(vhost, path)
	}
}

// SetMaximum sets the maximum size of a message to the entity of a path, in KiB; 0 for none (SBE-17). Attached links
// keep their maximum.
func (t *Table) SetMaximum(vhost, path string, kilobytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.snapshot()
	if s.kilobytes[key{vhost, path}] == kilobytes {
		return
	}
	next := &snapshot{s.generation, s.statuses, maps.Clone(s.kilobytes)}
	if next.kilobytes == nil {
		next.kilobytes = map[key]int64{}
	}
	if next.kilobytes[key{vhost, path}] = kilobytes; kilobytes == 0 {
		delete(next.kilobytes, key{vhost, path})
	}
	t.now.Store(next)
}

// Maximum returns the maximum size of a message to the queue or topic of that name, in KiB, 0 if it sets none.
func (t *Table) Maximum(vhost, name string) int64 { return t.snapshot().kilobytes[key{vhost, name}] }

// Forget removes the statuses of a deleted virtual host, without notifying watchers.
func (t *Table) Forget(vhost string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.snapshot()
	next := &snapshot{s.generation + 1, maps.Clone(s.statuses), maps.Clone(s.kilobytes)}
	maps.DeleteFunc(next.statuses, func(k key, _ entity.Status) bool { return k.vhost == vhost })
	maps.DeleteFunc(next.kilobytes, func(k key, _ int64) bool { return k.vhost == vhost })
	t.now.Store(next)
}

// Watch calls f, in any goroutine, after each change, until stop and perhaps once more. f must not block. A nil table
// never changes.
func (t *Table) Watch(f func(vhost, path string)) (stop func()) {
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = map[*func(vhost, path string)]struct{}{}
	}
	t.watchers[&f] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, &f)
	}
}
