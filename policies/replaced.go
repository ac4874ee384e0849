package policies

import "slices"

// EntityPrefix begins the names of the policies that hold the properties of entities of Azure Service Bus.
const EntityPrefix = "servicebus:"

// Replaced returns the user policy that would apply to an object if by did not, or nil if none of all would (SBE-15).
// looser lists the limits in it that by does not keep, in byte order.
func Replaced(all []*Policy, by *Policy, kind Kind, name string) (replaced *Policy, looser []string) {
	for _, p := range all {
		if p.Operator || p.Name == by.Name || !p.covers.has(kind) || compareOrder(p, by) < 0 || !p.pattern.Match(name) {
			continue
		}
		if replaced == nil || compareOrder(p, replaced) < 0 {
			replaced = p
		}
	}
	if replaced == nil {
		return nil, nil
	}
	for _, e := range replaced.Definition {
		if v, kept := by.Definition.Get(e.Key); limits(e.Key) && (!kept || looserThan(e.Key, v, e.Value)) {
			looser = append(looser, e.Key)
		}
	}
	return replaced, looser
}

// limits reports whether a key limits what clients can store, or for how long.
func limits(key string) bool {
	return byName[key].policy.operator != nil || key == keyConsumerTimeout
}

// looserThan reports whether value, of a user policy, would be lowered by the value of an operator policy.
func looserThan(key string, value, limit any) bool {
	merge := byName[key].policy.operator
	if merge == nil {
		merge = lowest
	}
	return !EqualValues(merge(value, limit), value)
}

// strict returns the definition of a user policy under an operator policy without the settings that would loosen what
// the operator policy limits: if it has an expires, additional uses of an entity's policy do not renew the lease
// (SBE-15).
func strict(user, operator *Policy) Definition {
	_, ends := operator.Definition.Get(keyExpires)
	if !ends || len(user.Name) < len(EntityPrefix) || user.Name[:len(EntityPrefix)] != EntityPrefix {
		return user.Definition
	}
	return slices.DeleteFunc(slices.Clone(user.Definition), func(e Entry) bool { return e.Key == keyRenewedBy })
}
