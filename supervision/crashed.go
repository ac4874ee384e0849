package supervision

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// fallenLimit is how many queues that failed are remembered. Mail for one can be
// on its way for a moment only: until its virtual host has forgotten the name.
const fallenLimit = 4096

// crashedQueues remembers the queues that ended by a panic: what is sent to them after
// they closed their mailbox is refused, while a queue that ended in order has
// taken it (PRO-2). The zero value remembers nothing yet.
type crashedQueues struct {
	mu   sync.Mutex
	ids  map[string]struct{}
	ring []string // of the ids, oldest at next once it is full
	next int
}

func (f *crashedQueues) add(pid *actor.PID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.ids[pid.Id]; known {
		return
	}
	if f.ids == nil {
		f.ids = map[string]struct{}{}
	}
	f.ids[pid.Id] = struct{}{}
	if len(f.ring) < fallenLimit {
		f.ring = append(f.ring, pid.Id)
		return
	}
	delete(f.ids, f.ring[f.next])
	f.ring[f.next] = pid.Id
	f.next = (f.next + 1) % fallenLimit
}

// has reports whether pid, which may be nil, is one of them.
func (f *crashedQueues) has(pid *actor.PID) bool {
	if pid == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, is := f.ids[pid.Id]
	return is
}
