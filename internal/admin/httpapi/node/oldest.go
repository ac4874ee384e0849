package node

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
)

// maxOld is the number of queues that a failed check lists.
const maxOld = 100

// oldQueue is a queue whose oldest message is too old.
type oldQueue struct {
	VHost string  `json:"vhost"`
	Name  string  `json:"name"`
	Age   float64 `json:"age_s"`
	Ready int64   `json:"messages_ready"`
}

// noOldMessages checks that no ready message, or with unacked no ready or unacked message, is older than a time (AGE-5).
// Only the latter asks queues.
func noOldMessages(r *rest.Request) (any, error) {
	query := r.URL.Query()
	over, err := rest.Duration("over", query.Get("over"))
	if err != nil {
		return nil, err
	}
	matches, err := rest.NameFilter("", query.Get("name"))
	if err != nil {
		return nil, rest.Invalid(err)
	}
	vhost := query.Get("vhost")
	if vhost != "" {
		if all, err := r.Broker.VHosts(r.Context()); err != nil || !slices.Contains(all, vhost) || !r.Sees(vhost) {
			return nil, cmp.Or(err, rest.Nonexistent("no vhost '"+vhost+"'"))
		}
	}
	names := slices.DeleteFunc(r.Broker.QueueNames(vhost), func(q management.QueueSummary) bool {
		return !r.Sees(q.VHost) || !matches.MatchString(q.Name)
	})
	var old []oldQueue
	add := func(vhost, name string, ready, age int64) {
		if age > over.Milliseconds() {
			old = append(old, oldQueue{vhost, name, float64(age) / 1000, ready})
		}
	}
	if unacked, _ := strconv.ParseBool(cmp.Or(query.Get("unacked"), "false")); unacked {
		names = slices.DeleteFunc(names, func(q management.QueueSummary) bool { return q.Get(queuestats.Ready)+q.Get(queuestats.Unacked) == 0 })
		queues, err := r.Broker.QueuesNamed(r.Context(), names)
		if err != nil {
			return nil, err
		}
		for _, q := range queues {
			add(q.VHost, q.Name, int64(q.Ready), q.OldestMessage.Age)
		}
	} else {
		now := r.Broker.Clock().Now().Ceil()
		for _, q := range names {
			if at := q.Get(queuestats.OldestReady); at != 0 {
				add(q.VHost, q.Name, q.Get(queuestats.Ready), now-at)
			}
		}
	}
	if len(old) == 0 {
		return healthy, nil
	}
	slices.SortStableFunc(old, func(a, b oldQueue) int { return cmp.Compare(b.Age, a.Age) })
	return unhealthy(health{Reason: "queues with messages older than " + shown(over), Queues: old[:min(len(old), maxOld)]}), nil
}

// shown returns the short form of a duration: 5m, not 5m0s.
func shown(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if kept := len(text) - len(zero); kept > 0 && text[kept:] == zero {
			text = text[:kept+1]
		}
	}
	return text
}
