package policy

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/definitions"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// inStore is inBubble with a registry that stores.
func inStore(t *testing.T, test func(b *bubble, m *definitions.Memory)) {
	synctest.Test(t, func(t *testing.T) {
		m := definitions.NewMemory()
		if _, err := definitions.Wait(m, definitions.Change{Put: []any{auth.VHost{Name: "/"}, auth.VHost{Name: "b"}}}); err != nil {
			t.Fatal(err)
		}
		b := &bubble{T: t, system: actor.NewActorSystem()}
		b.begin(m)
		test(b, m)
		b.stop(b.registry)
		b.system.Shutdown()
		_ = m.Close()
	})
}

// begin starts a registry as after a restart of the process.
func (b *bubble) begin(m *definitions.Memory) {
	b.Helper()
	d, err := m.Load()
	if err != nil {
		b.Fatal(err)
	}
	b.registry = b.spawn(func() actor.Actor {
		return New(Config{
			Meta: m, Stored: d.Policies, History: d.History, Now: func() int64 { return time.Now().UnixMilli() }, Log: zerolog.Nop(),
		})
	})
}

// list returns the names of the policies of all vhosts.
func (p *probe) list(operator bool) (names []string) {
	p.Helper()
	p.send(&mail.ListPolicies{Request: p.request(99), Operator: operator})
	for _, policy := range next[*mail.PolicyList](p).Policies {
		names = append(names, policy.VHost+":"+policy.Name)
	}
	return names
}

func (p *probe) lists(operator bool, want ...string) {
	p.Helper()
	got := p.list(operator)
	if len(got) != len(want) {
		p.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			p.Errorf("got %v, want %v", got, want)
		}
	}
}

// Policies and operator policies survive a restart, with changes and deletions.
func TestPoliciesSurvive(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker := b.probe()
		for _, s := range []struct {
			vhost, name, body string
			operator          bool
		}{{"/", "same", minute, false}, {"/", "same", minute, true}, {"b", "q", minute, false}, {"/", "gone", minute, false}, {"b", "q", hour, false}} {
			b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy(s.vhost, s.name, s.body, s.operator)})
			if r := next[*mail.PolicyReply](asker); r.Err != nil || r.Revision != m.Revision() {
				t.Errorf("%+v, revision %d", r, m.Revision())
			}
		}
		b.send(&mail.ClearPolicy{Request: asker.request(2), VHost: "/", Name: "gone"})
		if r := next[*mail.PolicyReply](asker); r.Err != nil || !r.Found || r.Revision != 7 {
			t.Errorf("%+v", r)
		}
		b.stop(b.registry)
		b.begin(m.Reopen())
		asker.lists(false, "/:same", "b:q")
		asker.lists(true, "/:same")
		v := b.probe()
		b.send(&mail.VHostStarted{Name: "b", PID: v.pid})
		if a := next[*mail.ApplyPolicies](v); !a.Set.Lookup(false, "q").Equal(b.policy("b", "q", hour, false)) {
			t.Errorf("the vhost got %+v", a.Set)
		}
	})
}

// A policy takes effect, and is answered, when it is stored; commands behind it wait for the store.
func TestStoredThenInForce(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker, v := b.probe(), b.probe()
		v.starts("/")
		release := m.Hold()
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.ListPolicies{Request: asker.request(2)})
		b.send(&mail.SetPolicy{Request: asker.request(3), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.ClearPolicy{Request: asker.request(4), VHost: "/", Name: "p"})
		b.send(&mail.ListPolicies{Request: asker.request(5)})
		v.quiet()
		asker.quiet()
		release()
		if l := next[*mail.PolicyList](asker); l.ID != 2 || len(l.Policies) != 1 {
			t.Errorf("%+v", l)
		}
		if l := next[*mail.PolicyList](asker); l.ID != 5 || len(l.Policies) != 0 {
			t.Errorf("%+v", l)
		}
		v.answer(next[*mail.ApplyPolicies](v))
		v.answer(next[*mail.ApplyPolicies](v))
		for i, found := range []bool{false, true, true} {
			if r := next[*mail.PolicyReply](asker); r.ID != []uint64{1, 3, 4}[i] || r.Found != found || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
	})
}

// A change that cannot be stored has no effect, and the requester gets an error.
func TestNotStored(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker, v := b.probe(), b.probe()
		v.starts("/")
		b.send(&mail.SetPolicy{Policy: b.policy("/", "p", minute, false)})
		v.answer(next[*mail.ApplyPolicies](v))
		fault := errors.New("disk")
		m.Fail(fault)
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", hour, false)})
		b.send(&mail.ClearPolicy{Request: asker.request(2), VHost: "/", Name: "p"})
		for id := uint64(1); id <= 2; id++ {
			if r := next[*mail.PolicyReply](asker); r.ID != id || !errors.Is(r.Err, fault) {
				t.Errorf("%+v", r)
			}
		}
		// A command that changes nothing need not be stored.
		b.send(&mail.SetPolicy{Request: asker.request(3), Policy: b.policy("/", "p", minute, false)})
		if r := next[*mail.PolicyReply](asker); r.Err != nil || !r.Found || r.Revision != 0 {
			t.Errorf("%+v", r)
		}
		v.quiet()
		m.Fail(nil)
		b.send(&mail.SetPolicy{Request: asker.request(4), Policy: b.policy("nowhere", "p", minute, false)})
		if r := next[*mail.PolicyReply](asker); !errors.Is(r.Err, definitions.ErrNoVHost) {
			t.Errorf("%+v", r)
		}
		asker.lists(false, "/:p")
	})
}

// The policies of a deleted vhost do not return, including policies under way when it was deleted.
func TestForgottenForGood(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker := b.probe()
		b.send(&mail.SetPolicy{Policy: b.policy("b", "before", minute, true)})
		asker.lists(true, "b:before")
		release := m.Hold()
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("b", "late", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.request(2), Policy: b.policy("/", "stays", minute, false)})
		b.send(&mail.ForgetVHost{Request: asker.request(3), Name: "b"})
		asker.quiet()
		release()
		for id := uint64(1); id <= 3; id++ {
			if r := next[*mail.PolicyReply](asker); r.ID != id || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		asker.lists(false, "/:stays")
		asker.lists(true)
		b.stop(b.registry)
		b.begin(m.Reopen())
		asker.lists(false, "/:stays")
		asker.lists(true)
	})
}

// Commands that panic are answered in order, and commands behind them take effect.
func TestPanicInLine(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker := b.probe()
		release := m.Hold()
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.request(2)}) // without a policy: causes a panic
		b.send(&mail.SetPolicy{Request: asker.request(3)})
		b.send(&mail.ListPolicies{Request: asker.request(4)})
		asker.quiet()
		release()
		if r := next[*mail.PolicyReply](asker); r.ID != 1 || r.Err != nil {
			t.Errorf("%+v", r)
		}
		for id := uint64(2); id <= 3; id++ {
			if r := next[*mail.PolicyReply](asker); r.ID != id || r.Err == nil {
				t.Errorf("%+v", r)
			}
		}
		if l := next[*mail.PolicyList](asker); l.ID != 4 || len(l.Policies) != 1 {
			t.Errorf("%+v", l)
		}
	})
}
