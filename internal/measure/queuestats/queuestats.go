package queuestats

import (
	"sync/atomic"

	"candlemark/policies"
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

// Figures returns the figures by name.
func (f *Stats) Figures() Figures {
	var v Values
	for i := range v {
		v[i] = f.Get(i)
	}
	return v.Figures()
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
