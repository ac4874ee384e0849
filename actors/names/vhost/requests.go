package vhost

import "candlemark/actors/system/mail"

// requests holds the mails to children whose answers are outstanding.
type requests struct {
	self mail.Address
	open map[uint64]pendingRequest
	last uint64 // number of the last request
}

type pendingRequest struct {
	to *exchange // nil for a queue
	// then continues with the answer; unused as in mail.ForgetDestinationReply.
	then func(unused bool, err error)
}

// ask numbers a request to x.
func (r *requests) ask(x *exchange, then func(unused bool, err error)) mail.Request {
	r.last++
	r.open[r.last] = pendingRequest{x, then}
	return mail.Request{ReplyTo: r.self, ID: r.last}
}

// answer is a reply of an exchange or a queue that contains only its Reply.
type answer interface {
	Number() uint64
	Failure() error
}

// answered continues with the answer; a second answer is ignored.
func (r *requests) answered(number uint64, unused bool, err error) {
	if q, open := r.open[number]; open {
		delete(r.open, number)
		q.then(unused, err)
	}
}

// answerFor answers all requests to x, which has ended and so has no bindings.
func (r *requests) answerFor(x *exchange) {
	for id, q := range r.open {
		if q.to == x {
			r.answered(id, false, nil)
		}
	}
}

// barrier calls done when all its parts have ended.
type barrier struct {
	left int
	done func()
}

// newBarrier returns a barrier with one part, which its creator ends after adding the others.
func newBarrier(done func()) *barrier { return &barrier{left: 1, done: done} }

func (g *barrier) begin() { g.left++ }

func (g *barrier) end() {
	if g.left--; g.left == 0 {
		g.done()
	}
}
