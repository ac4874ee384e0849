package vhost

import (
	"runtime/debug"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// state is the core of the actor. It imports no actor system, no clock and no disk: the shell passes the time and
// carries out its effects.
type state struct {
	shared
	failure  any  // value of a command's panic in this turn
	deleted  bool // if the virtual host ends: no queue is left
	stopping bool // children end because this actor does
}

// begin passes the core its own address.
type begin struct {
	self    mail.Address
	childOf func(parent mail.Address, name string) mail.Address
}

func newState(cfg Config) *state {
	s := &state{shared: shared{
		cfg: cfg, vhost: cfg.VHost.Name, rules: refusal.Rules{VHost: cfg.VHost.Name, System: cfg.SystemExchanges}, directory: &topology.Directory{}, holders: map[string]*budget.Holder{}, serverName: refusal.ServerName,
		requests: requests{open: map[uint64]pendingRequest{}}, children: children{known: map[string]any{}, leaving: map[string]store.QueueID{}},
	}}
	s.run = s.handle
	s.queues = &queues{shared: &s.shared, byName: map[string]*queue{}, owners: owners{}}
	s.reviver = &reviver{&s.shared}
	s.exchanges = &exchanges{shared: &s.shared, byName: map[string]*exchange{}}
	s.bindings = &bindings{&s.shared}
	s.matcher = &matcher{shared: &s.shared, set: policies.NewSet(s.vhost)}
	return s
}

func (s *state) handle(received any) {
	defer s.guard(received)
	switch m := received.(type) {
	case *mail.DeclareQueue, *mail.DeleteQueue, *mail.AwaitQueue, *mail.DeclareExchange, *mail.DeleteExchange, *mail.Bind, *mail.Unbind:
		s.command(m)
	case *mail.ReleaseConnection:
		s.queues.releaseConnection(m)
	case *mail.ApplyPolicies:
		s.matcher.apply(m)
		s.recovery.begin()
	case *mail.EndVHost:
		s.deleteAll(m)
	case sweepOn:
		s.matcher.sweepOn()
	case *mail.AwaitIdle:
		s.awaiting = append(s.awaiting, *m)
	case *stored:
		s.storing--
		m.then(m.err)
	case emptyOn:
		s.recovery.startEmpty()
	case *fetched:
		s.reviver.fetched(m)
	default:
		s.event(received)
	}
	s.answerIdle()
}

// command executes a command about a name. It may run while the virtual host is ending, or before recovery is done.
func (s *state) command(received any) {
	switch {
	case s.ending != nil:
		s.out.answer(mail.Gone, received)
		return
	case s.recovery != nil:
		s.recovery.wait(received)
		return
	}
	switch m := received.(type) {
	case *mail.DeclareQueue:
		s.queues.declare(m)
	case *mail.DeleteQueue:
		s.queues.delete(m)
	case *mail.AwaitQueue:
		s.queues.await(m)
	case *mail.DeclareExchange:
		s.exchanges.declare(m)
	case *mail.DeleteExchange:
		s.exchanges.delete(m)
	case *mail.Bind:
		s.bindings.bind(m)
	case *mail.Unbind:
		s.bindings.unbind(m)
	}
}

// event handles mail from children and from the actor system.
func (s *state) event(received any) {
	switch m := received.(type) {
	case *mail.QueueRetiring:
		s.queues.retiring(m)
	case *mail.QueueHeldUp:
		s.queues.isHeldUp(m)
	case *mail.QueueCrashed:
		s.reviver.crashed(m)
	case *mail.QueueDeleteRefused:
		s.queues.deleteRefused(m)
	case *mail.ExchangeUnused:
		s.exchanges.unused(m)
	case *mail.ForgetDestinationReply:
		s.requests.answered(m.ID, m.Unused, m.Err)
	case answer:
		s.requests.answered(m.Number(), false, m.Failure())
	case begin:
		s.begin(m)
	case *mail.PeerGone:
		s.peerGone(m.Who)
	}
}

// guard is deferred around a command. If the command panics, guard answers it, so that commands parked after it can
// continue.
func (s *state) guard(received any) {
	reason := recover()
	if reason == nil {
		return
	}
	s.cfg.Log.Error().Type("mail", received).Interface("reason", reason).
		Bytes("stack", debug.Stack()).Msg("the virtual host panicked while it handled a mail")
	s.out.answer(mail.Failed, received)
	if s.recovery != nil {
		s.recovery.fail()
	}
	if s.failure == nil {
		s.failure = reason
	}
}

// begin creates built-in objects. Stored objects are restored after the policies have arrived.
func (s *state) begin(m begin) {
	s.self, s.requests.self, s.childOf = m.self, m.self, m.childOf
	s.exchanges.makeBuiltIn()
	if s.cfg.Stored != nil {
		s.recovery = &recovery{shared: &s.shared, Stored: *s.cfg.Stored}
		s.cfg.Stored = nil
	}
	if s.cfg.Registry == nil {
		s.recovery.begin()
		return
	}
	s.out.send(s.cfg.Registry, &mail.VHostStarted{Name: s.vhost, PID: s.self})
}

// peerGone handles the end of a child or of the owner of exclusive queues. Children that ended normally are no longer
// known.
func (s *state) peerGone(who mail.Address) {
	child, messages := s.children.ended(who)
	switch c := child.(type) {
	case *queue:
		s.queues.died(c)
	case *exchange:
		s.exchanges.died(c)
	}
	s.retireMessages(messages)
	s.queues.release(who, func() {})
	s.leave()
}
