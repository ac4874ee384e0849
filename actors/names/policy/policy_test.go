package policy

import (
	"testing"
	"testing/synctest"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// bubble is a registry with probes for requesters and vhosts.
type bubble struct {
	*testing.T
	system   *actor.ActorSystem
	registry *actor.PID
}

// resume resumes a registry that panicked, like supervision.
type resume struct{}

func (resume) HandleFailure(_ *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	s.ResumeChildren(child)
}

func inBubble(t *testing.T, test func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, system: actor.NewActorSystem()}
		b.registry = b.spawn(func() actor.Actor { return New(Config{Log: zerolog.Nop()}) })
		test(b)
		b.stop(b.registry)
		b.system.Shutdown()
	})
}

func (b *bubble) spawn(producer actor.Producer) *actor.PID {
	return b.system.Root.Spawn(actor.PropsFromProducer(producer, actor.WithGuardian(resume{})))
}

func (b *bubble) stop(pid *actor.PID) {
	b.Helper()
	if err := b.system.Root.StopFuture(pid).Wait(); err != nil {
		b.Fatal(err)
	}
}

// probe records its mail.
type probe struct {
	*bubble
	pid *actor.PID
	got chan any
}

func (b *bubble) probe() *probe {
	p := &probe{bubble: b, got: make(chan any, 100)}
	p.pid = b.spawn(func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch c.Message().(type) {
			case actor.SystemMessage, actor.AutoReceiveMessage, *actor.Started, *actor.Stopping, *actor.Stopped:
			default:
				p.got <- c.Message()
			}
		})
	})
	return p
}

func (b *bubble) send(what any) { b.system.Root.Send(b.registry, what) }

func (p *probe) request(id uint64) mail.Request { return mail.Request{ReplyTo: p.pid, ID: id} }

// next returns the next mail, which must be a T.
func next[T any](p *probe) T {
	p.Helper()
	synctest.Wait()
	select {
	case m := <-p.got:
		t, ok := m.(T)
		if !ok {
			p.Fatalf("got %T, want %T", m, t)
		}
		return t
	default:
		var t T
		p.Fatalf("got nothing, want %T", t)
		return t
	}
}

// quiet fails the test if the probe has received mail.
func (p *probe) quiet() {
	p.Helper()
	synctest.Wait()
	select {
	case m := <-p.got:
		p.Fatalf("got %T, want nothing", m)
	default:
	}
}

// answer confirms a change on behalf of a vhost.
func (p *probe) answer(a *mail.ApplyPolicies) {
	actorlib.Send(p.system.Root, a.ReplyTo, &mail.ApplyPoliciesReply{Reply: a.Done(nil)})
}

// starts registers the probe as a vhost and takes its first policies.
func (p *probe) starts(name string) {
	p.Helper()
	p.send(&mail.VHostStarted{Name: name, PID: p.pid})
	p.answer(next[*mail.ApplyPolicies](p))
}

