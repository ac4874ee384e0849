package vhost_test

import (
	"regexp"
	"testing"
	"testing/synctest"

	"candlemark/actors/names/vhost"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

const lockedText = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared " +
	"on another connection or the exclusive property value does not match that of the original declaration."

func TestDeclareMakesPublishesAndForwards(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "a\r\nb", Durable: true, VHost: "/"})
		q := h.queue("ab")
		d := take[*mail.DeclareQueue](h, q)
		if d.Name != "ab" || d.ID != h.asked || !mail.Same(d.ReplyTo, h.asker.pid) {
			t.Errorf("forwarded %+v", d)
		}
		p := h.published("ab")
		if p == nil || !p.Durable || p.Type != "classic" || p.PID.GetId() != "vhost/%2f/queue/ab/"+incarnation(p.Incarnation) {
			t.Fatalf("published %+v", p)
		}
		if v, _ := p.Arguments.Get("x-queue-type"); v != "classic" { // DEC-12
			t.Errorf("arguments %v", p.Arguments)
		}
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "ab", Passive: true, VHost: "/"})
		take[*mail.DeclareQueue](h, q)
		h.nothing(h.asker) // only the queue answers
	})
}

func TestDeclareRefused(t *testing.T) {
	table := []struct {
		name string
		m    mail.DeclareQueue
		code uint16
		text string
	}{
		{"DEC-6 passive", mail.DeclareQueue{Name: "q", Passive: true}, 404, "NOT_FOUND - no queue 'q' in vhost '/'"},
		{"DEC-6 passive without name", mail.DeclareQueue{Passive: true}, 404, "NOT_FOUND - no queue '' in vhost '/'"},
		{
			"DEC-8",
			mail.DeclareQueue{Name: "amq.foo"},
			403,
			"ACCESS_REFUSED - queue name 'amq.foo' contains reserved prefix 'amq.*'",
		},
		{
			"TTL-3",
			mail.DeclareQueue{Name: "q", Arguments: protocol.Table{{Key: "x-message-ttl", Value: int32(-1)}}},
			406,
			"PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'q' in vhost '/': {value_negative,-1}",
		},
	}
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			withFixture(t, func(h *fixture) {
				m := row.m
				m.Request, m.VHost = h.ask(), "/"
				h.send(&m)
				h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, row.code, row.text)
				if h.vhost.Directory().QueueCount() != 0 {
					t.Error("a refused queue was published")
				}
			})
		})
	}
}

func TestDEC9ServerName(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.DeclareQueue{Request: h.ask(), VHost: "/"}, &mail.DeclareQueue{Request: h.ask(), VHost: "/"})
		shape := regexp.MustCompile(`^amq\.gen-[A-Za-z0-9_-]{22}$`)
		count := 0
		for q := range h.vhost.Directory().Queues() {
			count++
			if !shape.MatchString(q.Name) {
				t.Errorf("name %q", q.Name)
			}
			if d := take[*mail.DeclareQueue](h, h.queue(q.Name)); d.Name != q.Name {
				t.Errorf("forwarded with name %q", d.Name)
			}
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: q.Name, VHost: "/"}) // DEC-8: redeclaring it is no error
			take[*mail.DeclareQueue](h, h.queue(q.Name))
		}
		if count != 2 {
			t.Errorf("%d queues", count)
		}
	})
}

func TestDEC6DeleteOfNoQueue(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"})
		if r := take[*mail.DeleteQueueReply](h, h.asker); r.Err != nil || r.MessageCount != 0 || r.ID != h.asked {
			t.Errorf("reply %+v", r)
		}
	})
}

func TestDeleteParksWhatComesBehindIt(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		first := h.published("q")
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"},
			&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"},
			&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: to("q")},
			&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"})
		take[*mail.DeleteQueue](h, q)
		h.nothing(q)
		h.retire("q", 2, true)
		take[*mail.QueueForgotten](h, q)
		h.nothing(q)

		next := h.queue("q")
		if p := h.published("q"); next == q || p == nil || p.Incarnation <= first.Incarnation || p.PID.GetId() == first.PID.GetId() {
			t.Fatalf("published %+v", p)
		}
		take[*mail.DeclareQueue](h, next)
		take[*mail.DeleteQueue](h, next)
		if b := take[*mail.AddBinding](h, h.exchange("amq.direct")); b.Target.Queue != h.published("q") {
			t.Error("bound to the wrong incarnation")
		}
	})
}

