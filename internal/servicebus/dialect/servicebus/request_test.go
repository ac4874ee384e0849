package servicebus

import (
	"testing"

	"candlemark/protocol/amqp10"
)

// The lists in a request are bounded, and all items must have the right type.
func TestRequestBounds(t *testing.T) {
	list := func(n int, v any) (l amqp10.List) {
		for range n {
			l = append(l, v)
		}
		return l
	}
	message := amqp10.Map{{Key: "message", Value: []byte{1}}}
	for _, c := range []struct {
		field string
		value any
		ok    bool
	}{
		{"lock-tokens", list(1000, amqp10.UUID{}), true},
		{"lock-tokens", list(1001, amqp10.UUID{}), false},
		{"lock-tokens", amqp10.Array{Values: list(2, amqp10.UUID{})}, true},
		{"lock-tokens", append(list(2, amqp10.UUID{}), "x"), false},
		{"lock-tokens", list(0, nil), false},
		{"sequence-numbers", amqp10.Array{Values: list(1000, int64(1))}, true},
		{"sequence-numbers", amqp10.Array{Values: list(1001, int64(1))}, false},
		{"sequence-numbers", list(1, int64(0)), false},
		{"messages", list(MaxScheduled, message), true},
		{"messages", list(MaxScheduled+1, message), false},
		{"messages", append(list(1, message), amqp10.Map{}), false},
		{"messages", nil, false},
	} {
		r := &Request{Body: amqp10.Map{{Key: c.field, Value: c.value}}}
		var ok bool
		switch c.field {
		case "lock-tokens":
			_, ok = r.LockTokens()
		case "sequence-numbers":
			_, ok = r.Numbers()
		default:
			_, ok = r.Messages()
		}
		if ok != c.ok {
			t.Errorf("%s of %T: %v", c.field, c.value, ok)
		}
	}
}
