package topology

// destinations is a set of destinations, by their keys. A message that reaches the set goes to each of them once.
type destinations = tree[destination]

// destination is one member. bindings counts how many bindings put it into this set, at least 1.
type destination struct {
	Target
	bindings int
}

// withDestination returns the set after one more binding to b's destination.
func withDestination(set destinations, b *bound) destinations {
	old, _ := set.get([]byte(b.dest))
	return set.with(b.dest, destination{Target: b.target, bindings: old.bindings + 1})
}

// withoutDestination returns the set after one binding less to b's destination.
func withoutDestination(set destinations, b *bound) destinations {
	if old, found := set.get([]byte(b.dest)); found && old.bindings > 1 {
		old.bindings--
		return set.with(b.dest, old)
	}
	set, _ = set.without(b.dest)
	return set
}
