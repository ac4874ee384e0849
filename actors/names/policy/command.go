package policy

import (
	"fmt"
	"sync/atomic"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/definitions"
	"candlemark/policies"
	"candlemark/policies/changes"
)

// command waits for earlier commands, and then until its change is stored. So commands take effect and are answered in
// order of arrival, and each sees the effects of earlier ones.
type command struct {
	mail  mail.Answerable
	begun bool
	// vhost is the virtual host whose policies it changes, next the new policies, log their history including the
	// change; next is nil if nothing changes.
	vhost string
	edits []changes.Edit
	next  *policies.Policies
	log   changes.Log
	// outcome is set when the change is stored or was refused.
	outcome atomic.Pointer[outcome]
}

// outcome is the result of storing a change. The revision is 0 if there was nothing to store.
type outcome struct {
	revision uint64
	err      error
}

// accept appends a command.
func (s *state) accept(m mail.Answerable) { s.commands = append(s.commands, &command{mail: m}) }

// first returns the first command, nil for none.
func (s *state) first() *command {
	if len(s.commands) == 0 {
		return nil
	}
	return s.commands[0]
}

// drop removes a command, if it is the first.
func (s *state) drop(c *command) {
	if s.first() == c {
		s.commands[0] = nil
		s.commands = s.commands[1:]
	}
}

// begin returns the change that a command makes to stored definitions. A policy that does not change is not stored
// again (POL-9). at is wall-clock time, in ms. The error is the reason why no change is possible.
func (s *state) begin(c *command, at int64) (stored definitions.Change, err error) {
	c.begun = true
	switch m := c.mail.(type) {
	case *mail.SetPolicy:
		c.vhost = m.Policy.VHost
		set := s.known(c.vhost)
		if err := s.full(set, m.Policy); err != nil {
			return stored, err
		}
		set = set.With(m.Policy)
		if err := s.room(c.vhost, set); err != nil {
			return stored, err
		}
		return s.edit(c, set, []*policies.Policy{m.Policy}, at, m.By, 0), nil
	case *mail.SetPolicies:
		c.vhost = m.VHost
		set := s.known(c.vhost)
		if err := s.full(set, m.Policies...); err != nil {
			return stored, err
		}
		for _, p := range m.Policies {
			set = set.With(p)
		}
		if err := s.room(c.vhost, set); err != nil {
			return stored, err
		}
		return s.edit(c, set, m.Policies, at, m.By, 0), nil
	case *mail.ClearPolicy:
		c.vhost = m.VHost
		set, p := s.known(c.vhost), &policies.Policy{VHost: m.VHost, Name: m.Name, Operator: m.Operator}
		return s.edit(c, set.Without(m.Operator, m.Name), []*policies.Policy{p}, at, m.By, 0), nil
	case *mail.UndoPolicyChange:
		c.vhost = m.VHost
		next, of, err := s.history(m.VHost).Undo(s.known(m.VHost), m.Change, m.Operators)
		if err != nil {
			return stored, err
		}
		return s.edit(c, next, of, at, m.By, m.Change), nil
	case *mail.ForgetVHost:
		set := s.known(m.Name)
		for _, p := range append(set.Policies(false), set.Policies(true)...) {
			stored.Delete = append(stored.Delete, p)
		}
		for _, e := range s.history(m.Name) {
			stored.Delete = append(stored.Delete, e)
		}
	}
	return stored, nil
}

// full returns an error, in RabbitMQ's words, if the set has no room for the policies that it lacks.
func (s *state) full(set *policies.Policies, all ...*policies.Policy) error {
	for i, component := range [...]string{"policy", "operator_policy"} {
		limit, limited := s.limits[component]
		if !limited {
			continue
		}
		added, count := 0, 0
		for _, p := range all {
			if p.Operator == (i == 1) && set.Lookup(p.Operator, p.Name) == nil {
				added++
			}
		}
		for _, v := range s.vhosts {
			count += len(v.set.Policies(i == 1))
		}
		if added > 0 && count+added > limit {
			return &policies.ValidationError{Text: fmt.Sprintf("component %s is limited to %d", component, limit)}
		}
	}
	return nil
}

// edit sets the new policies of the command's virtual host.
func (s *state) edit(c *command, next *policies.Policies, of []*policies.Policy, at int64, by *events.Origin, undoes uint64) (stored definitions.Change) {
	if c.edits = changes.Between(s.known(c.vhost), next, of); len(c.edits) == 0 {
		return stored
	}
	entry := changes.New(c.vhost, at, c.edits)
	if entry.Undoes = undoes; by != nil {
		entry.By = changes.By{User: by.User, Interface: by.Interface}
	}
	var dropped []*changes.Change
	c.next = next
	c.log, dropped = s.history(c.vhost).With(entry)
	for _, old := range dropped {
		stored.Delete = append(stored.Delete, old)
	}
	for _, e := range c.edits {
		if e.After != nil {
			stored.Put = append(stored.Put, e.After)
		} else {
			stored.Delete = append(stored.Delete, e.Before)
		}
	}
	stored.Put = append(stored.Put, entry)
	return stored
}

// known returns the policies of a virtual host.
func (s *state) known(vhost string) *policies.Policies {
	if v := s.vhosts[vhost]; v != nil {
		return v.set
	}
	return policies.NewSet(vhost)
}

// history returns the recent changes of a virtual host's policies.
func (s *state) history(vhost string) changes.Log {
	if v := s.vhosts[vhost]; v != nil {
		return v.log
	}
	return nil
}

// refuse answers a command whose change was refused or could not be stored.
func (s *state) refuse(r mail.Request, err error) {
	s.out.Send(r.ReplyTo, &mail.PolicyReply{Reply: r.Done(err)})
}
