package policy

import (
	"slices"
	"sync/atomic"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/policies"
)

// command is one that waits for those before it, and until what it changes is
// stored. So commands take effect, and are answered, in the order in which they
// came.
type command struct {
	what   mail.Answerable
	change definitions.Change
	// outcome is set by whoever stores the change.
	outcome atomic.Pointer[outcome]
}

// outcome of storing a change. The revision is 0 when there was nothing to store.
type outcome struct {
	revision uint64
	err      error
}

// accept takes a command in. Store says that its change is to be stored.
func (s *state) accept(what mail.Answerable) (c *command, store bool) {
	c = &command{what: what, change: s.changeOf(what)}
	store = len(c.change.Put)+len(c.change.Delete) > 0
	if !store {
		c.outcome.Store(&outcome{})
	}
	s.commands = append(s.commands, c)
	return c, store
}

// changeOf returns the change that a command makes to stored definitions. What is already so by
// then is not stored again (POL-9); while others wait nobody knows.
func (s *state) changeOf(what mail.Answerable) (c definitions.Change) {
	idle := len(s.commands) == 0
	switch m := what.(type) {
	case *mail.SetPolicy:
		if set := s.known(m.Policy.VHost); !idle || set.With(m.Policy) != set {
			c.Put = append(c.Put, m.Policy)
		}
	case *mail.SetPolicies:
		for _, p := range m.Policies {
			if set := s.known(m.VHost); !idle || set.With(p) != set {
				c.Put = append(c.Put, p)
			}
		}
	case *mail.ClearPolicy:
		if !idle || s.known(m.VHost).Lookup(m.Operator, m.Name) != nil {
			c.Delete = append(c.Delete, &policies.Policy{VHost: m.VHost, Name: m.Name, Operator: m.Operator})
		}
	case *mail.ForgetVHost:
		set := s.known(m.Name)
		for _, p := range append(set.Policies(false), set.Policies(true)...) {
			c.Delete = append(c.Delete, p)
		}
		for _, before := range s.commands {
			switch before := before.what.(type) {
			case *mail.SetPolicy:
				if before.Policy.VHost == m.Name {
					c.Delete = append(c.Delete, before.Policy)
				}
			case *mail.SetPolicies:
				for i := 0; before.VHost == m.Name && i < len(before.Policies); i++ {
					c.Delete = append(c.Delete, before.Policies[i])
				}
			}
		}
	}
	return c
}

// known are the policies of a virtual host.
func (s *state) known(vhost string) *policies.Set {
	if v := s.vhosts[vhost]; v != nil {
		return v.set
	}
	return policies.NewSet(vhost)
}

// next is the first command if it can take effect, nil if it has to wait.
func (s *state) next() *command {
	if len(s.commands) == 0 || s.commands[0].outcome.Load() == nil {
		return nil
	}
	c := s.commands[0]
	s.commands = slices.Delete(s.commands, 0, 1)
	return c
}

// refuse answers a command whose change could not be stored.
func (s *state) refuse(r mail.Request, err error) {
	s.send(r.ReplyTo, &mail.PolicyReply{Reply: r.Done(err)})
}
