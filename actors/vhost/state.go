package vhost

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/actors/vhost/refusal"
	"candlemark/internal/definitions"
	"candlemark/internal/events"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// shared is embedded by the parts of the core, each of which owns the state that it is
// named for.
type shared struct {
	cfg       Config
	vhost     string // its name
	rules     refusal.Rules
	self      mail.Address
	now       time.Time           // of the turn
	directory *topology.Directory // the one that is published behind the turn
	ending    *mail.EndVHost      // nil while the virtual host lives
	// incarnation is the last one given out, without Config.Incarnation. One
	// counter serves all names, so that a name that is gone leaves no trace.
	incarnation uint64
	serverName  func() string // makes a name for a queue that was declared without one

	out      outbox
	requests requests
	children children
	storing  int               // changes that are on their way to the store
	awaiting []mail.AwaitIdle  // who waits until nothing is under way
	run      func(command any) // carries a command out that was parked

	queues    *queues
	exchanges *exchanges
	bindings  *bindings
	matcher   *matcher
	recovery  *recovery // nil unless it is recovering
}

// incarnate gives out the number of a queue or exchange.
func (s *shared) incarnate() uint64 {
	if s.cfg.Incarnation != nil {
		return s.cfg.Incarnation()
	}
	s.incarnation++
	return s.incarnation
}

// spawn starts a child and puts its address there.
func (s *shared) spawn(props props, name string, child any, pid *mail.Address) {
	*pid = topology.ChildOf(s.self, name)
	s.children.known[(*pid).Id] = child
	s.out.add(spawning{props, name, pid})
}

func (s *shared) publish(d *topology.Directory) {
	s.directory = d
	s.out.add(func() { s.cfg.VHost.Publish(d) })
}

// unpark runs the commands that waited for n.
func (s *shared) unpark(n *name) {
	parked := n.parked
	n.parked = nil
	for _, m := range parked {
		s.run(m)
	}
}

// retireMessages ends what the journal has of a queue, 0 for none.
func (s *shared) retireMessages(of store.QueueID) {
	if of > 0 && s.cfg.Retire != nil {
		s.out.add(func() { s.cfg.Retire(of) })
	}
}

// store has a change made durable and goes on with then in a later turn, or at
// once if nothing is kept. Changes are answered in the order of the calls.
func (s *shared) store(c definitions.Change, command mail.Answerable, then func(error)) {
	if s.cfg.Meta == nil {
		then(nil)
		return
	}
	s.storing++
	s.out.add(storing{c, then, command})
}

// tellIdle answers those that wait until nothing is under way.
func (s *shared) tellIdle() {
	if s.storing+len(s.requests.open)+len(s.children.leaving) > 0 {
		return
	}
	for _, m := range s.awaiting {
		s.out.done(m.Request, nil)
	}
	s.awaiting = nil
}

// failed answers a command whose change could not be stored.
func (s *shared) failed(command mail.Answerable, err error) {
	s.notStored(err)
	s.out.answer(mail.Unstored, command)
}

func (s *shared) notStored(err error) {
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("a definition could not be stored")
	}
}

// forgotten is the end of a deletion that nobody can be told of.
func (s *shared) forgotten(err error) {
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("a definition could not be deleted")
	}
}

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
	by      *events.Origin // who has it end; nil for the broker itself
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
	// deleting: its owner is gone, no condition keeps it.
	deleting bool
	// wantsDLQ: it is to have a dead-letter queue of the broker's making.
	wantsDLQ bool
	// forwarded counts the commands sent on to it (PRO-3).
	forwarded uint64
	// gone are called once it is forgotten, ready once it is open, down or gone.
	gone, ready []func()
	life        restarts
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

// settle ends a change of the durable bindings of x.
func (x *exchange) settle() {
	if x.unsettled--; x.unsettled > 0 {
		return
	}
	settled := x.settled
	x.settled = nil
	for _, f := range settled {
		f()
	}
}

// whenSettled calls f when no durable binding of x is about to change.
func (x *exchange) whenSettled(f func()) {
	if x.unsettled == 0 {
		f()
		return
	}
	x.settled = append(x.settled, f)
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
