package figures

import (
	"sync/atomic"

	"candlemark/policies"
)

// Values are the numbers of one queue, found by the constants below.
type Values [count]int64

// What Values are of.
const (
	Running         = iota // 1 for a queue that has begun and has not failed
	Ready                  // messages, as clients see them
	Unacked                // messages
	ReadyBytes             // of bodies
	UnackedBytes           // of bodies
	Persistent             // messages, ready and unacked
	PersistentBytes        // of bodies
	Memory                 // bytes that messages take
	Scheduled              // messages that wait for their time
	Deferred               // messages that are delivered only to who asks for their numbers
	Expiring               // ready messages that expire
	Timed                  // scheduled messages, and deliveries that have to be settled in time
	Consumers
	Leased    // 1 for a queue that ends when nobody uses it
	LeaseEnds // when it does, wall ms, 0 while it is in use

	count
)

// Figures are those of one queue. They are safe for concurrent use and must not be copied. The zero value is a queue that has not begun, and so
// is nil. Values that are read one after the other need not be of one moment.
type Figures struct {
	values         [count]atomic.Int64
	user, operator atomic.Pointer[policies.Policy]
}

// Tell is called by the queue.
func (f *Figures) Tell(v *Values) {
	for i := range v {
		if f.values[i].Load() != v[i] {
			f.values[i].Store(v[i])
		}
	}
}

// Get returns one of the values.
func (f *Figures) Get(which int) int64 {
	if f == nil {
		return 0
	}
	return f.values[which].Load()
}

// Match is called by the queue: these policies apply to it, or nil if there is none.
func (f *Figures) Match(user, operator *policies.Policy) {
	f.user.Store(user)
	f.operator.Store(operator)
}

// Policies returns the names of those that apply to the queue while it runs, or "" if there is none.
func (f *Figures) Policies() (user, operator string) {
	if f.Get(Running) == 0 {
		return "", ""
	}
	if p := f.user.Load(); p != nil {
		user = p.Name
	}
	if p := f.operator.Load(); p != nil {
		operator = p.Name
	}
	return user, operator
}
