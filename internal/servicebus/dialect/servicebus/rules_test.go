package servicebus

import (
	"errors"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/protocol/amqp10"
)

// The rule in a request is converted to a filter.Rule; an invalid rule is refused.
func TestRuleOfRequest_SBR4(t *testing.T) {
	rule := func(description amqp10.Map) *Request {
		return &Request{Body: amqp10.Map{{Key: "rule-name", Value: "r"}, {Key: "rule-description", Value: description}}}
	}
	sql := amqp10.Map{{Key: "sql-filter", Value: amqp10.Map{{Key: "expression", Value: "a = 1"}}}}
	r, err := rule(sql).Rule()
	if want := (filter.Rule{Name: "r", Filter: filter.SQL, SQL: "a = 1"}); err != nil || !r.Same(&want) {
		t.Errorf("%+v, %v", r, err)
	}
	acts := append(sql, amqp10.Entry{Key: "sql-rule-action", Value: amqp10.Map{{Key: "expression", Value: "SET a = 2"}}})
	if r, err = rule(acts).Rule(); err != nil || r.Action != "SET a = 2" {
		t.Errorf("%+v, %v", r, err)
	}
	fields := amqp10.Map{{Key: "correlation-filter", Value: amqp10.Map{
		{Key: "label", Value: "l"},
		{Key: "to", Value: nil},
		{Key: "properties", Value: amqp10.Map{{Key: "n", Value: int32(1)}}},
	}}}
	want := filter.Rule{Name: "r", Filter: filter.Correlation, Properties: []filter.Property{{Name: "n", Value: filter.Of(int32(1))}}}
	want.System[filter.Label] = filter.TextOf("l")
	if r, err = rule(fields).Rule(); err != nil || !r.Same(&want) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, none := range []amqp10.Map{nil, {{Key: "sql-filter", Value: "a = 1"}}, {{Key: "correlation-filter", Value: amqp10.Map{
		{Key: "properties", Value: amqp10.Map{{Key: int32(1), Value: "v"}}},
	}}}} {
		var refused *amqp10.Error
		if _, err := rule(none).Rule(); !errors.As(err, &refused) || refused.Condition != amqp10.InvalidField {
			t.Errorf("%v: %v", none, err)
		}
	}
}
