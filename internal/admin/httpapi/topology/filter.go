package topology

import (
	"net/url"
	"strconv"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
)

// queueFilter selects the queues of a list. Times are in ms, -1 for any.
type queueFilter struct {
	kind, policy  *string // nil for any
	expires       int64   // a message expires within
	released      int64   // a scheduled one is released within
	leaseEnds     int64   // it ends within this time, if unused
	unackedLonger int64   // a message has been unacked for longer
	oldestOver    int64   // a ready message is older
}

// filterOf reads the query. Several conditions must all hold.
func filterOf(q url.Values) (f queueFilter, err error) {
	text := func(key string) *string {
		if v := q.Get(key); q.Has(key) {
			return &v
		}
		return nil
	}
	number := func(key string) int64 {
		if q.Get(key) == "" {
			return -1
		}
		n, bad := strconv.ParseInt(q.Get(key), 10, 64)
		if bad != nil || n < 0 {
			err = rest.Complaintf("%s must be a number of milliseconds", key)
		}
		return n
	}
	f = queueFilter{
		kind: text("type"), policy: text("policy"), expires: number("expires_within"), released: number("scheduled_within"),
		leaseEnds: number("lease_ends_within"), unackedLonger: number("unacked_longer_than"),
		oldestOver: number("oldest_over"),
	}
	return f, err
}

// lets reports whether a queue is let through that may be, now that it was asked. now is the present date.
func (f *queueFilter) lets(q *management.Queue, now int64) bool {
	within := func(ms, at int64) bool { return ms < 0 || at != 0 && at-now <= ms }
	return within(f.expires, q.Expiring.Next) && within(f.released, q.Scheduled.NextDue) &&
		(f.unackedLonger < 0 || q.OldestUnacked != 0 && now-q.OldestUnacked >= f.unackedLonger)
}

// may reports whether a queue can be let through, as far as that is known without asking it. now returns the broker's time.
func (f *queueFilter) may(q *management.QueueSummary, now func() int64) bool {
	user, operator := q.Policies()
	ends, oldest := q.Get(queuestats.LeaseEnds), q.Get(queuestats.OldestReady)
	return (f.kind == nil || q.Type == *f.kind) && (f.policy == nil || user == *f.policy || *f.policy != "" && operator == *f.policy) &&
		(f.leaseEnds < 0 || ends != 0 && ends-now() <= f.leaseEnds) && (f.oldestOver < 0 || oldest != 0 && now()-oldest > f.oldestOver) && (f.expires < 0 || q.Get(queuestats.Expiring) > 0) &&
		(f.released < 0 || q.Get(queuestats.Scheduled) > 0) && (f.unackedLonger < 0 || q.Get(queuestats.Unacked) > 0)
}

// asks reports whether there is more to know.
func (f *queueFilter) asks() bool { return f.expires >= 0 || f.released >= 0 || f.unackedLonger >= 0 }
