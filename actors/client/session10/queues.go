package session10

import (
	"errors"

	"candlemark/actors/client/peers"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/trace"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/seqmap"
)

// queues is the session's side of its traffic with queues.
//
// Owns: the queues that it knows, the messages for them that a turn has collected, and the deliveries that the client has not
// settled. It sends collected mail before each request.
type queues struct {
	base
	peers   peers.QueueLinks
	routes  *routing.RouteCache
	batches routing.Batches
	tracer  trace.Tracer
	unacked unacked.Deliveries
	owners  seqmap.Map[*link] // links of the unacked deliveries, by the same numbers
	long    *routing.Wait     // the publish that waits, nil for none
}

func (q *queues) init(b base, r *rights.Rights) {
	c := b.cfg
	q.base = b
	q.peers = peers.New(b.Mail, c.Objects)
	q.batches = routing.NewBatches(b.Mail, &q.peers,
		&mail.Publisher{User: c.User.Name, Tags: c.User.Tags, Connection: c.Connection, Origin: c.By}, c.Gate)
	q.routes = routing.NewRoutes(r, &q.batches)
	q.tracer = trace.Tracer{
		Origin: trace.Origin{Node: c.Node, VHost: c.VHost.Name, Connection: c.ConnectionName, User: c.User.Name, Channel: c.Channel},
		VHost:  c.VHost, Routes: q.routes, Batches: &q.batches, Log: c.Log,
	}
	q.unacked = unacked.New(b.Mail)
}

// flush sends the turn's publishes and settlements to queues.
func (q *queues) flush() {
	q.routes.FlushAll()
	q.unacked.Flush()
}

// request returns the Request of a command that waits for its answer. Batches for queues are sent first, so that they
// arrive before it.
func (q *queues) request(done func(reply any, err error)) mail.Request {
	q.flush()
	return q.in.Await(done)
}

// runInBackground runs work on its own goroutine, and calls done with the result; all later input waits, without time limit.
func (q *queues) runInBackground(work func() (any, error), done func(reply any, err error)) {
	id := q.request(done).ID
	q.in.Patient()
	q.in.Go(id, work)
}

// retryIfRestarting reports whether err means that a queue ended before it saw a request; if so, it asks the virtual host about
// the queue, and calls again after the answer.
func (q *queues) retryIfRestarting(err error, again func()) bool {
	var missed *mail.Missed
	if !errors.As(err, &missed) {
		return false
	}
	q.Send(q.cfg.VHost.PID, &mail.AwaitQueue{
		Request: q.request(func(_ any, err error) {
			if err != nil {
				q.up.fail(err)
				return
			}
			again()
		}),
		Name: missed.Queue, VHost: q.cfg.VHost.Name,
	})
	return true
}

// mustRest ends the turn if it has reached its limit; parked input is processed in another one.
func (q *queues) mustRest() bool {
	if q.routes.Steps() < topology.TurnSteps {
		return false
	}
	q.flush()
	q.in.Rest()
	return true
}

// whenPermitted calls then when that many copies may be made; until then all input waits, and bytes are charged, unless 0.
func (q *queues) whenPermitted(copies, bytes int, then func()) {
	if copies <= 0 || routing.MayCopy(q.cfg.Copies, q.cfg.Gate, copies) {
		then()
		return
	}
	if bytes > 0 {
		q.long = &routing.Wait{}
		q.long.Debt.Add(q.cfg.Gate, bytes)
	}
	id := q.request(func(any, error) {
		q.dropLong()
		q.whenPermitted(copies, bytes, then)
	}).ID
	q.in.Patient()
	q.cfg.Copies.Await(q.in.Answerer(id))
}

// dropLong ends the wait of a publish, if there is one.
func (q *queues) dropLong() {
	q.long.Stop()
	q.long = nil
}
