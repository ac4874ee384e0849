package entityadmin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"candlemark/internal/admin/management"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
	"candlemark/policies"
)

// kept has the additional parameters of entities, by path.
type kept map[string]json.RawMessage

// extras returns the additional parameters of all entities, which are decoded on request.
func (m *Manager) extras() kept {
	all := kept{}
	for _, p := range m.Broker.Parameters(m.VHost) {
		if p.Component == entity.Component {
			all[p.Name] = p.Value
		}
	}
	return all
}

// of returns the Extra of one entity, the zero value if it has none.
func (k kept) of(path string) (e entity.Extra) {
	if value, there := k[path]; there {
		e, _ = entity.ParseExtra(value) // validated earlier
	}
	return e
}

// queueNames returns the sorted names of the queues of a kind; for subscriptions, of a topic. Dead-letter queues of
// other queues, and exclusive queues, are not entities.
func (m *Manager) queueNames(kind entity.Kind, topic string) (names []management.QueueSummary) {
	for _, q := range m.Broker.QueueNames(m.VHost) {
		of, in, _ := entity.OfQueue(q.Name)
		if of == kind && !q.Exclusive && !q.Ending && !entity.IsDeadLetters(q.Name) && (kind == entity.Queue || entity.Same(in, topic)) {
			names = append(names, q)
		}
	}
	return names
}

// topics returns the exchanges that route by rules, sorted by name.
func (m *Manager) topics(ctx context.Context) ([]management.Exchange, error) {
	all, err := m.Broker.Exchanges(ctx, m.VHost)
	return slices.DeleteFunc(all, func(x management.Exchange) bool { return x.Type != filter.ExchangeType }), err
}

// found picks the item with a name: an exact match, else a case-insensitive one.
func found[T any](all []T, name string, of func(T) string) (one T, ok bool) {
	for _, v := range all {
		if of(v) == name {
			return v, true
		}
		if !ok && entity.Same(of(v), name) {
			one, ok = v, true
		}
	}
	return one, ok
}

// Get describes an entity; topic is for subscriptions. Error: ErrNotFound.
func (m *Manager) Get(ctx context.Context, kind entity.Kind, topic, name string) (*Entity, error) {
	all, err := m.list(ctx, kind, topic, func(of string) bool { return entity.Same(of, name) })
	if err != nil {
		return nil, err
	}
	if one, ok := found(all, name, func(e Entity) string { return e.Name }); ok {
		return &one, nil
	}
	return nil, ErrNotFound
}

// List describes entities by name, subscriptions of one topic only: top of them after the first skip. Error:
// ErrNotFound for the topic.
func (m *Manager) List(ctx context.Context, kind entity.Kind, topic string, skip, top int) ([]Entity, error) {
	if kind == entity.Subscription {
		of, err := m.Get(ctx, entity.Topic, "", topic)
		if err == nil {
			err = m.MayConfigure(&of.Description)
		}
		if err != nil {
			return nil, err
		}
		topic = of.Name
	}
	at := 0
	return m.list(ctx, kind, topic, func(string) bool {
		at++
		return at > skip && at <= skip+top
	})
}

