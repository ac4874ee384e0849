package vhost

import "candlemark/actors/mail"

// pendingRequest is a mail to an exchange whose answer is waited for.
type pendingRequest struct {
	to *exchange
	// then goes on with the answer; unused as in mail.BindingsForgotten.
	then func(unused bool, err error)
}

// ask numbers a question to x.
func (v *vhost) ask(x *exchange, then func(unused bool, err error)) mail.Request {
	v.asked++
	v.questions[v.asked] = pendingRequest{x, then}
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

// barrier calls done when all its parts have ended.
type barrier struct {
	left int
	done func()
}

// newBarrier has one part, which whoever hands out the others ends last.
func newBarrier(done func()) *barrier { return &barrier{left: 1, done: done} }

func (g *barrier) begin() { g.left++ }

func (g *barrier) end() {
	if g.left--; g.left == 0 {
		g.done()
	}
}

// removeBindingsTo has every exchange forget its bindings to n, which is no longer
// published, and calls done when they have, and those of them that end by that
// are gone.
func (v *vhost) removeBindingsTo(n *name, of string, toExchange bool, done func()) {
	g := newBarrier(done)
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

// unpark runs the commands that waited for n.
func (v *vhost) unpark(n *name) {
	parked := n.parked
	n.parked = nil
	for _, m := range parked {
		v.handle(m)
	}
}
