package topology

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/filterview"
	"candlemark/internal/routing/topology/canonical"
	"candlemark/protocol"
)

// rules matches messages with the rules of subscriptions (SBR-1): correlation filters are found like conditions of
// headers exchanges, with fields of the message under names that no header has; SQL filters are evaluated one by one.
type rules struct {
	exchange   string
	correlated headers
	sql        tree[*sqlRule] // by the binding's id
	actions    int            // the steps of all actions for a message without properties
}

// The expressions of an exchange have ruleSteps for a message together, divided evenly, so that an expensive one is at the
// expense of who bound it, not of publishers or other subscriptions. maxExpressions leaves each of them 500 steps.
const (
	ruleSteps      = 1_000_000
	maxExpressions = 2000
)

// actionSteps is the limit of the steps of all copies by actions for a message, at the exchange of the publish, and of what
// an exchange's actions may take for a message without properties. It bounds the bytes created for a message (SBR-6).
const actionSteps = 2_000_000

type sqlRule struct {
	*filter.Expression
	target Target
	failed *Queue // of a target that is a queue
}

// with ignores a rule that ValidateBinding would refuse.
func (m *rules) with(b *bound) matcher {
	c := *m
	rule, err := filter.RuleOf(b.RoutingKey, b.Arguments)
	if err == nil && rule.Action != "" {
		b = m.acting(b, &rule)
		c.actions += costOf(b.target.Queue)
	}
	switch {
	case err != nil || rule.Filter == filter.False:
	case rule.Filter == filter.SQL:
		e, _ := filter.Parse(rule.SQL, rule.Parameters) // validated earlier
		of := &sqlRule{e, b.target, nil}
		if q := b.target.Queue; q != nil {
			if of.failed = q.Failed; of.failed == nil {
				of.failed = m.failing(q, b)
			}
		}
		c.sql = m.sql.with(b.id, of)
	default:
		c.correlated.change(ruleConditions, b, withDestination)
	}
	return &c
}

func (m *rules) without(b *bound) matcher {
	c := *m
	rule, err := filter.RuleOf(b.RoutingKey, b.Arguments)
	if err == nil && rule.Action != "" {
		b = m.acting(b, &rule)
		c.actions -= costOf(b.target.Queue)
	}
	if err == nil && rule.Filter == filter.SQL {
		c.sql, _ = m.sql.without(b.id)
	} else if err == nil && rule.Filter != filter.False {
		c.correlated.change(ruleConditions, b, withoutDestination)
	}
	return &c
}

// acting returns the binding of a rule with an action: a destination of its own, which leads to the same queue.
func (m *rules) acting(b *bound, rule *filter.Rule) *bound {
	own := *b
	own.dest = b.id
	if b.target.Queue != nil {
		q := *b.target.Queue
		q.Action = rule.Change()
		sum := sha256.Sum256(append(canonical.Text(nil, m.exchange), b.id...))
		q.Action.ID = string(sum[:16])
		q.Failed = m.failing(b.target.Queue, b)
		own.target.Queue = &q
	}
	return &own
}

// failing returns the target of messages for which the rule b to q fails.
func (m *rules) failing(q *Queue, b *bound) *Queue {
	failed := *q
	sum := sha256.Sum256(append(append(canonical.Text(nil, m.exchange), b.id...), "\x00failed"...))
	failed.Action = &filter.Action{Rule: b.RoutingKey, ID: string(sum[:16]), Failed: true}
	return &failed
}

// costOf returns the steps of a copy of a message without properties.
func costOf(q *Queue) int {
	if q == nil || q.Action == nil {
		return 0
	}
	return q.Action.Cost(0)
}

func (m *rules) loads() []load {
	return append(m.correlated.loads(), load{m.sql.len(), maxExpressions, "the number of its SQL rules"},
		load{m.actions, actionSteps, "the steps of the actions of its rules"})
}

// Enlarged returns the KiB by which the queue's copy of a message with so many bytes of properties may exceed what copies
// share: what an action adds and, if there are several copies, the properties, which a copy by an action does not share. Each KiB counts as a
// copy (DL-33).
func (q *Queue) Enlarged(properties int, several bool) int {
	if q.Action == nil || q.Action.Failed {
		return 0
	}
	n := q.Action.Growth(properties)
	if several {
		n += properties
	}
	return n >> 10
}

// Copies returns how many copies a message with so many bytes of properties has in queues, besides the first one, with
// Enlarged of each (DL-33).
func Copies(queues []*Queue, properties int) (n int) {
	for _, q := range queues {
		n += 1 + q.Enlarged(properties, len(queues) > 1)
	}
	return max(n-1, 0)
}

