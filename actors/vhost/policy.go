package vhost

import (
	"maps"
	"slices"

	"candlemark/actors/mail"
	"candlemark/policies"
)

// sweepTurn is how many queues a policy change looks at before other mail gets
// its turn.
const sweepTurn = 4096

// sweepOn: a policy change goes on in this turn.
type sweepOn struct{}

// sweep is a policy change under way. Queues declared meanwhile match the new
// policies from the start.
type sweep struct {
	queues []*queue // still to be looked at
	open   bool     // not all of them have been
	posted bool     // sweepOn is under way
	// waiting ends when all queues were looked at and all exchanges have
	// answered; nil when nothing is under way.
	waiting *barrier
	askers  []mail.Request
}

// applyPolicies puts a newer set in force. A change that comes while another one
// is under way joins it: both are answered when the newer one is done.
func (v *vhost) applyPolicies(m *mail.ApplyPolicies) {
	s := &v.sweep
	if m.Set.Version <= v.policies.Version {
		if s.waiting == nil {
			v.reply(m.Request, &mail.ApplyPoliciesReply{Reply: m.Done(nil)})
			return
		}
		s.askers = append(s.askers, m.Request)
		return
	}
	v.policies = m.Set
	s.askers = append(s.askers, m.Request)
	switch {
	case s.waiting == nil:
		s.waiting = newBarrier(v.policiesApplied)
	case !s.open:
		s.waiting.begin()
	}
	s.open = true
	s.queues = slices.AppendSeq(s.queues[:0], maps.Values(v.queues))
	for _, x := range v.exchanges {
		v.configureExchange(x)
	}
	if !s.posted {
		v.sweepOn()
	}
}

func (v *vhost) configureExchange(x *exchange) {
	of := x.exchange.Name
	if x.phase == forgetting || x.phase == coming || !v.rematch(&x.name, policies.KindExchange, of) {
		return
	}
	v.sweep.waiting.begin()
	settings := policies.ExchangeSettingsFor(x.exchange.Arguments, v.policies.Effective(policies.KindExchange, of))
	r := v.ask(x, func(bool, error) { v.sweep.waiting.end() })
	v.ctx.Send(x.exchange.PID, &mail.ConfigureExchange{Request: r, Settings: settings})
	v.configureHolder(x.holder)
}

// sweepOn looks at the next queues.
func (v *vhost) sweepOn() {
	s := &v.sweep
	s.posted = false
	n := min(len(s.queues), sweepTurn)
	for _, q := range s.queues[:n] {
		v.configureQueue(q)
	}
	if s.queues = s.queues[n:]; len(s.queues) > 0 {
		s.posted = true
		v.ctx.Send(v.ctx.Self(), sweepOn{})
		return
	}
	s.queues, s.open = nil, false
	s.waiting.end()
}

func (v *vhost) configureQueue(q *queue) {
	of := q.queue.Name
	if q.holdsFor != nil || q.phase == forgetting || q.phase == down || v.child(q) == nil || !v.rematch(&q.name, q.kind, of, q.notBy()...) {
		return
	}
	effective := v.policies.Effective(q.kind, of, q.notBy()...)
	settings := v.settingsOf(q, effective)
	if !q.wantsDLQ {
		v.ctx.Send(q.queue.PID, &mail.Configure{Effective: effective, Settings: settings})
		return
	}
	waiting := v.sweep.waiting
	if waiting == nil {
		waiting = newBarrier(func() {})
	}
	waiting.begin()
	v.ensureDLQ(q, func() {
		defer waiting.end()
		if v.child(q) != nil && q.phase != forgetting { // the policies may be others by now
			effective := v.policies.Effective(q.kind, of, q.notBy()...)
			v.ctx.Send(q.queue.PID, &mail.Configure{Effective: effective, Settings: v.settingsOf(q, effective)})
		}
	})
}

func (v *vhost) policiesApplied() {
	askers := v.sweep.askers
	v.sweep.waiting, v.sweep.askers = nil, nil
	for _, r := range askers {
		v.reply(r, &mail.ApplyPoliciesReply{Reply: r.Done(nil)})
	}
}

// match notes the policies that match a new object and returns what they say.
func (v *vhost) match(n *name, kind policies.Kind, of string, but ...string) policies.Effective {
	e := v.policies.Effective(kind, of, but...)
	n.user, n.operator = e.Matched()
	if e.Doubtful != "" {
		v.cfg.Log.Warn().Str("policy", e.Doubtful).Str("name", of).
			Msg("the pattern of a policy takes too long for a name: an operator policy applies to it, another one does not")
	}
	return e
}

// rematch tells whether the matched policies have changed as a whole (POL-9).
func (v *vhost) rematch(n *name, kind policies.Kind, of string, but ...string) bool {
	user, operator := v.policies.Match(kind, of, but...)
	changed := !user.Equal(n.user) || !operator.Equal(n.operator)
	n.user, n.operator = user, operator
	return changed
}
