package topology

import (
	"candlemark/internal/figures"
	"candlemark/internal/httpapi/rest"
	"candlemark/internal/management"
)

// known are the columns of queues that lists are sorted by without asking all of them (ADR 63).
var known = map[string]func(*management.QueueName) rest.Key{
	"name":        func(q *management.QueueName) rest.Key { return rest.OfText(q.Name) },
	"vhost":       func(q *management.QueueName) rest.Key { return rest.OfText(q.VHost) },
	"type":        func(q *management.QueueName) rest.Key { return rest.OfText(q.Type) },
	"durable":     func(q *management.QueueName) rest.Key { return rest.OfTruth(q.Durable) },
	"auto_delete": func(q *management.QueueName) rest.Key { return rest.OfTruth(q.AutoDelete) },
	"exclusive":   func(q *management.QueueName) rest.Key { return rest.OfTruth(q.Exclusive) },
	"state":       stateKey,
	"policy": func(q *management.QueueName) rest.Key {
		user, _ := q.Policies()
		return nameKey(user)
	},
	"operator_policy": func(q *management.QueueName) rest.Key {
		_, operator := q.Policies()
		return nameKey(operator)
	},
	"lease_expires_at":             sum(figures.LeaseEnds), // none is the first, and times are as their texts
	"consumers":                    sum(figures.Consumers),
	"memory":                       sum(figures.Memory),
	"message_bytes":                sum(figures.ReadyBytes, figures.UnackedBytes),
	"message_bytes_persistent":     sum(figures.PersistentBytes),
	"message_bytes_ram":            sum(figures.ReadyBytes, figures.UnackedBytes),
	"message_bytes_ready":          sum(figures.ReadyBytes),
	"message_bytes_unacknowledged": sum(figures.UnackedBytes),
	"messages":                     sum(figures.Ready, figures.Unacked),
	"messages_expiring":            sum(figures.Expiring),
	"messages_persistent":          sum(figures.Persistent),
	"messages_ram":                 sum(figures.Ready, figures.Unacked),
	"messages_ready":               sum(figures.Ready),
	"messages_ready_ram":           sum(figures.Ready),
	"messages_scheduled":           sum(figures.Scheduled),
	"messages_deferred":            sum(figures.Deferred),
	"messages_unacknowledged":      sum(figures.Unacked),
	"messages_unacknowledged_ram":  sum(figures.Unacked),
}

// sum returns the key of the sum of some figures.
func sum(of ...int) func(*management.QueueName) rest.Key {
	return func(q *management.QueueName) rest.Key {
		var n int64
		for _, which := range of {
			n += q.Get(which)
		}
		return rest.OfNumber(n)
	}
}

// nameKey returns that of a name, or of null.
func nameKey(name string) rest.Key {
	if name == "" {
		return rest.Key{}
	}
	return rest.OfText(name)
}

func stateKey(q *management.QueueName) rest.Key {
	if q.Get(figures.Running) == 0 {
		return rest.OfText("down")
	}
	return rest.OfText("running")
}
