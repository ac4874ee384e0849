package topology

import (
	"iter"

	"candlemark/internal/metrics"
	"candlemark/internal/servicebus/filter"
	"candlemark/internal/topology/names"
	"candlemark/internal/topology/timeheaders"
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
	// Sent counts the messages that the queue has sent on; nil for internal queues.
	Sent *metrics.Sent
}

// Directory maps the names of one vhost to its queues and exchanges. It is immutable; the zero value is empty. A change costs O(log n).
type Directory struct {
	queues    names.Map[*Queue]
	exchanges names.Map[*Exchange]
}

// Queue finds a queue, or nil if there is none of that name. It does not allocate.
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

// WithQueue returns d with q, which replaces any other queue of its name.
func (d *Directory) WithQueue(q *Queue) *Directory {
	return &Directory{queues: d.queues.With(q.Name, q), exchanges: d.exchanges}
}

// WithoutQueue returns d without the queue of that name; d itself when there is none.
func (d *Directory) WithoutQueue(name string) *Directory {
	queues, found := d.queues.Without(name)
	if !found {
		return d
	}
	return &Directory{queues: queues, exchanges: d.exchanges}
}

// WithExchange returns d with x, which replaces any other exchange of its name.
func (d *Directory) WithExchange(x *Exchange) *Directory {
	return &Directory{queues: d.queues, exchanges: d.exchanges.With(x.Name, x)}
}

// WithoutExchange returns d without the exchange of that name; d itself when there is none.
func (d *Directory) WithoutExchange(name string) *Directory {
	exchanges, found := d.exchanges.Without(name)
	if !found {
		return d
	}
	return &Directory{queues: d.queues, exchanges: exchanges}
}

// Queues yields all queues, sorted by the bytes of their names.
func (d *Directory) Queues() iter.Seq[*Queue] { return d.queues.Under("") }

// Keepers yields everything that keeps messages: all queues, and the holders of delayed exchanges.
func (d *Directory) Keepers() iter.Seq[*Queue] {
	return func(yield func(*Queue) bool) {
		for q := range d.Queues() {
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

// QueueCount returns the number of queues.
func (d *Directory) QueueCount() int { return d.queues.Len() }

// ExchangeCount returns the number of exchanges, including the default exchange if it was added.
func (d *Directory) ExchangeCount() int { return d.exchanges.Len() }
