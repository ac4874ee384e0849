package transactions

import (
	"cmp"
	"slices"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// Limits for one transaction in a session (TXN-7).
const (
	// MaxWork is the maximum number of messages and settlements.
	MaxWork = 5000
	// MaxTargets is the maximum number of queues over all messages: they are published in one turn, so that a session that ends
	// has published all messages or none.
	MaxTargets = 32_768
)

// PublishBytes is the assumed size of a message without its content, in bytes; TargetBytes is the size of each of its
// queues, SettleBytes of a settlement.
const (
	PublishBytes = 256
	SettleBytes  = 128
	TargetBytes  = 16
)

// Publish is a waiting message and its route. Caps are TTL limits, first of its Queues, then of its Histories.
type Publish struct {
	Message   message.Message
	To        *topology.Exchange
	Queues    []*topology.Queue
	Histories []*topology.Queue // send no answer
	Caps      []int64
}

// Settlement is a waiting settlement of a delivery.
type Settlement[Link any] struct {
	Tag      uint64 // of the session
	Delivery unacked.Unacked
	Link     Link // the delivery's link
	How      mail.Settlement
	Outcome  *mail.Outcome
	State    amqp10.State // the outcome, for the client
	Settled  bool         // the client has forgotten the delivery
}

// Transaction is a session's work for one transaction.
type Transaction[Link any] struct {
	ID        []byte
	Publishes []Publish
	Settles   []Settlement[Link]
	// Closed: no more work is added.
	Closed bool
	// Prepared are the requests to queues, which keep the deliveries locked.
	Prepared []*mail.PrepareWork
	asked    []mail.Address // their receivers
	// Waits is the number of outstanding answers of queues.
	Waits   int
	err     *amqp10.Error // why it cannot be committed
	targets int
	kept    int64              // bytes of messages and settlements
	ending  bool               // its commit is in progress
	settled []Settlement[Link] // settlements that queues have not stored yet
	dead    bool               // it was removed
	of      *budget.Arrivals
}

// Break makes the discharge of the transaction fail with err; the first error counts.
func (x *Transaction[Link]) Break(err *amqp10.Error) {
	if x.err == nil {
		x.err = err
	}
}

// Err returns why the transaction cannot be committed, nil if there is no reason: amqp:transaction:rollback.
func (x *Transaction[Link]) Err() error {
	if x.err != nil {
		return transactions.ErrRollback(cmp.Or(x.err.Description, string(x.err.Condition)))
	}
	for i := range x.Settles {
		q, _ := x.Settles[i].Delivery.Of()
		switch {
		case x.Settles[i].Delivery.Late():
			return transactions.ErrRollback(mail.ErrDeliveryLost.Error())
		case q != nil && q.Gone:
			return transactions.ErrRollback(mail.ErrQueueEnded.Error())
		}
	}
	return nil
}

// HasWork reports whether the session has work for the transaction, or an error.
func (x *Transaction[Link]) HasWork() bool {
	return len(x.Publishes) > 0 || len(x.Settles) > 0 || x.err != nil
}

// Publish stores a copy of a message. The error, amqp:resource-limit-exceeded, breaks the transaction.
func (x *Transaction[Link]) Publish(p Publish) error {
	targets := len(p.Queues) + len(p.Histories)
	if err := x.bound(targets); err != nil {
		return err
	}
	if err := x.keep(int64(p.Message.Size() + PublishBytes + TargetBytes*targets)); err != nil {
		return err
	}
	x.targets += targets
	p.Message.Own()
	x.Publishes = append(x.Publishes, p)
	return nil
}

// Settle stores a settlement. bytes is the size of its amendments. The error, amqp:resource-limit-exceeded, breaks the
// transaction.
func (x *Transaction[Link]) Settle(s Settlement[Link], bytes int) error {
	if err := x.bound(0); err != nil {
		return err
	}
	if err := x.keep(int64(bytes) + SettleBytes); err != nil {
		return err
	}
	x.Settles = append(x.Settles, s)
	return nil
}

// keep counts bytes in the broker's intake.
func (x *Transaction[Link]) keep(bytes int64) error {
	ok, limit := x.of.Keep(bytes)
	if !ok {
		x.Break(amqp10.Errorf(amqp10.ResourceLimitExceeded, "incomplete messages and transactions of all clients have reached their limit of %d bytes", limit))
		return x.err
	}
	x.kept += bytes
	return nil
}

func (x *Transaction[Link]) bound(targets int) error {
	if x.dead { // it ended during the search for a route
		return transactions.ErrUnknown()
	}
	if len(x.Publishes)+len(x.Settles) >= MaxWork || x.targets+targets > MaxTargets {
		e := amqp10.Errorf(amqp10.ResourceLimitExceeded, "a transaction may have at most %d messages and settlements, for at most %d queues", MaxWork, MaxTargets)
		x.Break(e)
		return e
	}
	return nil
}

// Confirms returns the number of messages that queues confirm.
func (x *Transaction[Link]) Confirms() (n int) {
	for i := range x.Publishes {
		if x.Publishes[i].Confirmed() {
			n++
		}
	}
	return n
}

// Copies returns the number of copies that publishing makes besides the messages themselves.
func (x *Transaction[Link]) Copies() (n int) {
	for i := range x.Publishes {
		n += topology.Copies(x.Publishes[i].Queues, len(x.Publishes[i].Message.Header))
	}
	return n
}

// Confirmed reports whether a queue confirms the message: consumers of direct replies may refuse messages, and commands
// have their own answers.
func (p *Publish) Confirmed() bool { return slices.ContainsFunc(p.Queues, isAsked) }

func isAsked(q *topology.Queue) bool { return !q.Requester && q.Name != topology.AdminExchange }

// Prepare builds the requests to queues, and calls ask for each. Targets other than queues are omitted.
func (x *Transaction[Link]) Prepare(self mail.Address, ask func(queue mail.Address, m *mail.PrepareWork)) {
	byID := map[string]*mail.PrepareWork{}
	of := func(queue mail.Address) *mail.PrepareWork {
		m := byID[queue.GetId()]
		if m == nil {
			m = &mail.PrepareWork{Channel: self}
			byID[queue.GetId()] = m
			x.Prepared, x.asked = append(x.Prepared, m), append(x.asked, queue)
		}
		return m
	}
	for i := range x.Publishes {
		p := &x.Publishes[i]
		for _, q := range p.Queues {
			if !isAsked(q) {
				continue
			}
			m := of(q.PID)
			if q.Action == nil {
				m.Headers = append(m.Headers, p.Message.Header)
			} else {
				m.Copies++
			}
			m.Bytes += int64(len(p.Message.Body))
		}
	}
	for i := range x.Settles {
		q, number := x.Settles[i].Delivery.Of()
		m := of(q.Address)
		m.Numbers = append(m.Numbers, number)
		m.DeadLetters = m.DeadLetters || x.Settles[i].How == mail.ToDeadLetters
	}
	for i, m := range x.Prepared {
		ask(x.asked[i], m)
	}
}

// Release calls send with a ReleaseWork for each queue that keeps deliveries locked for the transaction.
func (x *Transaction[Link]) Release(self mail.Address, send func(queue mail.Address, what any)) {
	for i, m := range x.Prepared {
		if len(m.Numbers) > 0 {
			send(x.asked[i], &mail.ReleaseWork{Channel: self, Numbers: m.Numbers})
		}
	}
	x.Prepared, x.asked = nil, nil
}

// Forget drops the messages, which were sent to their queues or will not be sent.
func (x *Transaction[Link]) Forget() {
	x.of.Drop(x.kept)
	x.Publishes, x.targets, x.kept = nil, 0, 0
}

// Table holds the transactions for which a session has work. The zero value is empty.
type Table[Link any] struct {
	byID map[string]*Transaction[Link]
}

// Find returns a transaction, nil if the session has no work for it.
func (t *Table[Link]) Find(id []byte) *Transaction[Link] { return t.byID[string(id)] }

// Join does the same as Find for new work: it adds a known transaction if necessary. Its messages are counted in
// arrivals. The error is an *amqp10.Error, amqp:transaction:unknown-id.
func (t *Table[Link]) Join(id []byte, known *transactions.Known, arrivals *budget.Arrivals) (*Transaction[Link], error) {
	x := t.byID[string(id)]
	switch {
	case x == nil && !known.Has(id), x != nil && x.Closed:
		return nil, transactions.ErrUnknown()
	case x == nil:
		if t.byID == nil {
			t.byID = map[string]*Transaction[Link]{}
		}
		x = &Transaction[Link]{ID: slices.Clone(id), of: arrivals}
		t.byID[string(id)] = x
	}
	return x, nil
}

// Close prevents further work of a known transaction, until it is deleted.
func (t *Table[Link]) Close(id []byte, known *transactions.Known) {
	if x, err := t.Join(id, known, nil); err == nil {
		x.Closed = true
	}
}

// Delete removes a transaction and returns it; nil if there was none.
func (t *Table[Link]) Delete(id string) *Transaction[Link] {
	x := t.byID[id]
	if x != nil {
		x.dead = true
	}
	delete(t.byID, id)
	return x
}

// Clear removes all transactions, and returns the ids of transactions with work.
func (t *Table[Link]) Clear() (ids []string) {
	for id, x := range t.byID {
		if x.HasWork() || x.ending {
			ids = append(ids, id)
		}
		x.Forget()
		x.dead = true
	}
	t.byID = nil
	return ids
}

// Len returns the number of waiting messages and settlements.
func (t *Table[Link]) Len() (publishes, settles int) {
	for _, x := range t.byID {
		publishes += len(x.Publishes)
		settles += len(x.Settles)
	}
	return publishes, settles
}

// Return marks the deliveries that a queue has requeued as late.
func (t *Table[Link]) Return(d *unacked.Deliveries, q *unacked.Queue, m *mail.DeliveriesRequeued) {
	for _, x := range t.byID {
		for i := range x.Settles {
			d.ReturnTaken(&x.Settles[i].Delivery, q, m)
		}
	}
}
