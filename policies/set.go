package policies

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
)

// Set is an immutable snapshot of all policies and operator policies of one
// virtual host. A change makes a new Set; the policies themselves are shared.
// Safe for any number of readers.
type Set struct {
	// VHost is the virtual host's name.
	VHost string
	// Version is 0 for the empty set and grows by one with every change.
	Version uint64

	stores [2][]*Policy // user, operator; in the order in which they are tried
}

// NewSet returns the empty set of a virtual host.
func NewSet(vhost string) *Set { return &Set{VHost: vhost} }

// store returns the index of the store that a policy lives in.
func store(operator bool) int {
	if operator {
		return 1
	}
	return 0
}

// With returns the set with p in it, in place of the policy of the same name
// and sort. It returns s itself when p equals that one: storing an identical
// value changes nothing and tells nobody (POL-9).
func (s *Set) With(p *Policy) *Set {
	if s.Lookup(p.Operator, p.Name).Equal(p) {
		return s
	}
	list := s.without(p.Operator, p.Name)
	i, _ := slices.BinarySearchFunc(list, p, compareOrder)
	return s.replace(p.Operator, slices.Insert(list, i, p))
}

// Without returns the set without the named policy, s itself when there is none.
func (s *Set) Without(operator bool, name string) *Set {
	if s.Lookup(operator, name) == nil {
		return s
	}
	return s.replace(operator, s.without(operator, name))
}

// Lookup returns the named policy, nil if there is none.
func (s *Set) Lookup(operator bool, name string) *Policy {
	for _, p := range s.stores[store(operator)] {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Policies returns the user policies or the operator policies as the HTTP API
// and rabbitmqctl list them: by ascending priority (POL-13, POL-17), then by
// name. The slice is the caller's.
func (s *Set) Policies(operator bool) []*Policy {
	list := slices.Clone(s.stores[store(operator)])
	slices.SortFunc(list, func(a, b *Policy) int {
		return cmp.Or(compareNumbers(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Match returns the user policy and the operator policy that apply to the
// object, nil where none does: of those that match, the one of highest
// priority; of equal ones, the first by name (POL-1 to POL-4). User policies that
// match one of the names in but do not apply.
func (s *Set) Match(kind Kind, name string, but ...string) (user, operator *Policy) {
	return first(s.stores[0], kind, name, but), first(s.stores[1], kind, name, nil)
}

func first(list []*Policy, kind Kind, name string, but []string) *Policy {
	for _, p := range list {
		if p.Matches(kind, name) && !slices.ContainsFunc(but, p.pattern.match) {
			return p
		}
	}
	return nil
}

func (s *Set) without(operator bool, name string) []*Policy {
	return slices.DeleteFunc(slices.Clone(s.stores[store(operator)]), func(p *Policy) bool { return p.Name == name })
}

func (s *Set) replace(operator bool, list []*Policy) *Set {
	next := &Set{VHost: s.VHost, Version: s.Version + 1, stores: s.stores}
	next.stores[store(operator)] = list
	return next
}

// compareOrder sorts policies in the order in which they are tried.
func compareOrder(a, b *Policy) int {
	return cmp.Or(compareNumbers(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
}

// compareNumbers compares exactly, integers of any length and floats alike.
func compareNumbers(a, b json.Number) int {
	x, errX := strconv.ParseInt(string(a), 10, 64)
	y, errY := strconv.ParseInt(string(b), 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	p, okP := new(big.Rat).SetString(string(a))
	q, okQ := new(big.Rat).SetString(string(b))
	if !okP || !okQ {
		panic("policies: not a number: " + string(a) + ", " + string(b))
	}
	return p.Cmp(q)
}