func TestDeleteRefusedUnparks(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", IfUnused: true, VHost: "/"},
			&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"})
		take[*mail.DeleteQueue](h, q)
		h.send(&mail.QueueDeleteRefused{Name: "q", Incarnation: h.published("q").Incarnation + 7})
		h.nothing(q)
		h.send(&mail.QueueDeleteRefused{Name: "q", Incarnation: h.published("q").Incarnation})
		take[*mail.DeclareQueue](h, q)
	})
}

func TestFarewellAgainstRedeclare(t *testing.T) { // PRO-3
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"})
		take[*mail.DeclareQueue](h, q)
		h.retire("q", 1, false)
		take[*mail.QueueKept](h, q)
		if h.published("q") == nil {
			t.Error("a kept queue was unpublished")
		}
		h.retire("q", 2, false)
		take[*mail.QueueForgotten](h, q)
		if h.published("q") != nil {
			t.Error("a forgotten queue is still published")
		}
		h.retire("q", 2, false) // repeated: it is forgotten again, in any case
		take[*mail.QueueForgotten](h, q)
	})
}

func TestFarewellWaitsForBindings(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		x := h.declareExchange("x", false)
		h.bind("x", "q", false)
		h.hold(x, nil)
		h.bind("amq.direct", "q", false)
		h.retire("q", 1, false)
		if h.published("q") != nil {
			t.Error("the name is unpublished first")
		}
		h.nothing(q)
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"})
		f := take[*mail.ForgetDestination](h, x)
		if f.Name != "q" || f.ToExchange {
			t.Errorf("%+v", f)
		}
		take[*mail.ForgetDestination](h, h.exchange("amq.direct"))
		h.nothing(h.exchange("amq.fanout"))
		h.send(&mail.ForgetDestinationReply{Reply: f.Done(nil)})
		take[*mail.QueueForgotten](h, q)
		take[*mail.DeclareQueue](h, h.queue("q"))
		if h.queue("q") == q {
			t.Error("the old queue got the declare")
		}
	})
}

func TestLEASE8AutoDeleteExchangeGoesWithItsLastQueue(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		x := h.declareExchange("x", true)
		h.declareExchange("y", false)
		h.bind("y", "x", true)
		h.bind("x", "q", false)
		var retire *mail.RetireExchange
		h.hold(x, func(ctx actor.Context, m any) {
			if f, ok := m.(*mail.ForgetDestination); ok {
				actorlib.Send(ctx, f.ReplyTo, &mail.ForgetDestinationReply{Reply: f.Done(nil), Unused: true})
			}
		})
		h.retire("q", 1, true)
		take[*mail.ForgetDestination](h, x)
		retire = take[*mail.RetireExchange](h, x)
		if !retire.IfUnused {
			t.Error("a Bind that came between must keep it")
		}
		h.nothing(q) // delete-ok is sent when the exchange is deleted, too
		h.send(&mail.RetireExchangeReply{Reply: retire.Done(nil)})
		if f := take[*mail.ForgetDestination](h, h.exchange("y")); f.Name != "x" || !f.ToExchange {
			t.Errorf("%+v", f)
		}
		take[*mail.QueueForgotten](h, q)
		if h.publishedExchange("x") != nil || h.publishedExchange("y") == nil {
			t.Error("wrong exchanges left")
		}
	})
}

func TestQueueThatDiesIsForgotten(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		h.bind("amq.direct", "q", false)
		h.system.Root.Stop(actorlib.PID(h.published("q").PID))
		synctest.Wait()
		if h.published("q") != nil {
			t.Error("still published")
		}
		take[*mail.ForgetDestination](h, h.exchange("amq.direct"))
		h.nothing(q)
		h.declare("q")
	})
}

func TestDEC5ExclusiveQueueIsLocked(t *testing.T) {
	withFixture(t, func(h *fixture) {
		owner, other := h.spawn("owner"), h.spawn("other")
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", Exclusive: true, Durable: true, Connection: owner.pid, VHost: "/"})
		q := h.queue("q")
		take[*mail.DeclareQueue](h, q)
		if p := h.published("q"); p.Durable || !p.Exclusive || p.Owner != owner.pid {
			t.Errorf("published %+v", p)
		}
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", Connection: other.pid, VHost: "/"})
		h.wantError(take[*mail.DeleteQueueReply](h, h.asker).Err, 405, lockedText)
		h.send(&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: to("q"), Connection: other.pid})
		h.wantTopology(405, lockedText)
		h.send(&mail.Unbind{Request: h.ask(), Source: "amq.direct", Binding: to("q"), Connection: other.pid})
		h.wantTopology(405, lockedText)
		h.send(&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: to("q"), Connection: owner.pid})
		take[*mail.AddBinding](h, h.exchange("amq.direct"))
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", Connection: owner.pid, VHost: "/"})
		take[*mail.DeleteQueue](h, q)
		_ = h.system.Root.StopFuture(other.pid).Wait()
		_ = h.system.Root.StopFuture(owner.pid).Wait()
	})
}

