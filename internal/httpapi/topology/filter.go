package topology

import (
	"net/url"
	"strconv"

	"candlemark/internal/httpapi/rest"
	"candlemark/internal/management"
)

// queueFilter says which queues a list has. Times are in ms, -1 for any.
type queueFilter struct {
	kind, policy  *string // nil for any
	expires       int64   // a message expires within
	released      int64   // a scheduled one is released within
	leaseEnds     int64   // it ends within, if nobody uses it
	unackedLonger int64   // a message has been unacked for longer
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
			err = rest.Complaintf("%s is to be a number of ms", key)
		}
		return n
	}
	f = queueFilter{
		kind: text("type"), policy: text("policy"), expires: number("expires_within"), released: number("scheduled_within"),
		leaseEnds: number("lease_ends_within"), unackedLonger: number("unacked_longer_than"),
	}
	return f, err
}

// anything tells whether all queues are let through.
func (f *queueFilter) anything() bool {
	return *f == queueFilter{expires: -1, released: -1, leaseEnds: -1, unackedLonger: -1}
}

// lets tells whether a queue is let through. now is in wall ms.
func (f *queueFilter) lets(q *management.Queue, now int64) bool {
	within := func(ms, at int64) bool { return ms < 0 || at != 0 && at-now <= ms }
	return (f.kind == nil || q.Type == *f.kind) &&
		(f.policy == nil || q.Effective.Policy == *f.policy || *f.policy != "" && q.Effective.OperatorPolicy == *f.policy) &&
		within(f.expires, q.Expiring.Next) && within(f.released, q.Scheduled.NextDue) && within(f.leaseEnds, q.Lease.Ends) &&
		(f.unackedLonger < 0 || q.OldestUnacked != 0 && now-q.OldestUnacked >= f.unackedLonger)
}

// queuesLet are the queues that the user may see and that are let through. Where the broker knows those that can be, it asks
// no others.
func queuesLet(r *rest.Request, f *queueFilter) (list []management.Queue, err error) {
	ask := r.Broker.Queues
	switch {
	case f.expires >= 0:
		ask = r.Broker.Expiring
	case f.leaseEnds >= 0:
		ask = r.Broker.Leased
	}
	all, err := ask(r.Context(), r.VHost)
	now := r.Broker.Now()
	return rest.Forms(all, func(q *management.Queue) bool { return r.Sees(q.VHost) && f.lets(q, now) }, func(q *management.Queue) management.Queue { return *q }), err
}
