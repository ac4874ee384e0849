package policy

import (
	"cmp"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/policies/changes"
)

// state is the core of the registry.
type state struct {
	self   mail.Address
	limits map[string]int // see Config.Limits
	// objects has the price of policies; nil for no limit.
	objects *budget.Objects
	vhosts  map[string]*vhost
	// change is the number of the last ApplyPolicies, over all vhosts.
	change uint64
	waits  map[uint64]*vhost // by number of the unconfirmed ApplyPolicies
	// commands are the commands that have not taken effect, in order of arrival.
	commands []*command
	out      mail.Posts
}

// vhost is the registry's record of a virtual host.
type vhost struct {
	set  *policies.Policies
	held int64        // bytes that are counted for them
	log  changes.Log  // its recent changes
	pid  mail.Address // nil if absent
	// change is the number of the last ApplyPolicies sent to it, confirmed the last one it has answered: the vhost
	// answers in order.
	change, confirmed uint64
	waiting           []waiter // ordered by change
}

// waiter is a command to be answered when a change is in force.
type waiter struct {
	change uint64
	to     mail.Address
	answer *mail.PolicyReply
}

// newState returns the core with the stored policies, and their stored changes.
func newState(limits map[string]int, objects *budget.Objects, stored []*policies.Policy, history []*changes.Change) state {
	s := state{limits: limits, objects: objects, vhosts: map[string]*vhost{}, waits: map[uint64]*vhost{}}
	for _, p := range stored {
		v := s.vhost(p.VHost)
		v.set = v.set.With(p)
	}
	for _, c := range history {
		v := s.vhost(c.VHost)
		v.log = append(v.log, c)
	}
	for name, v := range s.vhosts {
		s.hold(name, v)
		v.log = changes.Restored(v.log)
	}
	return s
}

// vhost returns the record of a virtual host; policies may be set before it starts.
func (s *state) vhost(name string) *vhost {
	v := s.vhosts[name]
	if v == nil {
		v = &vhost{set: policies.NewSet(name)}
		s.vhosts[name] = v
	}
	return v
}

// carryOut sends a command's new policies to the virtual host. If nothing has changed it sends nothing (POL-9), and
// the answer waits for changes under way.
func (s *state) carryOut(c *command, r mail.Request, found bool, revision uint64) {
	answer := &mail.PolicyReply{Reply: r.Done(nil), Found: found, Revision: revision}
	if c.next == nil && s.vhosts[c.vhost] == nil {
		s.out.Send(r.ReplyTo, answer)
		return
	}
	v := s.vhost(c.vhost)
	if c.next != nil {
		answer.Change = c.log[len(c.log)-1].ID
		v.set, v.log = c.next, c.log
		s.hold(c.vhost, v)
		s.apply(v)
	}
	v.waiting = append(v.waiting, waiter{v.change, r.ReplyTo, answer})
	s.answerWaiting(v)
}

// apply sends the vhost its set, if it is running.
func (s *state) apply(v *vhost) {
	if v.pid == nil {
		return
	}
	s.change++
	v.change = s.change
	s.waits[v.change] = v
	s.out.Send(v.pid, &mail.ApplyPolicies{Request: mail.Request{ReplyTo: s.self, ID: v.change}, Set: v.set})
}

// applied handles a confirmation: the change and all earlier ones are in force.
func (s *state) applied(change uint64) {
	v := s.waits[change]
	if v == nil {
		return
	}
	delete(s.waits, change)
	v.confirmed = max(v.confirmed, change)
	s.answerWaiting(v)
}

// answerWaiting answers the commands whose changes are in force.
func (s *state) answerWaiting(v *vhost) {
	n := 0
	for ; n < len(v.waiting) && v.waiting[n].change <= v.confirmed; n++ {
		s.out.Send(v.waiting[n].to, v.waiting[n].answer)
	}
	v.waiting = slices.Delete(v.waiting, 0, n)
}

// forgetVHost drops the policies of a deleted vhost and their history, even if deleting them from storage failed. An
// actor of that name that is still running keeps its policies; waiting commands are answered.
func (s *state) forgetVHost(m *mail.ForgetVHost, o outcome) {
	if v := s.vhosts[m.Name]; v != nil {
		v.set = policies.NewSet(m.Name)
		s.hold(m.Name, v)
		s.forget(v)
		v.confirmed = v.change
		s.answerWaiting(v)
		delete(s.vhosts, m.Name)
	}
	s.out.Send(m.ReplyTo, &mail.PolicyReply{Reply: m.Done(o.err), Revision: o.revision})
}

// started sends a vhost its policies. Commands that waited for its predecessor now wait for it.
func (s *state) started(name string, pid mail.Address) {
	v := s.vhost(name)
	s.forget(v)
	v.pid = pid
	s.apply(v)
	for i := range v.waiting {
		v.waiting[i].change = v.change
	}
}

// gone handles the end of a vhost's actor.
func (s *state) gone(pid mail.Address) {
	for _, v := range s.vhosts {
		if mail.Same(v.pid, pid) {
			s.forget(v)
			v.pid = nil
			v.confirmed = v.change
			s.answerWaiting(v)
		}
	}
}

// forget makes late confirmations of the vhost's earlier changes harmless.
func (s *state) forget(v *vhost) {
	for change, of := range s.waits {
		if of == v {
			delete(s.waits, change)
		}
	}
}

// list answers with policies by ascending priority (POL-13); of equal priority, by vhost and name.
func (s *state) list(m *mail.ListPolicies) {
	answer := &mail.PolicyList{Reply: m.Done(nil)}
	if m.VHost != "" {
		if v := s.vhosts[m.VHost]; v != nil {
			answer.Policies = v.set.Policies(m.Operator)
		}
		s.out.Send(m.ReplyTo, answer)
		return
	}
	for _, v := range s.vhosts {
		answer.Policies = append(answer.Policies, v.set.Policies(m.Operator)...)
	}
	slices.SortStableFunc(answer.Policies, func(a, b *policies.Policy) int {
		return cmp.Or(comparePriorities(a, b), cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.Name, b.Name))
	})
	s.out.Send(m.ReplyTo, answer)
}

// comparePriorities compares priorities as floats, which between vhosts affects only the order of a list.
func comparePriorities(a, b *policies.Policy) int {
	x, _ := a.Priority.Float64()
	y, _ := b.Priority.Float64()
	return cmp.Compare(x, y)
}