// list describes the entities with wanted names; wanted is called once for each, in order.
func (m *Manager) list(ctx context.Context, kind entity.Kind, topic string, wanted func(name string) bool) ([]Entity, error) {
	if kind == entity.Topic {
		return m.listTopics(ctx, wanted)
	}
	var names []management.QueueSummary
	for _, q := range m.queueNames(kind, topic) {
		if _, _, own := entity.OfQueue(q.Name); wanted(own) {
			dead := q
			dead.Name = entity.DeadLetterQueue(q.Name)
			names = append(names, q, dead)
		}
	}
	if len(names) == 0 {
		return []Entity{}, nil
	}
	queues, err := m.Broker.QueuesNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	all, extras, dead := []Entity{}, m.extras(), map[string]int{}
	for i := range queues {
		if q := &queues[i]; entity.IsDeadLetters(q.Name) {
			dead[q.Name] = q.Ready + q.Unacked
		}
	}
	for i := range queues {
		q := &queues[i]
		if entity.IsDeadLetters(q.Name) {
			continue
		}
		settings := policies.SettingsFor(q.Arguments, q.Effective)
		e := Entity{
			Description: entity.OfSettings(q.Name, q.Arguments, settings, extras.of(q.Name)),
			Counts:      Counts{Active: q.Ready + q.Unacked, DeadLetters: dead[entity.DeadLetterQueue(q.Name)], Scheduled: q.Scheduled.Count},
			Bytes:       q.ReadyBytes + q.UnackedBytes + q.Scheduled.Bytes, Accessed: accessed(kind, q),
		}
		if kind == entity.Subscription { // the filters of its topic
			e.RequiresDuplicateDetection, e.DuplicateDetectionHistoryTimeWindow = false, entity.DefaultDuplicateHistory
		}
		if e.ForwardTo != "" {
			e.Counts.Active, e.Counts.Transfers = 0, e.Counts.Active
		}
		all = append(all, e)
	}
	return m.show(all), nil
}

func (e *Entity) countFilters(bindings []management.Binding) {
	for _, b := range bindings {
		switch r, wrong := filter.RuleOf(b.RoutingKey, b.Arguments); {
		case wrong != nil || b.ToExchange:
		case r.Filter == filter.Correlation:
			e.CorrelationFilters++
		default:
			e.SQLFilters++
		}
	}
}

// accessed returns when a queue last got a message or receiver, 0 for never. For a subscription it is never 0 (SBE-10).
func accessed(kind entity.Kind, q *management.Queue) int64 {
	if kind == entity.Queue && q.Counts == (management.Counts{}) && q.Ready+q.Unacked+q.Consumers+q.Scheduled.Count+q.Deferred == 0 {
		return 0
	}
	return q.IdleSince
}

func (m *Manager) listTopics(ctx context.Context, wanted func(name string) bool) ([]Entity, error) {
	exchanges, err := m.topics(ctx)
	if err != nil {
		return nil, err
	}
	made, err := m.Broker.ListPolicies(ctx, m.VHost, false)
	if err != nil {
		return nil, err
	}
	limits, err := m.Broker.ListPolicies(ctx, m.VHost, true)
	if err != nil {
		return nil, err
	}
	operators := policies.NewSet(m.VHost)
	for _, p := range limits {
		operators = operators.With(p)
	}
	caps := map[string]int64{}
	for _, p := range made {
		v, _ := policies.Effective{Definition: p.Definition}.Int("message-ttl")
		caps[p.Name] = v
	}
	subscriptions := map[string]int{}
	for _, q := range m.Broker.QueueNames(m.VHost) {
		if kind, topic, _ := entity.OfQueue(q.Name); kind == entity.Subscription && !q.Ending && !entity.IsDeadLetters(q.Name) {
			subscriptions[strings.ToLower(topic)]++
		}
	}
	all, extras := []Entity{}, m.extras()
	for _, x := range exchanges {
		if !wanted(x.Name) {
			continue
		}
		ttl, capped := caps[x.Policy]
		if !capped || x.Policy != entity.PolicyName(x.Name) {
			ttl = -1
		}
		if s := policies.ExchangeSettingsFor(nil, operators.Effective(policies.KindExchange, x.Name)); s.HasMaxTTL && (ttl < 0 || s.MaxTTL < ttl) {
			ttl = s.MaxTTL
		}
		e := Entity{
			Description: entity.OfExchange(x.Name, x.Arguments, ttl, extras.of(x.Name)), Subscriptions: subscriptions[strings.ToLower(x.Name)],
			Bytes: x.DelayedBytes, Accessed: x.LastUse,
		}
		if x.Delayed != nil { // SBE-9
			e.Counts.Scheduled = *x.Delayed
		}
		bindings, err := m.Broker.Bindings(ctx, management.BindingFilter{VHost: &m.VHost, Source: &x.Name})
		if err != nil {
			return nil, err
		}
		e.countFilters(bindings)
		all = append(all, e)
	}
	return m.show(all), nil
}
