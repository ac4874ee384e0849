package queuestats

import (
	"sync/atomic"

	"candlemark/policies"
)

// Values are the statistics of one queue, indexed by the constants below.
type Values [count]int64

// The indexes of Values.
const (
	Running         = iota // 1 for a queue that has started and not failed
	Ready                  // ready messages, as clients see them
	Unacked                // unacked messages
	ReadyBytes             // bytes of bodies
	UnackedBytes           // bytes of bodies
	Persistent             // stored messages (STORE-3), ready and unacked
	PersistentBytes        // bytes of bodies
	Memory                 // bytes of memory held by messages
	Scheduled              // scheduled messages before their due time
	Deferred               // deferred messages: delivered only when requested by number
	Expiring               // ready messages with an expiry
	Timed                  // scheduled messages and deliveries with a settlement deadline
	Consumers
	Leased      // 1 for a queue with a lease
	LeaseEnds   // end of the lease in ms of the broker's time, 0 while the queue is in use
	OldestReady // since when the oldest ready message waits, in ms of the broker's time, 0 if none is ready (AGE-2)

	count
)

// Stats holds the Values of one queue and the policies that apply to it. It is safe for concurrent use and must not be
// copied. The zero value, and nil, stand for a queue that has not started. Successive reads may see the states of
// different turns.
type Stats struct {
	values         [count]atomic.Int64
	user, operator atomic.Pointer[policies.Policy]
}

// Set stores the values. Only the queue calls it.
func (f *Stats) Set(v *Values) {
	for i := range v {
		if f.values[i].Load() != v[i] {
			f.values[i].Store(v[i])
		}
	}
}

// Get returns the value with that index.
func (f *Stats) Get(which int) int64 {
	if f == nil {
		return 0
	}
	return f.values[which].Load()
}

// SetPolicies stores the policies that apply to the queue, nil for none. Only the queue calls it.
func (f *Stats) SetPolicies(user, operator *policies.Policy) {
	f.user.Store(user)
	f.operator.Store(operator)
}

// Policies returns the names of the policies that apply to the queue while it runs, "" for none.
func (f *Stats) Policies() (user, operator string) {
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
