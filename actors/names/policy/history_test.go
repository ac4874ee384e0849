package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/definitions"
	"candlemark/policies"
	"candlemark/policies/changes"
)

// history returns the history of a virtual host, a change as "number user interface name:before>after".
func (p *probe) history(vhost string) string {
	p.Helper()
	p.send(&mail.DescribePolicies{Request: p.request(98), VHost: vhost})
	var lines []string
	for _, c := range next[*mail.PoliciesInfo](p).History {
		line := fmt.Sprint(c.ID)
		if c.User != "" {
			line += " " + c.User + " " + c.Interface
		}
		if c.Undoes != 0 {
			line += fmt.Sprint(" undoes ", c.Undoes)
		}
		for _, e := range c.Edits {
			line += " " + e.Policy().Name + ":" + definition(e.Before) + ">" + definition(e.After)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func definition(p *policies.Policy) string {
	if p == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(p.Definition.String(), `{"message-ttl":`), "}")
}

// by returns a request of a user through an interface.
func (p *probe) by(id uint64, user, way string) mail.Request {
	r := p.request(id)
	r.By = &events.Origin{User: user, Source: "here", Interface: way}
	return r
}

// changed takes the answer to a command and returns the number of its change.
func (p *probe) changed(id uint64) uint64 {
	p.Helper()
	r := next[*mail.PolicyReply](p)
	if r.ID != id || r.Err != nil {
		p.Errorf("%+v", r)
	}
	return r.Change
}

// TestHistory_POL21: each change has an entry, even after a restart, and can be undone; a command that changes nothing has none.
func TestHistory_POL21(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker := b.probe()
		began := time.Now().UnixMilli()
		b.send(&mail.SetPolicy{Request: asker.by(1, "ann", events.HTTP), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.by(2, "ann", events.HTTP), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicies{Request: asker.by(3, "bob", events.Import), VHost: "/", Policies: []*policies.Policy{
			b.policy("/", "p", hour, false), b.policy("/", "cap", hour, true),
		}})
		b.send(&mail.ClearPolicy{Request: asker.by(4, "eve", events.AMQP), VHost: "/", Name: "p"})
		b.send(&mail.ClearPolicy{Request: asker.by(5, "eve", events.AMQP), VHost: "/", Name: "p"})
		b.send(&mail.SetPolicy{Request: asker.request(6), Policy: b.policy("b", "other", minute, false)})
		for i, want := range []uint64{1, 0, 2, 3, 0, 1} {
			if got := asker.changed(uint64(i + 1)); got != want {
				t.Errorf("command %d is change %d, not %d", i+1, got, want)
			}
		}
		const want = "1 ann http p:>60000\n2 bob import p:60000>3600000 cap:>3600000\n3 eve amqp p:3600000>"
		b.stop(b.registry)
		b.begin(m.Reopen())
		if got := asker.history("/"); got != want {
			t.Errorf("got\n%s", got)
		}
		if got := asker.history("b"); got != "1 other:>60000" {
			t.Errorf("got\n%s", got)
		}

		undo := func(id, change uint64, operators bool) {
			b.send(&mail.UndoPolicyChange{Request: asker.by(id, "ann", events.CommandLine), VHost: "/", Change: change, Operators: operators})
		}
		undo(1, 2, true)
		if r := next[*mail.PolicyReply](asker); !errors.As(r.Err, new(*changes.Conflict)) || r.Change != 0 {
			t.Errorf("%+v", r)
		}
		undo(2, 3, false)
		if n := asker.changed(2); n != 4 {
			t.Error(n)
		}
		undo(3, 2, false)
		if r := next[*mail.PolicyReply](asker); !errors.Is(r.Err, changes.ErrOperator) {
			t.Errorf("%+v", r)
		}
		undo(4, 2, true)
		if n := asker.changed(4); n != 5 {
			t.Error(n)
		}
		undo(5, 77, true)
		if r := next[*mail.PolicyReply](asker); !errors.Is(r.Err, changes.ErrUnknown) {
			t.Errorf("%+v", r)
		}
		asker.lists(true)
		if got := asker.history("/"); got != want+"\n4 ann command line undoes 3 p:>3600000\n5 ann command line undoes 2 p:3600000>60000 cap:3600000>" {
			t.Errorf("got\n%s", got)
		}
		b.send(&mail.DescribePolicies{Request: asker.request(6), VHost: "/"})
		if c := next[*mail.PoliciesInfo](asker).History[0]; c.At < began || c.At > time.Now().UnixMilli() {
			t.Errorf("%+v", c)
		}
	})
}

// TestUndoInForce_POL21: an undo is answered when the virtual host has put it in force, and a change that could not be stored is
// not in the history.
func TestUndoInForce_POL21(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker, v := b.probe(), b.probe()
		v.starts("/")
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		v.answer(next[*mail.ApplyPolicies](v))
		asker.changed(1)
		b.send(&mail.UndoPolicyChange{Request: asker.request(2), VHost: "/", Change: 1})
		asker.quiet()
		a := next[*mail.ApplyPolicies](v)
		if a.Set.Lookup(false, "p") != nil {
			t.Error("it is still there")
		}
		v.answer(a)
		asker.changed(2)
		fault := errors.New("disk")
		m.Fail(fault)
		b.send(&mail.UndoPolicyChange{Request: asker.request(3), VHost: "/", Change: 2})
		if r := next[*mail.PolicyReply](asker); !errors.Is(r.Err, fault) || r.Change != 0 {
			t.Errorf("%+v", r)
		}
		m.Fail(nil)
		if got := asker.history("/"); got != "1 p:>60000\n2 undoes 1 p:60000>" {
			t.Errorf("got\n%s", got)
		}
	})
}

// TestHistoryGoes: only the latest changes are stored, and the history of a deleted virtual host is deleted.
func TestHistoryGoes(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker := b.probe()
		for n := range changes.MaxKept + 3 {
			b.send(&mail.SetPolicy{Policy: b.policy("b", "p", fmt.Sprintf(`{"pattern":"","definition":{"expires":%d}}`, n+1), false)})
		}
		asker.lists(false, "b:p")
		if d, err := m.Load(); err != nil || len(d.History) != changes.MaxKept || d.History[0].ID != 4 {
			t.Errorf("%v, %d changes", err, len(d.History))
		}
		b.send(&mail.ForgetVHost{Request: asker.request(1), Name: "b"})
		asker.changed(1)
		if d, err := m.Load(); err != nil || len(d.History) != 0 {
			t.Errorf("%v, %d changes", err, len(d.History))
		}
		b.send(&mail.SetPolicy{Request: asker.request(2), Policy: b.policy("b", "p", minute, false)})
		if n := asker.changed(2); n != 1 {
			t.Error(n)
		}
	})
}
