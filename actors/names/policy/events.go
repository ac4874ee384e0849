package policy

import (
	"encoding/json"
	"fmt"

	"candlemark/internal/measure/events"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"
)

// publishEvents publishes events for policies that were set or removed.
func (r *registry) publishEvents(edits []changes.Edit, by *events.Origin) {
	for _, e := range edits {
		r.cfg.Events.Publish(by.Asked(), func() *events.Event {
			p := e.Policy()
			event := &events.Event{Name: "policy.cleared", VHost: p.VHost, By: by, Fields: named(p)}
			if e.After != nil {
				event.Name = "policy.set"
				event.Fields = append(event.Fields,
					protocol.Field{Key: "pattern", Value: p.Pattern}, protocol.Field{Key: "apply-to", Value: p.ApplyTo},
					protocol.Field{Key: "priority", Value: field(p.Priority)}, protocol.Field{Key: "definition", Value: field(p.Definition)})
			}
			if e.Before != nil {
				event.Before = e.Before
			}
			return event
		})
	}
}

func named(p *policies.Policy) protocol.Table {
	return protocol.Table{{Key: "name", Value: p.Name}, {Key: "vhost", Value: p.VHost}, {Key: "operator", Value: p.Operator}}
}

// field converts a value of a definition into a value of a table.
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
