package session10

import (
	"bytes"
	"cmp"
	"slices"

	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	running "candlemark/actors/client/session10/management"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/management"
	"candlemark/internal/servicebus/dialect/servicebus"
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
	run func(s *state, request []byte, done func(replyTo string, answer []byte)) error
}

// The nodes with a fixed address.
var (
	managementNode = node{management.Address, running.MaxRequest, amqp10.WorstMemory, manage}
	tokensNode     = node{servicebus.TokenNode, maxTokenRequest, 1, takeToken}
)

// nodeOf returns the node at the address of a link, nil if there is none.
func nodeOf(d dialects.Dialect) *node {
	switch entity := d.Parsed(); {
	case d.Address() == managementNode.address:
		return &managementNode
	case d.Address() == tokensNode.address:
		return &tokensNode
	case entity != nil && entity.IsNode():
		return &node{entity.Text, entities.MaxRequest, 1, func(s *state, request []byte, done func(string, []byte)) error {
			return entityNode(s, *entity).Run(request, done)
		}}
	}
	return nil
}

// manage executes a request to /management.
func manage(s *state, request []byte, done func(replyTo string, answer []byte)) error {
	session := &running.Session{
		Client: &s.client, Node: s.cfg.Node, Log: s.cfg.Log, Send: s.Send, Ask: s.request, Missed: s.retryIfRestarting,
		Purged: s.eventPublisher.Purged,
	}
	return session.Run(request, done)
}

// nodeAnswer is an unwritten answer to a request on a link.
type nodeAnswer = linkAnswer[*link]

// attachAnswers attaches a link on which the client receives answers of a node, or nothing.
func attachAnswers(s *state, m *amqp10.Attach, d dialects.Dialect) {
	a := &answerLink[*link]{Node: d.Address(), Settled: m.SndSettleMode != amqp10.SenderUnsettled, Target: dialects.TargetOf(m)}
	s.links[m.Handle] = &link{handle: m.Handle, name: m.Name, address: a.Node, dialect: d, answers: a}
	s.reply(&amqp10.Attach{
		Name: m.Name, Handle: m.Handle, Role: amqp10.RoleSender, SndSettleMode: m.SndSettleMode, RcvSettleMode: m.RcvSettleMode,
		Source: m.Source, Target: m.Target,
		InitialDeliveryCount: amqp10.Some(uint32(0)), MaxMessageSize: amqp10.Some(s.cfg.MaxMessage), Properties: m.Properties,
	})
}

// ask executes a request.
func ask(s *state, d *transfer, n *node, request []byte) {
	d.link.publisher.Open++
	whenDecodable(s, d, n, request)
}

// whenDecodable executes a request when there is room for it in decoded form (PRO-21); all input waits.
func whenDecodable(s *state, d *transfer, n *node, request []byte) {
	l := d.link
	if !s.arguments.Ask(s.cfg.Objects, n.ratio*int64(len(request)), s.in.Answerer(s.in.Next())) {
		kept := bytes.Clone(request)
		s.request(func(any, error) { whenDecodable(s, d, n, kept) })
		s.in.Patient()
		return
	}
	if l.publisher == nil { // it has ended meanwhile
		s.arguments.Return()
		return
	}
	err := n.run(s, request, func(replyTo string, answer []byte) {
		s.arguments.Return()
		giveAnswer(s, l, replyTo, answer)
	})
	if err != nil {
		s.arguments.Return()
		s.failLink(l, err)
	}
	if l.closing {
		return
	}
	s.settle(d, amqp10.State{Kind: amqp10.Accepted})
}

// giveAnswer writes an answer as soon as the client has credit for it. Waiting answers are unread output (PRO-20).
func giveAnswer(s *state, l *link, replyTo string, message []byte) {
	if l.publisher == nil {
		return
	}
	to := answersFor(s, l, replyTo)
	if to == nil {
		s.failLink(l, amqp10.Errorf(amqp10.PreconditionFailed, "no link of the session receives replies from '%s'", l.publisher.node.address))
		return
	}
	if !s.unread.Room(int64(len(message))) {
		s.failLink(l, amqp10.Errorf(amqp10.ResourceLimitExceeded, "no room for an answer of %d bytes while the client has earlier answers to read", len(message)))
		return
	}
	s.unread.Take(int64(len(message)))
	to.answers.Waiting = append(to.answers.Waiting, &nodeAnswer{Message: message, Of: l})
	holdAnswers(s, to)
}

// answersFor finds the link for the answers to requests on l: one whose target or name is the reply-to, or with the
// same name as l; otherwise the first one attached; nil if there is none.
func answersFor(s *state, l *link, replyTo string) *link {
	rank := func(to *link) int { return to.answers.Rank(to.name, replyTo, l.name) }
	var found []*link
	for _, to := range s.links {
		if to.answers != nil && to.answers.Node == l.publisher.node.address {
			found = append(found, to)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b *link) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.handle, b.handle)) })
}

// holdAnswers queues the answers for which there is credit for writing.
func holdAnswers(s *state, l *link) {
	for _, a := range l.answers.Next() {
		s.held = append(s.held, &writing{link: l, answer: a})
	}
}

// answersWanted handles credit given by the client for answers.
func answersWanted(s *state, l *link, f *amqp10.Flow) {
	a := l.answers
	if f.LinkCredit.Set {
		a.Given(f)
		holdAnswers(s, l)
	}
	if f.Drain {
		s.holdFlow(l, &mail.CreditTaken{Drained: true, DeliveryCount: a.Count + a.Credit()})
		a.Keep(a.Held) // further answers need new credit
	} else if f.Echo {
		s.holdFlow(l, &mail.CreditTaken{})
	}
}

// appendAnswer appends an answer. blocked: the client's window is full.
func appendAnswer(s *state, b []byte, w *writing) (_ []byte, blocked bool) {
	if s.windows.RemoteIncoming == 0 || !s.cfg.Outbox.RoomFor(b) {
		return b, true
	}
	if s.sending.of == nil {
		tag := s.unacked.Tag(nil, 0, false)
		s.owners.Skip()
		s.begins(w, tag, w.answer.Message, nil, w.link.answers.Settled)
		w.link.answers.Held--
	}
	if b = s.appendTransfers(b, false); s.sending.of != nil {
		return b, true
	}
	s.refill(s.dropAnswer(w.answer))
	return b, false
}

// dropAnswer removes an answer or a direct reply, unless it is nil, that was written or is no longer needed. It returns
// the link of the request, which may send another one.
func (s *state) dropAnswer(a *nodeAnswer) *link {
	if a == nil {
		return nil
	}
	s.unread.Return(int64(len(a.Message)))
	switch {
	case a.Of == nil:
		s.replyBytes -= len(a.Message)
	case a.Of.publisher != nil:
		a.Of.publisher.Open--
	}
	return a.Of
}
