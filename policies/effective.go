package policies

// Effective is the result of the policies of a virtual host for one object: the
// user policy and the operator policy that apply to it, merged. The zero value stands for an object without policies.
// An Effective is immutable.
type Effective struct {
	// Policy and OperatorPolicy are the names of the policies that apply, ""
	// for none (POL-11 shows null).
	Policy, OperatorPolicy string
	// Definition is effective_policy_definition: both merged per key, without
	// the object's arguments (POL-7, POL-11). Empty when no policy applies.
	Definition Definition
	// Version is the version of the Set it was taken from. Settings of a lower version than the last ones seen are stale
	// (POL-9).
	Version uint64

	// Doubtful is the name of a policy whose pattern takes too many steps for the object's name, see Match, or "" if there is
	// none.
	Doubtful string

	user, operator *Policy
}

// Effective returns the result of the set for the object (POL-1 to POL-4, POL-7), with but as in Match.
func (s *Policies) Effective(kind Kind, name string, but ...string) Effective {
	e := Effective{Version: s.Version}
	var doubtful *Policy
	if e.user, e.operator, doubtful = s.match(kind, name, but); doubtful != nil {
		e.Doubtful = doubtful.Name
	}
	if e.user != nil {
		e.Policy = e.user.Name
	}
	if e.operator != nil {
		e.OperatorPolicy = e.operator.Name
	}
	e.Definition = Merge(e.user, e.operator)
	return e
}

// Merge returns the effective definition of an object to which both policies apply; either may be nil. A key in one of
// them has that value; for a key in both the rule of POL-7 applies.
func Merge(user, operator *Policy) Definition {
	switch {
	case user == nil && operator == nil:
		return nil
	case operator == nil:
		return user.Definition
	case user == nil:
		return operator.Definition
	}
	merged := make(Definition, 0, len(user.Definition)+len(operator.Definition))
	for _, e := range strict(user, operator) {
		if v, both := operator.Definition.Get(e.Key); both {
			e.Value = byName[e.Key].policy.operator(e.Value, v)
		}
		merged = append(merged, e)
	}
	for _, e := range operator.Definition {
		if _, both := user.Definition.Get(e.Key); !both {
			merged = append(merged, e)
		}
	}
	merged.sort()
	return merged
}

// Matched returns the policies that apply, nil where none does.
func (e Effective) Matched() (user, operator *Policy) { return e.user, e.operator }

// Same reports whether the same policies, with the same contents, apply as in other: then the object need not be
// informed (POL-9). Versions may differ.
func (e Effective) Same(other Effective) bool {
	return e.user.Equal(other.user) && e.operator.Equal(other.operator)
}

// Int returns the value of an integer key; one beyond 64 bits is given as the
// nearest that fits. False if no policy sets the key.
func (e Effective) Int(key string) (int64, bool) {
	v, ok := e.Definition.Get(key)
	if !ok {
		return 0, false
	}
	return integer(v)
}

// Text returns the value of a string key, false if no policy sets it.
func (e Effective) Text(key string) (string, bool) {
	v, _ := e.Definition.Get(key)
	s, ok := v.(string)
	return s, ok
}

// Flag returns the value of a boolean key, false if no policy sets it.
func (e Effective) Flag(key string) (value, ok bool) {
	v, _ := e.Definition.Get(key)
	value, ok = v.(bool)
	return value, ok
}
