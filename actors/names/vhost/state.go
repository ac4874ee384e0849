package vhost

import (
	"time"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// shared is embedded by the parts of the core, each of which owns the state after which it is named.
type shared struct {
	cfg       Config
	vhost     string // name of the virtual host
	rules     refusal.Rules
	self      mail.Address
	childOf   func(parent mail.Address, name string) mail.Address // the address of the child of that name
	now       time.Time                                           // of the turn
	directory *topology.Directory                                 // published after the turn
	ending    *mail.EndVHost                                      // nil unless the virtual host is ending
	// incarnation is the last one assigned, if there is no Config.Incarnation. One counter serves all names, so that
	// no state is kept for deleted names.
	incarnation uint64
	serverName  func() string // generates a name for a queue declared without one

	out      effects
	holders  map[string]*budget.Holder // by user, "" for the broker itself
	requests requests
	children children
	storing  int               // changes under way to the store
	awaiting []mail.AwaitIdle  // to be answered when nothing is under way
	run      func(command any) // executes a parked command

	queues    *queues
	reviver   *reviver
	exchanges *exchanges
	bindings  *bindings
	matcher   *matcher
	recovery  *recovery // nil unless it is recovering
}

// incarnate assigns the number of a queue or exchange.
func (s *shared) incarnate() uint64 {
	if s.cfg.Incarnation != nil {
		return s.cfg.Incarnation()
	}
	s.incarnation++
	return s.incarnation
}

// spawn spawns a child and stores its address in pid.
func (s *shared) spawn(props props, name string, child any, pid *mail.Address) {
	*pid = s.childOf(s.self, name)
	s.children.known[(*pid).GetId()] = child
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

// retireMessages deletes a queue's data in the journal; 0 is no queue.
func (s *shared) retireMessages(of store.QueueID) {
	if of > 0 && s.cfg.Retire != nil {
		s.out.add(func() { s.cfg.Retire(of) })
	}
}

// store makes a change durable and calls then in a later turn, or at once if there is no store. Changes complete in
// the order of the calls.
func (s *shared) store(c definitions.Change, command mail.Answerable, then func(error)) {
	if s.cfg.Meta == nil {
		then(nil)
		return
	}
	s.storing++
	s.out.add(storing{c, then, command})
}

// answerIdle answers AwaitIdle if nothing is under way.
func (s *shared) answerIdle() {
	if s.storing+len(s.requests.open)+len(s.children.leaving) > 0 {
		return
	}
	for _, m := range s.awaiting {
		s.out.done(m.Request, nil)
	}
	s.awaiting = nil
}

// failed answers a command whose change was not stored.
func (s *shared) failed(command mail.Answerable, err error) {
	s.notStored(err)
	s.out.answer(mail.Unstored, command)
}

func (s *shared) notStored(err error) {
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("a definition could not be stored")
	}
}

// forgotten handles the result of a deletion that needs no answer.
func (s *shared) forgotten(err error) {
	if err != nil {
		s.cfg.Log.Error().Err(err).Msg("a definition could not be deleted")
	}
}

// phase is the state of a queue or exchange.
type phase uint8

const (
	// live: commands are executed at once.
	live phase = iota
	// asked: it was asked to end, but may refuse.
	asked
	// ending: a queue whose end has begun is unpublished and sends the messages that must arrive elsewhere; then it is
	// forgotten (LEASE-14).
	ending
	// forgetting: the name is unpublished and its bindings are being removed.
	forgetting
	// coming: its definition is being stored, or its messages are read back; it cannot be used yet.
	coming
	// down: it panicked too often (PRO-16). It can only be deleted.
	down
	// crashed: it panicked and its end is awaited; it may be restarted (coming).
	crashed
)

// name holds the common state of queues and exchanges.
type name struct {
	phase  phase
	parked []any // commands, in order; empty while live
	paid   charge
	// sources are the exchanges that may have a binding to it; nil for none.
	sources map[*exchange]struct{}
	by      *events.Origin // the user who deletes it; nil for the broker itself
	// user and operator are the policies that match, nil for none.
	user, operator *policies.Policy
}

// park parks a command until the object is live or does not exist, and reports whether it did. Down or ending queues
// refuse most commands instead.
func (n *name) park(command any) bool {
	if n.phase == live || n.phase == down || n.phase == ending {
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
	// deleting: its owner has ended, and it is deleted unconditionally.
	deleting bool
	// heldUp: it is ending, and declarations do not wait for the end.
	heldUp bool
	// lost is the number of messages that were to arrive elsewhere and are lost with it.
	lost int
	// wantsDLQ: it has a dead-letter queue created by the broker.
	wantsDLQ bool
	// lock is the DeadLetterLock of its settings.
	lock int64
	// forwarded counts the commands forwarded to it (PRO-3).
	forwarded uint64
	// gone are called once it is forgotten, ready once it is open, down or forgotten.
	gone, ready []func()
	life        restarts
	// holdsFor is the delayed exchange whose messages it holds, nil for a client's queue.
	holdsFor *exchange
}

// exchange is the vhost's record of an exchange.
type exchange struct {
	name
	exchange *topology.Exchange
	// feeds are the names to which it may have a binding; nil for none.
	feeds map[*name]struct{}
	// unsettled counts changes to its durable bindings while they are stored or published. At 0 its table has all stored
	// bindings.
	unsettled int
	settled   []func() // called when unsettled is 0 again
	// holder is the queue with the messages of a delayed exchange; otherwise nil.
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

// afterWrites calls f when no change of a durable binding of x is under way.
func (x *exchange) afterWrites(f func()) {
	if x.unsettled == 0 {
		f()
		return
	}
	x.settled = append(x.settled, f)
}

// addSource records that x may have a binding to n.
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

// forgetSources removes x from the sources of all names, because its table is empty.
func (x *exchange) forgetSources() {
	for n := range x.feeds {
		delete(n.sources, x)
	}
	x.feeds = nil
}
