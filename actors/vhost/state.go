package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// phase is where a queue or exchange stands.
type phase uint8

const (
	// live: commands are carried out at once.
	live phase = iota
	// ending: it was asked to end and may refuse.
	ending
	// forgetting: it ends; the name is unpublished and its bindings go.
	forgetting
	// coming: its definition is being stored, or its messages are read back;
	// nobody can use it yet.
	coming
	// down: it panics whenever its messages are read back (PRO-16). All
	// that can be done with it is to delete it.
	down
	// crashed: it panicked and its end is awaited; it may come back, as coming.
	crashed
)

// name holds what a queue and an exchange have in common.
type name struct {
	phase  phase
	parked []any // commands, in order; empty while live
	// sources are the exchanges that may hold a binding to it; nil for none.
	sources map[*exchange]struct{}
	// user and operator are the policies that match, nil for none.
	user, operator *policies.Policy
}

// park keeps a command for later unless the name is live, or will not be.
func (n *name) park(command any) bool {
	if n.phase == live || n.phase == down {
		return false
	}
	n.parked = append(n.parked, command)
	return true
}

// queue is the vhost's record of a queue.
type queue struct {
	name
	queue *topology.Queue
	kind  policies.Kind
	// forwarded counts the commands sent on to it (PRO-3).
	forwarded uint64
	// deleting: its owner is gone, no condition keeps it.
	deleting bool
	// gone are called once it is forgotten, ready once it is open, down or gone.
	gone, ready []func()
	life        restarts
	// wantsDLQ: it is to have a dead-letter queue of the broker's making.
	wantsDLQ bool
	// holdsFor is the delayed exchange that it holds messages for, nil for a
	// queue of clients.
	holdsFor *exchange
}

// exchange is the vhost's record of an exchange.
type exchange struct {
	name
	exchange *topology.Exchange
	// feeds are the names it may hold a binding to; nil for none.
	feeds map[*name]struct{}
	// unsettled counts changes to its durable bindings that are being stored or
	// published. While there is none its table has all that are stored.
	unsettled int
	settled   []func() // called when unsettled is 0 again
	// holder has the messages of a delayed exchange that are not due; else nil.
	holder *queue
}

// addSource remembers that x may hold a binding to n.
func (x *exchange) addSource(n *name) {
	if n.sources == nil {
		n.sources = map[*exchange]struct{}{}
	}
	if x.feeds == nil {
		x.feeds = map[*name]struct{}{}
	}
	n.sources[x] = struct{}{}
	x.feeds[n] = struct{}{}
}

// forgetSources forgets all that x feeds: its table is empty.
func (x *exchange) forgetSources() {
	for n := range x.feeds {
		delete(n.sources, x)
	}
	x.feeds = nil
}

// owner is a connection with exclusive queues.
type owner struct {
	pid    mail.Address
	queues map[*queue]struct{}
}