func (b *bubble) policy(vhost, name, body string, operator bool) *policies.Policy {
	b.Helper()
	p, err := policies.Parse(vhost, name, operator, []byte(body))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// Bodies of policies.
const (
	minute = `{"pattern":"^o","definition":{"message-ttl":60000}}`
	hour   = `{"pattern":"^o","definition":{"message-ttl":3600000}}`
)

func TestAnswersWhenInForce_POL9(t *testing.T) {
	inBubble(t, func(b *bubble) {
		v, asker := b.probe(), b.probe()
		v.starts("/")
		b.send(&mail.SetPolicy{Request: asker.request(7), Policy: b.policy("/", "p", minute, false)})
		a := next[*mail.ApplyPolicies](v)
		if a.Set.Version != 1 || a.Set.Lookup(false, "p") == nil {
			t.Errorf("the vhost got version %d", a.Set.Version)
		}
		asker.quiet()
		v.answer(a)
		if r := next[*mail.PolicyReply](asker); r.ID != 7 || r.Err != nil || r.Found {
			t.Errorf("created: %+v", r)
		}

		b.send(&mail.SetPolicy{Request: asker.request(8), Policy: b.policy("/", "p", minute, false)})
		v.quiet() // the same again
		if r := next[*mail.PolicyReply](asker); r.ID != 8 || !r.Found {
			t.Errorf("identical: %+v", r)
		}

		b.send(&mail.ClearPolicy{Request: asker.request(9), VHost: "/", Name: "p"})
		a = next[*mail.ApplyPolicies](v)
		asker.quiet()
		v.answer(a)
		if r := next[*mail.PolicyReply](asker); r.ID != 9 || !r.Found {
			t.Errorf("cleared: %+v", r)
		}
		b.send(&mail.ClearPolicy{Request: asker.request(10), VHost: "/", Name: "p"})
		if r := next[*mail.PolicyReply](asker); r.ID != 10 || r.Found {
			t.Errorf("cleared again: %+v", r)
		}
		v.quiet()
	})
}

// The answer to a repeated change waits until the first one is in force.
func TestIdenticalWaitsForChangeUnderWay_POL9(t *testing.T) {
	inBubble(t, func(b *bubble) {
		v, asker := b.probe(), b.probe()
		v.starts("/")
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.request(2), Policy: b.policy("/", "p", minute, false)})
		a := next[*mail.ApplyPolicies](v)
		v.quiet()
		asker.quiet()
		v.answer(a)
		for id := uint64(1); id <= 2; id++ {
			if r := next[*mail.PolicyReply](asker); r.ID != id || r.Found != (id == 2) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// Changes do not wait for each other; the answer to a later one also settles earlier ones, and late answers settle nothing twice.
func TestChangesUnderWayTogether(t *testing.T) {
	inBubble(t, func(b *bubble) {
		v, other, asker := b.probe(), b.probe(), b.probe()
		v.starts("/")
		other.starts("b")
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.request(2), Policy: b.policy("/", "p", hour, false)})
		b.send(&mail.SetPolicy{Request: asker.request(3), Policy: b.policy("b", "p", hour, true)})
		first, second := next[*mail.ApplyPolicies](v), next[*mail.ApplyPolicies](v)
		if first.Set.Version != 1 || second.Set.Version != 2 {
			t.Errorf("versions %d, %d", first.Set.Version, second.Set.Version)
		}
		other.answer(next[*mail.ApplyPolicies](other))
		if r := next[*mail.PolicyReply](asker); r.ID != 3 {
			t.Errorf("vhost b waits for /: %+v", r)
		}
		v.answer(second)
		for id := uint64(1); id <= 2; id++ {
			if r := next[*mail.PolicyReply](asker); r.ID != id {
				t.Errorf("answer %d, want %d", r.ID, id)
			}
		}
		v.answer(first)
		v.answer(second)
		asker.quiet()
	})
}

func TestPoliciesBeforeAndAfterTheVHost(t *testing.T) {
	inBubble(t, func(b *bubble) {
		v, asker := b.probe(), b.probe()
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		next[*mail.PolicyReply](asker) // no vhost has to apply it
		b.send(&mail.VHostStarted{Name: "/", PID: v.pid})
		a := next[*mail.ApplyPolicies](v)
		if a.Set.Lookup(false, "p") == nil {
			t.Error("the vhost was not given what came before it")
		}

		b.send(&mail.SetPolicy{Request: asker.request(2), Policy: b.policy("/", "p", hour, false)})
		next[*mail.ApplyPolicies](v)
		asker.quiet()
		b.stop(v.pid)
		if r := next[*mail.PolicyReply](asker); r.ID != 2 || r.Err != nil {
			t.Errorf("the vhost ended: %+v", r)
		}
		again := b.probe()
		b.send(&mail.VHostStarted{Name: "/", PID: again.pid})
		if a := next[*mail.ApplyPolicies](again); a.Set.Version != 2 {
			t.Errorf("version %d after the restart, want 2", a.Set.Version)
		}
	})
}

// The successor of a vhost may start before the registry is notified of the end of its predecessor.
func TestSuccessorAnswersForPredecessor(t *testing.T) {
	inBubble(t, func(b *bubble) {
		v, again, asker := b.probe(), b.probe(), b.probe()
		v.starts("/")
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("/", "p", minute, false)})
		old := next[*mail.ApplyPolicies](v)
		b.send(&mail.VHostStarted{Name: "/", PID: again.pid})
		a := next[*mail.ApplyPolicies](again)
		v.answer(old)
		b.stop(v.pid)
		asker.quiet()
		again.answer(a)
		if r := next[*mail.PolicyReply](asker); r.ID != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestLists_POL13(t *testing.T) {
	inBubble(t, func(b *bubble) {
		asker := b.probe()
		for _, p := range []*policies.Policy{
			b.policy("/", "high", `{"pattern":"","definition":{"expires":1},"priority":9}`, false),
			b.policy("b", "low", `{"pattern":"","definition":{"expires":1},"priority":-1.5}`, false),
			b.policy("b", "even", `{"pattern":"","definition":{"expires":1}}`, false),
			b.policy("/", "op", `{"pattern":"","definition":{"expires":1}}`, true),
		} {
			b.send(&mail.SetPolicy{Policy: p})
		}
		for _, test := range []struct {
			vhost    string
			operator bool
			want     []string
		}{
			{"", false, []string{"low", "even", "high"}},
			{"b", false, []string{"low", "even"}},
			{"/", true, []string{"op"}},
			{"", true, []string{"op"}},
			{"nowhere", false, nil},
		} {
			b.send(&mail.ListPolicies{Request: asker.request(1), VHost: test.vhost, Operator: test.operator})
			var names []string
			for _, p := range next[*mail.PolicyList](asker).Policies {
				names = append(names, p.Name)
			}
			if len(names) != len(test.want) {
				t.Fatalf("%q operator %t: %v, want %v", test.vhost, test.operator, names, test.want)
			}
			for i := range names {
				if names[i] != test.want[i] {
					t.Errorf("%q operator %t: %v, want %v", test.vhost, test.operator, names, test.want)
				}
			}
		}
	})
}

func TestPanicAnswersTheCommand(t *testing.T) {
	inBubble(t, func(b *bubble) {
		asker := b.probe()
		b.send(&mail.SetPolicy{Policy: b.policy("/", "p", minute, false)})
		b.send(&mail.SetPolicy{Request: asker.request(1)}) // without a policy: causes a panic
		if r := next[*mail.PolicyReply](asker); r.ID != 1 || r.Err == nil {
			t.Errorf("%+v", r)
		}
		b.send(&mail.ListPolicies{Request: asker.request(2)})
		if l := next[*mail.PolicyList](asker); len(l.Policies) != 1 {
			t.Errorf("%d policies after the panic, want 1", len(l.Policies))
		}
	})
}
