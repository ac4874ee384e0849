package topology

import (
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
)

// known are the columns of queues that lists are sorted by without asking all of them (ADR 63).
var known = map[string]func(*management.QueueSummary) rest.Key{
	"name":        func(q *management.QueueSummary) rest.Key { return rest.TextKey(q.Name) },
	"vhost":       func(q *management.QueueSummary) rest.Key { return rest.TextKey(q.VHost) },
	"type":        func(q *management.QueueSummary) rest.Key { return rest.TextKey(q.Type) },
	"durable":     func(q *management.QueueSummary) rest.Key { return rest.BoolKey(q.Durable) },
	"auto_delete": func(q *management.QueueSummary) rest.Key { return rest.BoolKey(q.AutoDelete) },
	"exclusive":   func(q *management.QueueSummary) rest.Key { return rest.BoolKey(q.Exclusive) },
	"state":       stateKey,
	"policy": func(q *management.QueueSummary) rest.Key {
		user, _ := q.Policies()
		return nameKey(user)
	},
	"operator_policy": func(q *management.QueueSummary) rest.Key {
		_, operator := q.Policies()
		return nameKey(operator)
	},
	"lease_expires_at":             sum(queuestats.LeaseEnds), // none is the first, and times are as their texts
	"oldest_ready_at":              sum(queuestats.OldestReady),
	"oldest_ready_age":             oldestKey,
	"consumers":                    sum(queuestats.Consumers),
	"memory":                       sum(queuestats.Memory),
	"message_bytes":                sum(queuestats.ReadyBytes, queuestats.UnackedBytes),
	"message_bytes_persistent":     sum(queuestats.PersistentBytes),
	"message_bytes_ram":            sum(queuestats.ReadyBytes, queuestats.UnackedBytes),
	"message_bytes_ready":          sum(queuestats.ReadyBytes),
	"message_bytes_unacknowledged": sum(queuestats.UnackedBytes),
	"messages":                     sum(queuestats.Ready, queuestats.Unacked),
	"messages_expiring":            sum(queuestats.Expiring),
	"messages_persistent":          sum(queuestats.Persistent),
	"messages_ram":                 sum(queuestats.Ready, queuestats.Unacked),
	"messages_ready":               sum(queuestats.Ready),
	"messages_ready_ram":           sum(queuestats.Ready),
	"messages_scheduled":           sum(queuestats.Scheduled),
	"messages_deferred":            sum(queuestats.Deferred),
	"messages_unacknowledged":      sum(queuestats.Unacked),
	"messages_unacknowledged_ram":  sum(queuestats.Unacked),
}

// sum returns the key of the sum of some figures.
func sum(of ...int) func(*management.QueueSummary) rest.Key {
	return func(q *management.QueueSummary) rest.Key {
		var n int64
		for _, which := range of {
			n += q.Get(which)
		}
		return rest.NumberKey(n)
	}
}

// oldestKey is the key of the age of the oldest ready message: a queue without ready messages comes first.
func oldestKey(q *management.QueueSummary) rest.Key {
	at := q.Get(queuestats.OldestReady)
	if at == 0 {
		return rest.NumberKey(int64(0))
	}
	return rest.NumberKey(1<<53 - at)
}

// nameKey returns the key of a name, or of null.
func nameKey(name string) rest.Key {
	if name == "" {
		return rest.Key{}
	}
	return rest.TextKey(name)
}

func stateKey(q *management.QueueSummary) rest.Key {
	if q.Get(queuestats.Running) == 0 {
		return rest.TextKey("down")
	}
	if q.Ending {
		return rest.TextKey("ending")
	}
	return rest.TextKey("running")
}
