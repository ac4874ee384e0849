package changes

import (
	"cmp"
	"maps"
	"slices"

	"candlemark/policies"
)

// Impact is the impact of a change on one object.
type Impact struct {
	Object        policies.Object
	Before, After policies.Effective
	Settings      []Setting
	// Messages counts queued messages, if the change affects them.
	Messages Messages
}

// Setting is a key whose value changes; values are nil if there is none.
type Setting struct {
	Key           string
	Before, After policies.Setting
}

// Messages counts affected queued messages.
type Messages struct {
	// Retimed get another deadline, Expiring expire at once, Dropped are above max-length. AtMost: Expiring is an upper
	// bound, because in a queue with strict expiry messages expire only at its head.
	Retimed, Expiring, Dropped int
	AtMost                     bool
	Earliest                   int64 // of the new deadlines, wall ms, 0 for none
	// Of the retimed ones, Restored get back the deadline fixed at their entry, and Undoable do not expire at once: if
	// the change is undone before their new deadlines, they have their present ones again. If AtMost, others may be
	// Undoable, too. UndoableUntil is the earliest of these deadlines, wall ms, 0 for none.
	Restored, Undoable int
	UndoableUntil      int64
}

// Add adds the counts of another queue.
func (m *Messages) Add(of Messages) {
	m.Retimed, m.Expiring, m.Dropped = m.Retimed+of.Retimed, m.Expiring+of.Expiring, m.Dropped+of.Dropped
	m.AtMost = m.AtMost || of.AtMost
	m.Restored, m.Undoable = m.Restored+of.Restored, m.Undoable+of.Undoable
	m.Earliest, m.UndoableUntil = earlier(m.Earliest, of.Earliest), earlier(m.UndoableUntil, of.UndoableUntil)
}

// Retime counts a message that would get another deadline, in wall ms, 0 for none. expires: it would expire at once;
// restored: the deadline is the one fixed at its entry.
func (m *Messages) Retime(deadline int64, expires, restored bool) {
	m.Retimed++
	m.Earliest = earlier(m.Earliest, deadline)
	if restored {
		m.Restored++
	}
	if !expires {
		m.Undoable++
		m.UndoableUntil = earlier(m.UndoableUntil, deadline)
	}
}

// earlier returns the earlier of two times, 0 being none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Of returns the impact on an object, if the change affects it: other policies apply, or their contents have changed
// (POL-9).
func Of(before, after *policies.Policies, o *policies.Object) (i Impact, hit bool) {
	i = Impact{Object: *o, Before: before.EffectiveFor(o), After: after.EffectiveFor(o)}
	if i.Before.Same(i.After) {
		return i, false
	}
	was := map[string]policies.Setting{}
	for _, s := range o.Settings(i.Before) {
		was[s.Key] = s
	}
	for _, s := range o.Settings(i.After) {
		if b := was[s.Key]; !policies.EqualValues(b.Value, s.Value) {
			i.Settings = append(i.Settings, Setting{s.Key, b, s})
		}
		delete(was, s.Key)
	}
	for key, s := range was {
		if s.Value != nil {
			i.Settings = append(i.Settings, Setting{key, s, policies.Setting{Key: key}})
		}
	}
	slices.SortFunc(i.Settings, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return i, true
}

// Loses names the policies that no longer apply to the object, "" for none.
func (i *Impact) Loses() (policy, operator string) {
	if i.Before.Policy != i.After.Policy {
		policy = i.Before.Policy
	}
	if i.Before.OperatorPolicy != i.After.OperatorPolicy {
		operator = i.Before.OperatorPolicy
	}
	return policy, operator
}

// MaxListed is the maximum number of objects, policies and keys that a preview lists.
const MaxListed = 100

// Count is the number of objects for a policy or key.
type Count struct {
	Name     string
	Operator bool // of policies
	Objects  int
}

// Preview sums up impacts. The zero value stands for no objects.
type Preview struct {
	Objects           int // number of objects checked
	Queues, Exchanges int // affected
	Impacts           []Impact
	Reach             Reach // of the policy with the change, or before it is cleared
	Messages          Messages
	Asked, Unanswered int // numbers of queues asked about their messages
	loses, keys       map[Count]int
}

// Add adds an impact. kept is its index in Impacts, -1 if these are full.
func (p *Preview) Add(i Impact) (kept int) {
	if p.loses == nil {
		p.loses, p.keys = map[Count]int{}, map[Count]int{}
	}
	if p.Queues++; i.Object.Kind == policies.KindExchange {
		p.Queues, p.Exchanges = p.Queues-1, p.Exchanges+1
	}
	policy, operator := i.Loses()
	if policy != "" {
		p.loses[Count{Name: policy}]++
	}
	if operator != "" {
		p.loses[Count{Name: operator, Operator: true}]++
	}
	for _, s := range i.Settings {
		p.keys[Count{Name: s.Key}]++
	}
	if len(p.Impacts) == MaxListed {
		return -1
	}
	p.Impacts = append(p.Impacts, i)
	return len(p.Impacts) - 1
}

// Loses returns the policies that objects lose, most frequent first.
func (p *Preview) Loses() []Count { return sorted(p.loses) }

// Keys returns the settings that change, most frequent first.
func (p *Preview) Keys() []Count { return sorted(p.keys) }

func sorted(counts map[Count]int) []Count {
	list := make([]Count, 0, len(counts))
	for _, c := range slices.Collect(maps.Keys(counts)) {
		c.Objects = counts[c]
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(b.Objects-a.Objects, cmp.Compare(a.Name, b.Name), boolCompare(a.Operator, b.Operator))
	})
	return list[:min(len(list), MaxListed)]
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
