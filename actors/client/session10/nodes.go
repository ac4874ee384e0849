package session10

import (
	"bytes"
	"cmp"
	"slices"

	"candlemark/actors/client/connevents"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	running "candlemark/actors/client/session10/management"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/management"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// requestCredit is the number of requests that a client may send on a link before their answers. It is renewed when
// half of it is used.
const requestCredit = 8

// node is a node of the broker that answers requests: the client sends them on one link and receives the answers on
// another link of the same session.
type node struct {
	address    string
	maxRequest uint64 // largest request, in bytes
	ratio      int64  // of the memory of a decoded request to its size, at most
	// run executes a request, which is valid until it returns, and calls done once with the encoded answer and its
	// reply-to; until then the client's input may wait. The error is for an invalid request, which gets no answer.
	run func(request []byte, done func(replyTo string, answer []byte)) error
}

// answering answers requests to nodes, and passes direct replies to the client.
//
// Owns: room for the request that runs, and the direct replies being handled.
type answering struct {
	*base
	queues         *queues.Side
	output         *output
	links          map[uint32]*link // the session's
	access         *access.Access
	limits         *dialects.Limits
	client         requests.Client
	consumerEvents *connevents.Consumers
	retry          func(err error, again func()) bool // receiving's
	settle         func(d *transfer, state amqp10.State)
	publish        func(address servicebus.Address, q *topology.Queue, all [][]byte, done func([]uint64, error))
	arguments      budget.Command // room for the request to a node that runs or waits
	arriving       *mail.Enqueue  // the replies being handled, not answered yet
}

// nodeOf returns the node at the address of a link, nil if there is none.
func (r *answering) nodeOf(d dialects.Dialect) *node {
	switch entity := d.Parsed(); {
	case d.Address() == management.Address:
		return &node{d.Address(), running.MaxRequest, amqp10.WorstMemory, r.manage}
	case d.Address() == servicebus.TokenNode:
		return &node{d.Address(), maxTokenRequest, amqp10.WorstMemory, r.takeToken}
	case entity != nil && entity.IsNode():
		return &node{entity.Text, entities.MaxRequest, amqp10.WorstMemory, func(request []byte, done func(string, []byte)) error {
			return r.entityNode(*entity).Run(request, done)
		}}
	}
	return nil
}

// manage executes a request to /management.
func (r *answering) manage(request []byte, done func(replyTo string, answer []byte)) error {
	session := &running.Session{
		Client: &r.client, Node: r.cfg.Node, Log: r.cfg.Log, Send: r.Send, Ask: r.queues.Request, Missed: r.retry,
		Purged: r.consumerEvents.Purged,
	}
	return session.Run(request, done)
}

// nodeAnswer is an unwritten answer to a request on a link.
type nodeAnswer = linkAnswer[*link]

// attachAnswers attaches a link on which the client receives answers of a node, or nothing.
func (r *answering) attachAnswers(m *amqp10.Attach, d dialects.Dialect) {
	a := &answerLink[*link]{Node: d.Address(), Settled: m.SndSettleMode != amqp10.SenderUnsettled, Target: dialects.TargetOf(m)}
	r.links[m.Handle] = &link{handle: m.Handle, name: m.Name, address: a.Node, dialect: d, answers: a}
	r.output.reply(&amqp10.Attach{
		Name: m.Name, Handle: m.Handle, Role: amqp10.RoleSender, SndSettleMode: m.SndSettleMode, RcvSettleMode: m.RcvSettleMode,
		Source: m.Source, Target: m.Target,
		InitialDeliveryCount: amqp10.Some(uint32(0)), MaxMessageSize: amqp10.Some(r.cfg.MaxMessage), Properties: m.Properties,
	})
}

// ask executes a request.
func (r *answering) ask(d *transfer, n *node, request []byte) {
	d.link.publisher.Open++
	r.whenDecodable(d, n, request)
}

// whenDecodable executes a request when there is room for it in decoded form (PRO-21); all input waits.
func (r *answering) whenDecodable(d *transfer, n *node, request []byte) {
	l := d.link
	if !r.arguments.Ask(r.cfg.Objects, n.ratio*int64(len(request)), r.in.Answerer(r.in.Next())) {
		kept := bytes.Clone(request)
		r.queues.Request(func(any, error) { r.whenDecodable(d, n, kept) })
		r.in.Patient()
		return
	}
	if l.publisher == nil { // it has ended meanwhile
		r.arguments.Return()
		return
	}
	err := n.run(request, func(replyTo string, answer []byte) {
		r.arguments.Return()
		r.giveAnswer(l, replyTo, answer)
	})
	if err != nil {
		r.arguments.Return()
		r.up.failLink(l, err)
	}
	if l.closing {
		return
	}
	r.settle(d, amqp10.State{Kind: amqp10.Accepted})
}

// giveAnswer writes an answer as soon as the client has credit for it. Waiting answers are unread output (PRO-20).
func (r *answering) giveAnswer(l *link, replyTo string, message []byte) {
	if l.publisher == nil {
		return
	}
	to := r.answersFor(l, replyTo)
	if to == nil {
		r.up.failLink(l, amqp10.Errorf(amqp10.PreconditionFailed, "no link of the session receives replies from '%s'", l.publisher.node.address))
		return
	}
	if !r.output.keep(message) {
		r.up.failLink(l, amqp10.Errorf(amqp10.ResourceLimitExceeded, "no room for an answer of %d bytes while the client has earlier answers to read", len(message)))
		return
	}
	to.answers.Waiting = append(to.answers.Waiting, &nodeAnswer{Message: message, Of: l})
	r.output.holdAnswers(to)
}

// answersFor finds the link for the answers to requests on l: one whose target or name is the reply-to, or with the
// same name as l; otherwise the first one attached; nil if there is none.
func (r *answering) answersFor(l *link, replyTo string) *link {
	rank := func(to *link) int { return to.answers.Rank(to.name, replyTo, l.name) }
	var found []*link
	for _, to := range r.links {
		if to.answers != nil && to.answers.Node == l.publisher.node.address {
			found = append(found, to)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b *link) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.handle, b.handle)) })
}

