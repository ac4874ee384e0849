package nodeid

import (
	"slices"
	"sync"
	"time"
)

// Election is the begin of a leader's office.
type Election struct {
	Leader string // name
	Term   uint64
	At     time.Time // when this node learned of it
}

// MaxElections is how many elections a node remembers.
const MaxElections = 16

// Elections are the last elections that a process knows of.
type Elections struct {
	mu   sync.Mutex
	list []Election
}

// Add notes a new leader; nothing if the identity is "".
func (e *Elections) Add(leader string, term uint64) {
	if leader == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.list); n > 0 && e.list[n-1].Term == term { // name and term of a leader are read one after the other
		e.list = e.list[:n-1]
	}
	e.list = append(e.list, Election{NameOf(leader), term, time.Now()})
	e.list = e.list[max(0, len(e.list)-MaxElections):]
}

// All returns them, the latest last.
func (e *Elections) All() []Election {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}