func (m *rules) match(r *Router) {
	from := len(r.queues.list)
	m.find(r)
	if m.actions == 0 {
		return
	}
	r.varies = true // so that the copies count for each message
	r.limitActions(from)
}

// limitActions removes copies by actions that take too many steps for the current message, from the given place of the
// queues on. Subscriptions share the limit: each has what the others leave, at least an even part, and of its copies
// those come first that take the fewest steps (SBR-6).
func (r *Router) limitActions(from int) {
	total := 0
	r.actions = r.actions[:0]
	for _, q := range r.queues.list[from:] {
		if q.Action == nil || q.Action.Failed {
			continue
		}
		if !r.ruled.loaded {
			r.ruled.load(r)
		}
		total += q.Action.Cost(r.ruled.size)
		r.actions = append(r.actions, q)
	}
	if limit := min(actionSteps, r.share); total > limit {
		total = r.dropActions(limit)
	}
	if r.share < math.MaxInt {
		r.share -= total
	}
	clear(r.actions)
	r.found(total)
}

// dropActions removes those of the actions that are too expensive, and returns the steps of the others.
func (r *Router) dropActions(left int) (total int) {
	size := r.ruled.size
	sums := map[string]int{}
	for _, q := range r.actions {
		sums[q.Name] += q.Action.Cost(size)
	}
	slices.SortFunc(r.actions, func(a, b *Queue) int { // by subscription, the cheapest one first
		return cmp.Or(cmp.Compare(sums[a.Name], sums[b.Name]), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Action.Cost(size), b.Action.Cost(size)))
	})
	dropped, failed := map[*Queue]bool{}, []*Queue(nil)
	of, share, subscriptions := "", 0, len(sums)
	for _, q := range r.actions {
		if q.Name != of {
			of, share = q.Name, left/subscriptions
			subscriptions--
		}
		cost := q.Action.Cost(size)
		if cost > share {
			dropped[q] = true
			failed = append(failed, q)
			continue
		}
		share -= cost
		left -= cost
		total += cost
	}
	r.queues.remove(dropped)
	for _, q := range failed {
		r.tooCostly(q, q.Failed)
	}
	return total
}

// tooCostly notes that a rule of a queue took too many steps, and sends the message there once if the queue takes failures.
// The queues are nil for a rule that leads to an exchange.
func (r *Router) tooCostly(q, failed *Queue) {
	r.cut = true
	r.costly = append(r.costly, q)
	if failed != nil && q.Stats.TakesFailures() && r.failures.add(q.Stats) {
		r.add(Target{Queue: failed})
	}
}

func (m *rules) find(r *Router) {
	r.collect(&m.correlated.always)
	if !m.correlated.conditional() && m.sql.len() == 0 {
		return
	}
	of := &r.ruled
	if !of.loaded {
		of.load(r)
	}
	if m.correlated.conditional() {
		r.collectBy(&m.correlated, &of.headers)
	}
	limit := min(min(ruleSteps, r.share)/max(m.sql.len(), 1)-1, filter.MaxSteps)
	for rule := range m.sql.under("") {
		if limit <= 0 {
			r.cut = true
			return
		}
		yes, steps := rule.MatchWithin(&of.message, limit)
		if !r.compare(1 + min(steps, limit)) {
			return
		}
		if steps > limit {
			r.tooCostly(rule.target.Queue, rule.failed)
		}
		if yes {
			r.add(rule.target)
		}
	}
}

// ruled is the current message in the form that rules use.
type ruled struct {
	loaded  bool
	size    int // bytes of its properties
	headers fields
	message filterview.Message
	table   protocol.Table
}

func (of *ruled) load(r *Router) {
	of.loaded, of.size, r.varies = true, 0, true
	var system [filter.Fields]filter.Value
	if r.Properties != nil {
		p, original, size := r.Properties()
		system, of.size = filterview.Of(&p, original), size
	}
	headers := r.table()
	r.spend(len(headers))
	of.message.Load(system, headers)
	of.table = append(of.table[:0], headers...)
	for f, v := range system {
		if v.Kind != filter.Absent {
			of.table = append(of.table, protocol.Field{Key: systemName(filter.Field(f)), Value: v.Text})
		}
	}
	of.headers.load(of.table)
	clear(of.table)
}

// systemName returns the name of a field of the message, which no header has.
func systemName(f filter.Field) string { return "\x00" + f.String() }

func ruleConditions(args protocol.Table) (match int, list []condition) {
	for _, c := range filter.Conditions(args) {
		if c.System {
			c.Name = systemName(c.Field)
		}
		list = append(list, condition{c.Name, string(canonical.Value(nil, c.Value))})
	}
	slices.SortStableFunc(list, func(a, b condition) int { return strings.Compare(a.key, b.key) })
	return matchAll, list
}
