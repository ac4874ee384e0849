package topology

import (
	"iter"
	"slices"

	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/topology/names"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/protocol"
)

// Queue is a declared queue. It is immutable; a redeclared queue is another Queue.
type Queue struct {
	// Name is unique within the vhost.
	Name string
	// PID is the queue actor.
	PID Address
	// Incarnation distinguishes queues of the same name; it grows with each of them.
	Incarnation uint64
	// Durable, AutoDelete and Exclusive are the flags of queue.declare.
	Durable, AutoDelete, Exclusive bool
	// Requester reports whether it is not a queue but a channel that waits for replies; PID is the channel. It is in no
	// directory.
	Requester bool
	// Table is set if it is not a queue but a recent-history exchange: the number of its table (Routes.WithHistory).
	Table uint64
	// Owner is the connection of an exclusive queue, else nil.
	Owner Address
	// Arguments as stored by the declare (DEC-12).
	Arguments protocol.Table
	// Type is "classic", "quorum" or "stream".
	Type string
	// Schedules has the settings of its policies for scheduled messages; nil for internal queues.
	Schedules *timeheaders.Schedules
	// Stats has the current figures of the queue; nil for internal queues.
	Stats *QueueStats
	// Action copies messages on their way to the queue, or nil if there is none. A Queue with an Action is in no
	// directory; routes lead to it and to the Queue without it as if they were two (SBR-6).
	Action *filter.Action
	// Failed is the target of messages for which the Action fails; nil if there is no Action.
	Failed *Queue
	// Sent counts the messages that the queue has sent on; nil for internal queues.
	Sent *metrics.Sent
	// Ending is why the queue is ending (LEASE-14), one of the constants below; "" if it is not. No route leads to a
	// queue that is ending.
	Ending string
	// User declared it; "" if that is not known or was the broker.
	User string
}

// The values of Queue.Ending. They are stored.
const (
	EndedLease  = "lease"       // its lease is over
	EndedUnused = "auto-delete" // its last consumer has left
)

// Directory maps the names of one vhost to its queues and exchanges. It is immutable; the zero value is empty. A change costs O(log n).
type Directory struct {
	queues    names.Map[*Queue]
	ending    names.Map[*Queue]
	exchanges names.Map[*Exchange]
}

// Queue finds a queue, or nil if there is none of that name, or it is ending. It does not allocate.
func (d *Directory) Queue(name []byte) *Queue {
	q, _ := d.queues.Get(name)
	return q
}

// Exchange finds an exchange, or nil if there is none of that name. The default exchange has the empty name. It does
// not allocate.
func (d *Directory) Exchange(name []byte) *Exchange {
	x, _ := d.exchanges.Get(name)
	return x
}

// Listed finds a queue that lists show, which may be ending.
func (d *Directory) Listed(name []byte) *Queue {
	if q := d.Queue(name); q != nil {
		return q
	}
	q, _ := d.ending.Get(name)
	return q
}

// WithQueue returns d with q, which replaces any other queue of its name.
func (d *Directory) WithQueue(q *Queue) *Directory {
	next := *d
	if q.Ending != "" {
		next.queues, _ = d.queues.Without(q.Name)
		next.ending = d.ending.With(q.Name, q)
	} else {
		next.queues = d.queues.With(q.Name, q)
		next.ending, _ = d.ending.Without(q.Name)
	}
	return &next
}

// WithoutQueue returns d without the queue of that name; d itself when there is none.
func (d *Directory) WithoutQueue(name string) *Directory {
	queues, found := d.queues.Without(name)
	ending, ends := d.ending.Without(name)
	if !found && !ends {
		return d
	}
	return &Directory{queues: queues, ending: ending, exchanges: d.exchanges}
}

// WithExchange returns d with x, which replaces any other exchange of its name.
func (d *Directory) WithExchange(x *Exchange) *Directory {
	return &Directory{queues: d.queues, ending: d.ending, exchanges: d.exchanges.With(x.Name, x)}
}

// WithoutExchange returns d without the exchange of that name; d itself when there is none.
func (d *Directory) WithoutExchange(name string) *Directory {
	exchanges, found := d.exchanges.Without(name)
	if !found {
		return d
	}
	return &Directory{queues: d.queues, ending: d.ending, exchanges: exchanges}
}

// Queues yields all queues except ending ones, sorted by the bytes of their names.
func (d *Directory) Queues() iter.Seq[*Queue] { return d.queues.Under("") }

// AllListed yields all queues that lists show, also ending ones, sorted by the bytes of their names.
func (d *Directory) AllListed() iter.Seq[*Queue] {
	if d.ending.Len() == 0 {
		return d.Queues()
	}
	return func(yield func(*Queue) bool) {
		ending := slices.Collect(d.ending.Under(""))
		for q := range d.Queues() {
			for ; len(ending) > 0 && ending[0].Name < q.Name; ending = ending[1:] {
				if !yield(ending[0]) {
					return
				}
			}
			if !yield(q) {
				return
			}
		}
		for _, q := range ending {
			if !yield(q) {
				return
			}
		}
	}
}

// Keepers yields everything that keeps messages: all queues, and the holders of delayed exchanges.
func (d *Directory) Keepers() iter.Seq[*Queue] {
	return func(yield func(*Queue) bool) {
		for q := range d.AllListed() {
			if !yield(q) {
				return
			}
		}
		for x := range d.Exchanges() {
			if q := x.Holder(); q != nil && !yield(q) {
				return
			}
		}
	}
}

// Exchanges yields all exchanges, sorted by the bytes of their names.
func (d *Directory) Exchanges() iter.Seq[*Exchange] { return d.exchanges.Under("") }

// QueueCount returns the number of queues that lists show.
func (d *Directory) QueueCount() int { return d.queues.Len() + d.ending.Len() }

// ExchangeCount returns the number of exchanges, including the default exchange if it was added.
func (d *Directory) ExchangeCount() int { return d.exchanges.Len() }
