package policies

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Policies is an immutable snapshot of all policies and operator policies of one
// virtual host. A change makes a new Set; the policies themselves are shared.
// Safe for any number of readers.
type Policies struct {
	// VHost is the virtual host's name.
	VHost string
	// Version is 0 for the empty set and grows by one with every change.
	Version uint64

	stores [2][]*Policy // user, operator; in the order in which they are tried
}

// NewSet returns the empty set of a virtual host.
func NewSet(vhost string) *Policies { return &Policies{VHost: vhost} }

// store returns the index of the store of a policy.
func store(operator bool) int {
	if operator {
		return 1
	}
	return 0
}

// With returns the set with p, which replaces the policy of the same name and sort. It returns s itself when p equals
// that one: storing an identical value changes nothing and sends no notification (POL-9).
func (s *Policies) With(p *Policy) *Policies {
	if s.Lookup(p.Operator, p.Name).Equal(p) {
		return s
	}
	list := s.without(p.Operator, p.Name)
	i, _ := slices.BinarySearchFunc(list, p, compareOrder)
	return s.replace(p.Operator, slices.Insert(list, i, p))
}

// Without returns the set without the named policy, s itself when there is none.
func (s *Policies) Without(operator bool, name string) *Policies {
	if s.Lookup(operator, name) == nil {
		return s
	}
	return s.replace(operator, s.without(operator, name))
}

// Lookup returns the named policy, nil if there is none.
func (s *Policies) Lookup(operator bool, name string) *Policy {
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
func (s *Policies) Policies(operator bool) []*Policy {
	list := slices.Clone(s.stores[store(operator)])
	slices.SortFunc(list, func(a, b *Policy) int {
		return cmp.Or(compareNumbers(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Match returns the user policy and the operator policy that apply to the
// object, nil where none does: of the matching policies, the one with the highest priority; of equal ones, the first by
// name (POL-1 to POL-4). User policies that match one of the names in but do not apply.
//
// A pattern that takes too many steps for a name does not match, as in RabbitMQ; but the pattern of an operator policy does,
// so that clients cannot escape a limit by choosing a name. After one such user policy, no other slow one is tried.
func (s *Policies) Match(kind Kind, name string, but ...string) (user, operator *Policy) {
	user, operator, _ = s.match(kind, name, but)
	return user, operator
}

// match is Match; doubtful is a policy whose pattern takes too many steps, or nil if there is none.
func (s *Policies) match(kind Kind, name string, but []string) (user, operator, doubtful *Policy) {
	for _, p := range s.stores[0] {
		if !p.covers.has(kind) || doubtful != nil && p.pattern.Slow() {
			continue
		}
		found, decided := p.pattern.Search(name)
		if !decided {
			doubtful = p
		}
		if found && !slices.ContainsFunc(but, p.pattern.Match) {
			user = p
			break
		}
	}
	for _, p := range s.stores[1] {
		if !p.covers.has(kind) {
			continue
		}
		found, decided := p.pattern.Search(name)
		if !decided {
			doubtful = p
		}
		if found || !decided {
			return user, p, doubtful
		}
	}
	return user, nil, doubtful
}

func (s *Policies) without(operator bool, name string) []*Policy {
	return slices.DeleteFunc(slices.Clone(s.stores[store(operator)]), func(p *Policy) bool { return p.Name == name })
}

func (s *Policies) replace(operator bool, list []*Policy) *Policies {
	next := &Policies{VHost: s.VHost, Version: s.Version + 1, stores: s.stores}
	next.stores[store(operator)] = list
	return next
}

// compareOrder sorts policies in the order in which they are tried.
func compareOrder(a, b *Policy) int {
	return cmp.Or(compareNumbers(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
}

// compareNumbers compares exactly, integers of any length and floats alike, in time linear in their length.
func compareNumbers(a, b json.Number) int {
	x, errX := strconv.ParseInt(string(a), 10, 64)
	y, errY := strconv.ParseInt(string(b), 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	if len(a) > maxDigits || len(b) > maxDigits {
		return compareLong(string(a), string(b))
	}
	p, okP := new(big.Rat).SetString(string(a))
	q, okQ := new(big.Rat).SetString(string(b))
	if !okP || !okQ {
		panic("policies: not a number: " + string(a) + ", " + string(b))
	}
	return p.Cmp(q)
}

// compareLong compares when one is an integer with more digits than any float: then the signs and the number of digits
// before the point decide.
func compareLong(a, b string) int {
	negative := strings.HasPrefix(a, "-")
	if negative != strings.HasPrefix(b, "-") {
		return map[bool]int{true: -1, false: 1}[negative]
	}
	if negative {
		a, b = b[1:], a[1:]
	}
	if c := cmp.Compare(digitsOf(a), digitsOf(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// digitsOf returns how many digits a number without a sign has; a float has fewer than the limit it is compared with.
func digitsOf(s string) int {
	if !isInteger(json.Number(s)) {
		return 0
	}
	return len(s)
}
