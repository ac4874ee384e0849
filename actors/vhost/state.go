package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
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
)

// name is what a queue and an exchange have in common.
type name struct {
	phase  phase
	parked []any // commands, in order; empty while live
	// sources are the exchanges that may hold a binding to it; nil for none.
	sources map[*exchange]struct{}
	// user and operator are the policies that match, nil for none.
	user, operator *policies.Policy
}

// park keeps a command for later unless the name is live.
func (n *name) park(command any) bool {
	if n.phase == live {
		return false
	}
	n.parked = append(n.parked, command)
	return true
}

// queue is what the vhost knows of one.
type queue struct {
	name
	queue *topology.Queue
	kind  policies.Kind
	// forwarded counts the commands sent on to it (DESIGN §5a.3).
	forwarded uint64
	// doomed: its owner is gone, no condition keeps it.
	doomed bool
	// gone are called once it is forgotten.
	gone []func()
}

// exchange is what the vhost knows of one.
type exchange struct {
	name
	exchange *topology.Exchange
	// feeds are the names it may hold a binding to; nil for none.
	feeds map[*name]struct{}
}

// tie remembers that x may hold a binding to n.
func (x *exchange) tie(n *name) {
	if n.sources == nil {
		n.sources = map[*exchange]struct{}{}
	}
	if x.feeds == nil {
		x.feeds = map[*name]struct{}{}
	}
	n.sources[x] = struct{}{}
	x.feeds[n] = struct{}{}
}

// cut forgets all that x feeds: its table is empty.
func (x *exchange) cut() {
	for n := range x.feeds {
		delete(n.sources, x)
	}
	x.feeds = nil
}

// owner is a connection with exclusive queues.
type owner struct {
	pid    *actor.PID
	queues map[*queue]struct{}
}

// question is a mail to an exchange whose answer is waited for.
type question struct {
	to *exchange
	// then goes on with the answer; unused as in mail.BindingsForgotten.
	then func(unused bool, err error)
}

// ask numbers a question to x.
func (v *vhost) ask(x *exchange, then func(unused bool, err error)) mail.Request {
	v.asked++
	v.questions[v.asked] = question{x, then}
	return mail.Request{ReplyTo: v.ctx.Self(), ID: v.asked}
}

// answered goes on with what waited; a second answer finds nothing to go on
// with.
func (v *vhost) answered(r mail.Reply, unused bool) {
	q, open := v.questions[r.ID]
	if open {
		delete(v.questions, r.ID)
		q.then(unused, r.Err)
	}
}

// answerFor goes on with every question to x, which has ended: what is gone has
// forgotten all.
func (v *vhost) answerFor(x *exchange) {
	for id, q := range v.questions {
		if q.to == x {
			v.answered(mail.Reply{ID: id}, false)
		}
	}
}

// gather calls done when all its parts have ended.
type gather struct {
	left int
	done func()
}

// newGather has one part, which whoever hands out the others ends last.
func newGather(done func()) *gather { return &gather{left: 1, done: done} }

func (g *gather) begin() { g.left++ }

func (g *gather) end() {
	if g.left--; g.left == 0 {
		g.done()
	}
}

// unpark runs the commands that waited for n.
func (v *vhost) unpark(n *name) {
	parked := n.parked
	n.parked = nil
	for _, m := range parked {
		v.handle(m)
	}
}

// untie has every exchange forget its bindings to n, which is no longer
// published, and calls done when they have, and those of them that end by that
// are gone.
func (v *vhost) untie(n *name, of string, toExchange bool, done func()) {
	g := newGather(done)
	for x := range n.sources {
		delete(x.feeds, n)
		g.begin()
		r := v.ask(x, func(unused bool, _ error) {
			if !unused || x.phase != live {
				g.end()
				return
			}
			v.retire(x, true, func(error) { g.end() })
		})
		v.ctx.Send(x.exchange.PID, &mail.ForgetDestination{Request: r, Name: of, ToExchange: toExchange})
	}
	n.sources = nil
	g.end()
}
