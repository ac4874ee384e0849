package topology

import (
	"maps"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
)

// known are the columns of queues that lists are sorted by without asking all of them (ADR 63).
var known = func() map[string]func(*management.QueueSummary) rest.Key {
	all := maps.Clone(columns)
	for i := range queuestats.Table {
		of := queuestats.Table[i].Of
		all[queuestats.Table[i].Name] = func(q *management.QueueSummary) rest.Key {
			f := q.Figures()
			return rest.NumberKey(of(&f))
		}
	}
	return all
}()

// columns are those that are no figures.
var columns = map[string]func(*management.QueueSummary) rest.Key{
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
	"lease_expires_at": value(queuestats.LeaseEnds), // none is the first, and times are as their texts
	"oldest_ready_at":  value(queuestats.OldestReady),
	"oldest_ready_age": oldestKey,
}

// value returns the key of one value.
func value(which int) func(*management.QueueSummary) rest.Key {
	return func(q *management.QueueSummary) rest.Key { return rest.NumberKey(q.Get(which)) }
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
