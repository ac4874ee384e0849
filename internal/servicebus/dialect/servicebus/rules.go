package servicebus

import (
	"candlemark/internal/routing/filter"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Operations of the nodes of subscriptions.
const (
	AddRule        = "com.microsoft:add-rule"
	RemoveRule     = "com.microsoft:remove-rule"
	EnumerateRules = "com.microsoft:enumerate-rules"
)

// Conditions of errors for existing, or missing, rules.
const (
	EntityExists   amqp10.Symbol = "com.microsoft:entity-already-exists"
	EntityNotFound amqp10.Symbol = "com.microsoft:entity-not-found"
)

// Descriptors of rules and actions, and of filters.
const (
	ruleDescription uint64 = 0x13700000004 + iota
	emptyAction
	sqlAction

	sqlFilter uint64 = 0x1370000006 + iota - 3
	trueFilter
	falseFilter
	correlationFilter
)

// correlated are the fields of a correlation filter, in the order of its list, with their names in a request.
var correlated = [...]struct {
	name  string
	field filter.Field
}{
	{"correlation-id", filter.CorrelationID},
	{"message-id", filter.MessageID},
	{"to", filter.To},
	{"reply-to", filter.ReplyTo},
	{"label", filter.Label},
	{"session-id", filter.SessionID},
	{"reply-to-session-id", filter.ReplyToSessionID},
	{"content-type", filter.ContentType},
}

// Rule returns the rule to add. It is not checked (filter.Rule.Validate). Error: amqp:invalid-field.
func (r *Request) Rule() (filter.Rule, error) {
	rule := filter.Rule{}
	rule.Name, _ = r.Field("rule-name").(string)
	description, _ := r.Field("rule-description").(amqp10.Map)
	within := func(key string) (amqp10.Map, bool) {
		v, _ := description.Get(key)
		m, ok := v.(amqp10.Map)
		return m, ok
	}
	expression := func(m amqp10.Map) string {
		v, _ := m.Get("expression")
		text, _ := v.(string)
		return text
	}
	if m, ok := within("sql-rule-action"); ok {
		rule.Action = expression(m)
	}
	if m, ok := within("sql-filter"); ok {
		rule.Filter, rule.SQL = filter.SQL, expression(m)
		return rule, nil
	}
	m, ok := within("correlation-filter")
	if !ok {
		return rule, amqp10.Errorf(amqp10.InvalidField, "a rule needs an sql-filter or a correlation-filter")
	}
	rule.Filter = filter.Correlation
	for _, c := range correlated {
		if v, _ := m.Get(c.name); v != nil {
			rule.System[c.field] = filter.Of(v)
		}
	}
	v, _ := m.Get("properties")
	properties, _ := v.(amqp10.Map)
	t, ok := convert.Table(properties)
	for _, p := range t {
		value := filter.Of(p.Value)
		if sent, _ := properties.Get(p.Key); value.Kind == filter.Time {
			at, _ := sent.(amqp10.Timestamp)
			value.Int = max(int64(at), 0) // the table has seconds
		}
		rule.Properties = append(rule.Properties, filter.Property{Name: p.Key, Value: value})
	}
	if !ok {
		return rule, amqp10.Errorf(amqp10.InvalidField, "a property of the correlation-filter has no name or a value that cannot be compared")
	}
	return rule, nil
}

// DescribeRules returns the body of the answer that enumerates rules.
func DescribeRules(all []filter.Rule) amqp10.Map {
	list := amqp10.List{}
	for i := range all {
		r := &all[i]
		action := amqp10.Described{Descriptor: emptyAction, Value: amqp10.List(nil)}
		if r.Action != "" {
			action = amqp10.Described{Descriptor: sqlAction, Value: amqp10.List{r.Action}}
		}
		list = append(list, amqp10.Map{{
			Key: "rule-description", Value: amqp10.Described{Descriptor: ruleDescription, Value: amqp10.List{describeFilter(r), action, r.Name}},
		}})
	}
	return amqp10.Map{{Key: "rules", Value: list}}
}

func describeFilter(r *filter.Rule) amqp10.Described {
	switch r.Filter {
	case filter.True:
		return amqp10.Described{Descriptor: trueFilter, Value: amqp10.List(nil)}
	case filter.False:
		return amqp10.Described{Descriptor: falseFilter, Value: amqp10.List(nil)}
	case filter.SQL:
		return amqp10.Described{Descriptor: sqlFilter, Value: amqp10.List{r.SQL}}
	case filter.Correlation:
	}
	list := amqp10.List{}
	for _, c := range correlated {
		list = append(list, r.System[c.field].Any())
	}
	properties := amqp10.Map{}
	for _, p := range r.Properties {
		if p.Value.Kind == filter.Time {
			properties = append(properties, amqp10.Entry{Key: p.Name, Value: amqp10.Timestamp(p.Value.Int)})
		} else {
			properties = append(properties, convert.Map(protocol.Table{{Key: p.Name, Value: p.Value.Any()}})...)
		}
	}
	return amqp10.Described{Descriptor: correlationFilter, Value: append(list, properties)}
}
