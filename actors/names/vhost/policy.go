package vhost

import (
	"maps"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// sweepTurn is the number of queues that a policy change examines before other mail is handled.
const sweepTurn = 4096

// sweepOn continues a policy change.
type sweepOn struct{}

// matcher matches policies and applies changes of them. Queues declared during a change match the new policies from the
// start.
type matcher struct {
	*shared
	set    *policies.Policies // the newest policies
	sweep  []*queue           // queues not examined yet
	open   bool               // the sweep is not complete
	posted bool               // a sweepOn is in the mailbox
	// waiting ends when all queues are examined and all exchanges have answered; nil if no change is under way.
	waiting *barrier
	askers  []mail.Request
}

// apply brings a newer set into force. A change that arrives while another one is under way is merged: both are
// answered when the newer one is done.
func (p *matcher) apply(m *mail.ApplyPolicies) {
	if m.Set.Version <= p.set.Version {
		if p.waiting == nil {
			p.out.reply(m.Request, &mail.ApplyPoliciesReply{Reply: m.Done(nil)})
			return
		}
		p.askers = append(p.askers, m.Request)
		return
	}
	p.set = m.Set
	p.askers = append(p.askers, m.Request)
	switch {
	case p.waiting == nil:
		p.waiting = newBarrier(p.applied)
	case !p.open:
		p.waiting.begin()
	}
	p.open = true
	p.sweep = slices.AppendSeq(p.sweep[:0], maps.Values(p.queues.byName))
	for _, x := range p.exchanges.byName {
		p.configureExchange(x)
	}
	if !p.posted {
		p.sweepOn()
	}
}

func (p *matcher) configureExchange(x *exchange) {
	of := x.exchange.Name
	if x.phase == forgetting || x.phase == coming || !p.rematch(&x.name, policies.KindExchange, of) {
		return
	}
	p.waiting.begin()
	settings := policies.ExchangeSettingsFor(x.exchange.Arguments, p.set.Effective(policies.KindExchange, of))
	r := p.requests.ask(x, func(bool, error) { p.waiting.end() })
	p.out.send(x.exchange.PID, &mail.ConfigureExchange{Request: r, Settings: settings})
	if x.holder != nil && p.configurable(x.holder) {
		p.configure(x.holder)
	}
}

// sweepOn examines the next queues.
func (p *matcher) sweepOn() {
	p.posted = false
	n := min(len(p.sweep), sweepTurn)
	for _, q := range p.sweep[:n] {
		p.configureQueue(q)
	}
	if p.sweep = p.sweep[n:]; len(p.sweep) > 0 {
		p.posted = true
		p.out.send(p.self, sweepOn{})
		return
	}
	p.sweep, p.open = nil, false
	p.waiting.end()
}

// configureQueue sends a queue its settings after a change of policies, once its dead-letter queue, if it needs one,
// exists.
func (p *matcher) configureQueue(q *queue) {
	if q.holdsFor != nil || !p.configurable(q) || !p.rematch(&q.name, q.kind, q.queue.Name, q.policiesExcluded()...) {
		return
	}
	effective, settings := p.queues.settings(q)
	p.queues.copyLockTime(q)
	if !q.wantsDLQ {
		p.out.send(q.queue.PID, &mail.Configure{Effective: effective, Settings: settings})
		return
	}
	waiting := p.waiting
	if waiting == nil {
		waiting = newBarrier(func() {})
	}
	waiting.begin()
	p.queues.ensureDLQ(q, func() {
		defer waiting.end()
		if p.configurable(q) { // the policies may have changed in the meantime
			p.configure(q)
		}
	})
}

func (p *matcher) configurable(q *queue) bool {
	return q.phase != forgetting && q.phase != down && p.queues.lives(q)
}

// configure sends a queue its settings.
func (p *matcher) configure(q *queue) {
	effective, settings := p.queues.settings(q)
	p.out.send(q.queue.PID, &mail.Configure{Effective: effective, Settings: settings})
}

func (p *matcher) applied() {
	askers := p.askers
	p.waiting, p.askers = nil, nil
	for _, r := range askers {
		p.out.reply(r, &mail.ApplyPoliciesReply{Reply: r.Done(nil)})
	}
}

// rematch updates the policies that match n and reports whether they have changed (POL-9).
func (p *matcher) rematch(n *name, kind policies.Kind, of string, but ...string) bool {
	user, operator := p.set.Match(kind, of, but...)
	changed := !user.Equal(n.user) || !operator.Equal(n.operator)
	n.user, n.operator = user, operator
	return changed
}

// matched sets the policies that match a new object.
func (s *shared) matched(n *name, of string, e policies.Effective) {
	n.user, n.operator = e.Matched()
	if e.Doubtful != "" {
		s.cfg.Log.Warn().Str("policy", e.Doubtful).Str("name", of).
			Msg("matching the pattern of a policy takes too many steps: an operator policy applies in this case, another policy does not")
	}
}
