package policy

import (
	"encoding/json"
	"fmt"

	"candlemark/internal/events"
	"candlemark/policies"
	"candlemark/protocol"
)

// tellSet tells that a policy has taken the place of before, nil for none. The same one again changes nothing (POL-9).
func (r *registry) tellSet(p, before *policies.Policy, by *events.Origin) {
	if p.Equal(before) {
		return
	}
	r.cfg.Events.Tell(by.Asked(), func() *events.Event {
		e := &events.Event{Name: "policy.set", VHost: p.VHost, By: by, Fields: append(named(p),
			protocol.Field{Key: "pattern", Value: p.Pattern}, protocol.Field{Key: "apply-to", Value: p.ApplyTo},
			protocol.Field{Key: "priority", Value: field(p.Priority)}, protocol.Field{Key: "definition", Value: field(p.Definition)})}
		if before != nil {
			e.Before = before
		}
		return e
	})
}

// tellCleared tells that a policy was removed; nil: there was none.
func (r *registry) tellCleared(p *policies.Policy, by *events.Origin) {
	if p == nil {
		return
	}
	r.cfg.Events.Tell(by.Asked(), func() *events.Event {
		return &events.Event{Name: "policy.cleared", VHost: p.VHost, By: by, Fields: named(p), Before: p}
	})
}

func named(p *policies.Policy) protocol.Table {
	return protocol.Table{{Key: "name", Value: p.Name}, {Key: "vhost", Value: p.VHost}, {Key: "operator", Value: p.Operator}}
}

// field is a value of a definition as a field of a table.
func field(v any) any {
	switch v := v.(type) {
	case policies.Definition:
		t := make(protocol.Table, len(v))
		for i, e := range v {
			t[i] = protocol.Field{Key: e.Key, Value: field(e.Value)}
		}
		return t
	case []any:
		a := make(protocol.Array, len(v))
		for i := range v {
			a[i] = field(v[i])
		}
		return a
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String()
	case string, bool, nil:
		return v
	}
	return fmt.Sprint(v)
}