// answersWanted handles credit given by the client for answers.
func (r *answering) answersWanted(l *link, f *amqp10.Flow) {
	a := l.answers
	if f.LinkCredit.Set {
		a.Given(f)
		r.output.holdAnswers(l)
	}
	if f.Drain {
		r.output.holdFlow(l, &mail.CreditTaken{Drained: true, DeliveryCount: a.Count + a.Credit()})
		a.Keep(a.Held) // further answers need new credit
	} else if f.Echo {
		r.output.holdFlow(l, &mail.CreditTaken{})
	}
}

// entityNode returns the node of an entity.
func (r *answering) entityNode(address servicebus.Address) *entities.Node {
	return &entities.Node{
		Queue: address.QueueName(), Access: r.access, Address: address, MaxMessage: r.limits.Largest(r.access, address.QueueName()), Send: r.Send, Ask: r.queues.Request, Self: r.Self(), Connection: r.cfg.Connection,
		Know:   func(queue mail.Address) { r.queues.Peers.Of(queue) },
		Counts: r.counts, Trace: func(queue string, d *mail.Delivery) { r.output.traceDelivery(queue, d) },
		Cancelled: r.consumerEvents.Cancelled,
		Publish: func(q *topology.Queue, all [][]byte, done func([]uint64, error)) {
			r.publish(address, q, all, done)
		},
	}
}

// takeToken executes a request to $cbs.
func (r *answering) takeToken(request []byte, done func(replyTo string, answer []byte)) error {
	return (&tokenNode{Access: r.access, Check: r.cfg.Token, Connection: r.cfg.Connection, Send: r.Send, Ask: r.queues.Request, Beside: r.queues.Beside}).Run(request, done)
}
