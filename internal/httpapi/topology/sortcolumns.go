package topology

import (
	"candlemark/internal/httpapi/rest"
	"candlemark/internal/management"
	"candlemark/internal/queuestats"
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
func sum(of ...int) func(*management.QueueName) rest.Key {
	return func(q *management.QueueName) rest.Key {
		var n int64
		for _, which := range of {
			n += q.Get(which)
		}
		return rest.OfNumber(n)
	}
}

// oldestKey is the key of the age of the oldest ready message: a queue without ready messages comes first.
func oldestKey(q *management.QueueName) rest.Key {
	at := q.Get(queuestats.OldestReady)
	if at == 0 {
		return rest.OfNumber(int64(0))
	}
	return rest.OfNumber(1<<53 - at)
}

// nameKey returns the key of a name, or of null.
func nameKey(name string) rest.Key {
	if name == "" {
		return rest.Key{}
	}
	return rest.OfText(name)
}

func stateKey(q *management.QueueName) rest.Key {
	if q.Get(queuestats.Running) == 0 {
		return rest.OfText("down")
	}
	if q.Ending {
		return rest.OfText("ending")
	}
	return rest.OfText("running")
}