func TestReleaseConnectionDeletesItsExclusiveQueues(t *testing.T) {
	withFixture(t, func(h *fixture) {
		owner := h.spawn("owner")
		for _, name := range []string{"a", "b", "c"} {
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: name, Exclusive: true, Connection: owner.pid, VHost: "/"})
			take[*mail.DeclareQueue](h, h.queue(name))
		}
		h.declare("d")
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "a", IfEmpty: true, Connection: owner.pid, VHost: "/"})
		take[*mail.DeleteQueue](h, h.queue("a"))
		h.send(&mail.ReleaseConnection{Request: h.ask(), Connection: owner.pid})
		h.nothing(h.queue("a"))
		h.send(&mail.QueueDeleteRefused{Name: "a", Incarnation: h.published("a").Incarnation})
		for i, name := range []string{"a", "b", "c"} {
			h.nothing(h.asker)
			if d := take[*mail.DeleteQueue](h, h.queue(name)); d.IfEmpty || d.ReplyTo != nil {
				t.Errorf("%+v", d)
			}
			h.retire(name, uint64(3-min(i, 1)), true)
		}
		take[*mail.ReleaseConnectionReply](h, h.asker)
		if h.vhost.Directory().QueueCount() != 1 {
			t.Error("wrong queues left")
		}
		h.send(&mail.ReleaseConnection{Request: h.ask(), Connection: owner.pid})
		take[*mail.ReleaseConnectionReply](h, h.asker)
		_ = h.system.Root.StopFuture(owner.pid).Wait()
	})
}

func TestDeadConnectionReleasesItsExclusiveQueues(t *testing.T) {
	withFixture(t, func(h *fixture) {
		owner := h.spawn("owner")
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "a", Exclusive: true, Connection: owner.pid, VHost: "/"})
		take[*mail.DeclareQueue](h, h.queue("a"))
		_ = h.system.Root.StopFuture(owner.pid).Wait()
		synctest.Wait()
		take[*mail.DeleteQueue](h, h.queue("a"))
		h.retire("a", 2, true)
		// A declare was under way when its connection ended.
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "b", Exclusive: true, Connection: owner.pid, VHost: "/"})
		take[*mail.DeclareQueue](h, h.queue("b"))
		take[*mail.DeleteQueue](h, h.queue("b"))
	})
}

func TestPanicCostsOneCommand(t *testing.T) {
	broken := false
	withConfiguredFixture(t, func(cfg *vhost.Config) {
		cfg.MaxQueues = func() (int64, bool) {
			if broken {
				broken = false
				panic("no such queue today")
			}
			return 0, false
		}
	}, func(h *fixture) {
		h.declare("q")
		broken = true
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "bad", VHost: "/"})
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, 541, "INTERNAL_ERROR - queue 'bad' in vhost '/' failed")
		h.declare("q2")
		if h.published("q") == nil || h.published("bad") != nil {
			t.Error("the vhost lost its state")
		}
	})
}

// A queue that cannot be started counts as ended: its declarer gets an error, its name is free, and later requests are carried
// out.
func TestQueueThatCannotBeStarted(t *testing.T) {
	broken := 2 // two attempts are made
	var h *fixture
	change := func(cfg *vhost.Config) {
		make := cfg.NewQueue
		cfg.NewQueue = func(spec vhost.QueueSpec) *actor.Props {
			props := make(spec)
			if spec.Queue.Name != "bad" {
				return props
			}
			return actor.PropsFromProducer(func() actor.Actor {
				if broken--; broken >= 0 {
					panic("it does not start")
				}
				return h.queue("bad")
			})
		}
	}
	withConfiguredFixture(t, change, func(made *fixture) {
		h = made
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "bad", VHost: "/"})
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, 541, "INTERNAL_ERROR - queue 'bad' in vhost '/' failed")
		if h.published("bad") != nil {
			t.Error("it is published")
		}
		h.declare("good")
		h.declare("bad")
		broken = 1 // the second attempt succeeds: the declarer gets an error, but the queue exists
		h.send(&mail.DeleteQueue{Name: "bad", VHost: "/"})
		h.retire("bad", 9, true)
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "bad", VHost: "/"})
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, 541, "INTERNAL_ERROR - queue 'bad' in vhost '/' failed")
		take[*mail.DeclareQueue](h, h.queue("bad"))
		if q := h.published("bad"); q == nil || !mail.Same(q.PID, h.specs["bad"].Queue.PID) {
			t.Errorf("published %+v", q)
		}
	})
}
