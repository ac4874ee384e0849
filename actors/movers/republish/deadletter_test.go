package republish_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

func TestDL15DL17DL20Republished(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout", Internal: true}, "", "", target) // the exchange may be internal (DL-14)
		d := pendingMessage(source, "expired", "dlx", 1, 2)
		expiring(&d.Messages[0], "60")
		d.Messages[0].Priority = 4
		h.send(d)
		e := take[*mail.Enqueue](h, target)
		m := &e.Messages[0]
		if len(e.Messages) != 2 || string(m.Exchange) != "dlx" || string(m.RoutingKey) != "k" || m.TTL != message.NoTTL ||
			m.Priority != 4 || !m.Persistent() || !m.Owned || !m.Overlay.DropExpiration || m.Number == 0 {
			t.Errorf("%+v", m)
		}
		want := message.Death{
			Queue: "source", Reason: "expired", Exchange: "orig", RoutingKeys: []string{"k"}, Count: 1, Time: 1000,
			OriginalExpiration: "60",
		}
		if got := fmt.Sprint(m.Overlay.Deaths); got != fmt.Sprint([]message.Death{want}) {
			t.Errorf("deaths %v", got)
		}
		if e.Messages[1].Overlay.Deaths[0].OriginalExpiration != "" {
			t.Error("the second one had no expiration")
		}
		if v, _ := headerOf(t, m).Get("x-first-death-queue"); v != "source" {
			t.Errorf("x-first-death-queue %v", v)
		}

		d = pendingMessage(source, "rejected", "dlx", 3, 1)
		d.RoutingKey, d.HasKey = "dead", true
		h.send(d)
		e = take[*mail.Enqueue](h, target)
		if m := &e.Messages[0]; string(m.RoutingKey) != "dead" || m.Overlay.Deaths[0].RoutingKeys[0] != "k" {
			t.Errorf("%+v", m)
		}
	})
}

// TestTTL9_CapOfDeadLetterExchange: a capped exchange caps dead letters as it does publishes; an earlier cap is not reported as
// the publisher's own expiration (DL-17).
func TestTTL9_CapOfDeadLetterExchange(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, capped, free := h.queue("source"), h.queue("capped"), h.queue("free")
		inner, dlx := &topology.Exchange{Name: "inner", Type: "fanout"}, &topology.Exchange{Name: "dlx", Type: "fanout"}
		h.exchange(inner, "", "", capped)
		inner.Publish(inner.Routes().WithMaxTTL(70))
		h.exchange(dlx, "", "", free)
		routes, _ := dlx.Routes().With(topology.Binding{Destination: "inner", ToExchange: true}, topology.Target{Exchange: inner})
		dlx.Publish(routes)
		d := pendingMessage(source, "expired", "dlx", 1, 2)
		expiring(&d.Messages[0], "5000")
		d.Messages[0].TTL, d.Messages[1].TTL = 60, 60 // capped before
		h.send(d)
		for p, want := range map[*probe]int64{capped: 70, free: message.NoTTL} {
			e := take[*mail.Enqueue](h, p)
			for i, original := range []string{"5000", ""} {
				if m := &e.Messages[i]; m.TTL != want || m.Overlay.Deaths[0].OriginalExpiration != original {
					t.Errorf("%s, message %d: TTL %d, original %q", p.queue.Name, i, m.TTL, m.Overlay.Deaths[0].OriginalExpiration)
				}
			}
		}
		again := pendingMessage(source, "expired", "inner", 3, 1)
		expiring(&again.Messages[0], "5000")
		again.Messages[0].TTL = 70
		again.Messages[0].Overlay = again.Messages[0].Overlay.Died(message.Death{Queue: "other", Reason: "expired"})
		h.send(again)
		if m := &take[*mail.Enqueue](h, capped).Messages[0]; m.TTL != 70 || m.Overlay.Deaths[0].OriginalExpiration != "" {
			t.Errorf("died before: TTL %d, original %q", m.TTL, m.Overlay.Deaths[0].OriginalExpiration)
		}
	})
}

func TestOneMailPerTargetAndReplyWhenAllHaveAnswered(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, a, b := h.queue("source"), h.queue("a"), h.queue("b")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "k", a, b)
		h.send(pendingMessage(source, "expired", "dlx", 10, 3))
		toA, toB := take[*mail.Enqueue](h, a), take[*mail.Enqueue](h, b)
		h.nothing(a)
		h.nothing(source)
		if len(toA.Messages) != 3 || toA.Messages[0].Number+2 != toA.Messages[2].Number || !mail.Same(toA.From, h.pid) {
			t.Errorf("%+v", toA)
		}
		h.answer(toA, false)
		h.nothing(source)
		first := toB.Messages[0].Number
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: first + 1, Last: first + 2}}})
		h.settled(source, mail.Range{First: 11, Last: 12})
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: first, Last: first}}, Refused: true})
		h.settled(source, mail.Range{First: 10, Last: 10})
		h.answer(toB, false) // again: nothing is settled twice
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: 1, Last: 100}}})
		h.nothing(source)
		s := h.stats.ByReason("expired")
		if s.Routed.Load() != 3 || s.Confirmed.Load() != 2 || s.Refused.Load() != 1 {
			t.Errorf("routed %d, confirmed %d, refused %d", s.Routed.Load(), s.Confirmed.Load(), s.Refused.Load())
		}
	})
}

// A range answered to an earlier incarnation may overlap the first numbers of this one; it settles nothing.
func TestAnswersToAnEarlierIncarnationSettleNothing(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target)
		h.send(pendingMessage(source, "expired", "dlx", 10, 2))
		first := take[*mail.Enqueue](h, target).Messages[0].Number
		for _, old := range []mail.Range{{First: first - 2, Last: first - 2}, {First: first - 1, Last: first + 1}} {
			h.send(&mail.EnqueueReply{Ranges: []mail.Range{old}})
			h.nothing(source)
		}
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: first, Last: first + 1}}})
		h.settled(source, mail.Range{First: 10, Last: 11})
	})
}

func TestDL20MessagesThatDiedAlikeShareTheirHistory(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target)
		d := pendingMessage(source, "expired", "dlx", 1, 6)
		d.Messages[2].RoutingKey = []byte("l")
		d.Messages[3].Exchange = []byte("other")
		expiring(&d.Messages[4], "5")
		d.Messages[5].Overlay = d.Messages[5].Overlay.Died(message.Death{Queue: "z", Reason: "rejected"})
		h.send(d)
		seen := map[*message.Overlay]bool{}
		e := take[*mail.Enqueue](h, target)
		for i := range e.Messages {
			o := e.Messages[i].Overlay
			if seen[o] != (i == 1) {
				t.Errorf("message %d: shared %v", i, seen[o])
			}
			seen[o] = true
			if got := o.Deaths[0]; i == 2 && got.RoutingKeys[0] != "l" || i == 3 && got.Exchange != "other" ||
				i == 4 && got.OriginalExpiration != "5" || i == 5 && len(o.Deaths) != 2 {
				t.Errorf("message %d: %+v", i, o)
			}
		}
	})
}

func TestDL13Dropped(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, ae := h.queue("source"), h.queue("ae")
		h.send(pendingMessage(source, "maxlen", "dlx", 1, 3))
		h.settled(source, mail.Range{First: 1, Last: 3})
		h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "k")
		h.send(pendingMessage(source, "maxlen", "dlx", 4, 2))
		h.settled(source, mail.Range{First: 4, Last: 5})
		s := h.stats.ByReason("maxlen")
		if s.NoExchange.Load() != 3 || s.Unroutable.Load() != 2 || s.Routed.Load() != 0 {
			t.Error("miscounted")
		}
		h.exchange(&topology.Exchange{Name: "alt", Type: "fanout"}, "", "", ae)
		h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "alt", "k")
		h.send(pendingMessage(source, "maxlen", "dlx", 6, 1))
		if m := take[*mail.Enqueue](h, ae).Messages[0]; string(m.Exchange) != "dlx" {
			t.Errorf("%+v", m)
		}
	})
}

func TestDL1DefaultExchange(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("k")
		h.send(pendingMessage(source, "rejected", "", 1, 1))
		if m := take[*mail.Enqueue](h, target).Messages[0]; string(m.Exchange) != "" || string(m.RoutingKey) != "k" {
			t.Errorf("%+v", m)
		}
	})
}

func TestDL25DL26Cycles(t *testing.T) {
	hop := func(queue, reason string) message.Death { return message.Death{Queue: queue, Reason: reason} }
	table := []struct {
		name    string
		before  []message.Death // oldest first
		queue   string          // the queue that dead-letters it now
		reason  string
		target  string
		dropped bool
	}{
		{"self by expiry", nil, "a", "expired", "a", true},
		{"self by maxlen", nil, "a", "maxlen", "a", true},
		{"self by rejection", nil, "a", "rejected", "a", false},
		{"a b a expired", []message.Death{hop("a", "expired")}, "b", "expired", "a", true},
		{"retry pattern", []message.Death{hop("a", "rejected")}, "b", "expired", "a", false},
		{"rejected in a, b c b by expiry", []message.Death{hop("a", "rejected"), hop("b", "expired")}, "c", "expired", "b", true},
		{"rejected in a, later expired in a", []message.Death{hop("a", "rejected")}, "a", "expired", "a", true},
		{"another queue", []message.Death{hop("a", "expired")}, "b", "expired", "c", false},
	}
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			withFixture(t, func(h *fixture) {
				source, target, other := h.queue(row.queue), (*probe)(nil), h.queue("other")
				if target = source; row.target != row.queue {
					target = h.queue(row.target)
				}
				h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target, other)
				d := pendingMessage(source, row.reason, "dlx", 1, 1)
				for _, death := range row.before {
					d.Messages[0].Overlay = d.Messages[0].Overlay.Died(death)
				}
				h.send(d)
				if !row.dropped {
					take[*mail.Enqueue](h, target)
				}
				h.nothing(target)
				h.answer(take[*mail.Enqueue](h, other), false) // dropped for that target only
				if cycles := h.stats.ByReason(row.reason).Cycles.Load(); (cycles == 1) != row.dropped {
					t.Errorf("%d cycles", cycles)
				}
			})
		})
	}
}

func TestDL27OneWarningPerCycle(t *testing.T) {
	withFixture(t, func(h *fixture) {
		a, b := h.queue("a"), h.queue("b")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", a)
		h.send(pendingMessage(a, "expired", "dlx", 1, 100), pendingMessage(a, "expired", "dlx", 101, 1))
		h.settled(a, mail.Range{First: 1, Last: 100})
		h.settled(a, mail.Range{First: 101, Last: 101})
		if n := strings.Count(h.log.String(), `"level":"warn"`); n != 1 {
			t.Errorf("%d warnings: %s", n, h.log.String())
		}
		d := pendingMessage(b, "expired", "dlx", 1, 1)
		d.Messages[0].Overlay = d.Messages[0].Overlay.Died(message.Death{Queue: "a", Reason: "expired"})
		h.send(d)
		if !strings.Contains(h.log.String(), `"queues":["a","b","a"]`) {
			t.Error(h.log.String())
		}
		h.send(pendingMessage(a, "expired", "dlx", 102, 1)) // the first cycle is still known
		if n := strings.Count(h.log.String(), `"level":"warn"`); n != 2 {
			t.Errorf("%d warnings: %s", n, h.log.String())
		}
	})
}

func TestOrderAcrossTurns(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, other, target := h.queue("source"), h.queue("other"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target)
		const n = 3000 // several turns
		h.send(pendingMessage(source, "expired", "dlx", 1, n), pendingMessage(other, "rejected", "dlx", 1, n), pendingMessage(source, "maxlen", "dlx", n+1, n))
		next := map[string]uint64{"source": 1, "other": 1}
		number := uint64(0)
		target.mu.Lock()
		mails := target.mails
		target.mu.Unlock()
		for i, m := range mails {
			if e := m.(*mail.Enqueue); i == 0 && cap(e.Messages) != len(e.Messages) {
				t.Errorf("the target may write behind its messages, where %d of the next turn are", cap(e.Messages)-len(e.Messages))
			}
			for _, m := range m.(*mail.Enqueue).Messages {
				from := m.Overlay.Deaths[0].Queue
				if m.Body[0] != byte(next[from]) || number != 0 && m.Number != number+1 {
					t.Fatalf("%s: %d instead of %d, number %d after %d", from, m.Body[0], byte(next[from]), m.Number, number)
				}
				next[from]++
				number = m.Number
			}
		}
		if next["source"] != 2*n+1 || next["other"] != n+1 {
			t.Errorf("next %v", next)
		}
		for _, m := range mails {
			h.answer(m.(*mail.Enqueue), false)
		}
		settled := uint64(0)
		for source.waiting() > 0 {
			for _, r := range take[*mail.DeadLetterReply](h, source).IDs {
				settled += r.Last - r.First + 1
			}
		}
		if settled != 2*n {
			t.Errorf("%d settled", settled)
		}
	})
}

func TestTargetThatEndsSettles(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, a, b := h.queue("source"), h.queue("a"), h.queue("b")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", a, b)
		h.send(pendingMessage(source, "expired", "dlx", 1, 2))
		take[*mail.Enqueue](h, a)
		h.answer(take[*mail.Enqueue](h, b), false)
		h.nothing(source)
		_ = h.root.StopFuture(actorlib.PID(a.queue.PID)).Wait()
		synctest.Wait()
		h.settled(source, mail.Range{First: 1, Last: 1})
		h.settled(source, mail.Range{First: 2, Last: 2})
		if n := h.stats.ByReason("expired").LostTargets.Load(); n != 2 {
			t.Errorf("%d lost", n)
		}
		h.send(pendingMessage(source, "expired", "dlx", 3, 1)) // an older snapshot still names it
		h.answer(take[*mail.Enqueue](h, b), false)
		h.settled(source, mail.Range{First: 3, Last: 3})
	})
}

func TestHeadersExchangeSeesTheDeath(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		r, _ := topology.NewRoutes("headers", nil)
		r, _ = r.With(topology.Binding{Destination: "target", Arguments: protocol.Table{
			{Key: "x-match", Value: "all-with-x"},
			{Key: "x-last-death-queue", Value: "source"},
			{Key: "mine", Value: int32(1)},
		}}, topology.Target{Queue: target.queue})
		x := &topology.Exchange{Name: "dlx", Type: "headers"}
		x.Publish(r)
		h.vhost.Publish(h.vhost.Directory().WithExchange(x))
		d := pendingMessage(source, "expired", "dlx", 1, 1)
		var p protocol.Properties
		p.Flags, p.Headers = protocol.FlagHeaders, protocol.Table{{Key: "mine", Value: int32(1)}}
		d.Messages[0].Header = p.Append(nil)
		h.send(d)
		take[*mail.Enqueue](h, target)
	})
}

func TestQueueExpiredIsCounted(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.QueueExpired{Queue: "q", Discarded: 5})
		if h.stats.QueuesExpired.Load() != 1 || h.stats.Discarded.Load() != 5 || !strings.Contains(h.log.String(), `"queue":"q"`) {
			t.Error(h.log.String())
		}
	})
}

// TestManyExpire: queues that expire while the actor is busy are logged in one line.
func TestManyExpire(t *testing.T) {
	withFixture(t, func(h *fixture) {
		for i := range 40 {
			h.root.Send(h.pid, &mail.QueueExpired{Queue: fmt.Sprint("q", i), Discarded: 2})
		}
		synctest.Wait()
		queues, discarded := 0, 0
		for line := range strings.Lines(h.log.String()) {
			var said struct {
				Queue     string   `json:"queue"`
				Queues    int      `json:"queues"`
				First     []string `json:"first"`
				Discarded int      `json:"discarded_messages"`
			}
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				t.Fatal(err)
			}
			if said.Queue != "" {
				said.Queues, said.First = 1, []string{said.Queue}
			}
			if said.First[0] != fmt.Sprint("q", queues) || len(said.First) != min(said.Queues, 16) {
				t.Error(line)
			}
			queues, discarded = queues+said.Queues, discarded+said.Discarded
		}
		if lines := strings.Count(h.log.String(), "\n"); queues != 40 || discarded != 80 || lines == 40 {
			t.Error(h.log.String())
		}
	})
}

func TestPoisonCostsOneMessage(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		x := &topology.Exchange{Name: "dlx", Type: "direct"}
		h.exchange(x, "", "k", target)
		r, _ := x.Routes().With(topology.Binding{Destination: "nobody", RoutingKey: "poison"}, topology.Target{}) // a target without a queue
		x.Publish(r)
		d := pendingMessage(source, "expired", "dlx", 1, 3)
		d.Messages[1].RoutingKey = []byte("poison")
		h.send(d)
		e := take[*mail.Enqueue](h, target)
		if len(e.Messages) != 2 {
			t.Fatalf("%+v", e)
		}
		h.settled(source, mail.Range{First: 2, Last: 2})
		h.answer(e, false)
		h.settled(source, mail.Range{First: 1, Last: 1}, mail.Range{First: 3, Last: 3})
		if n := h.stats.ByReason("expired").Failed.Load(); n != 1 || !strings.Contains(h.log.String(), `"queue":"source"`) {
			t.Errorf("%d failed: %s", n, h.log.String())
		}
	})
}

func TestRestartInformsTheSources(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, other, target := h.queue("source"), h.queue("other"), h.queue("k")
		h.send(pendingMessage(source, "expired", "", 1, 3))
		old := take[*mail.Enqueue](h, target)
		h.send((*mail.QueueExpired)(nil)) // causes a panic
		if r := take[*mail.DeadLetterReply](h, source); !r.Lost || r.Incarnation != 3 {
			t.Errorf("%+v", r)
		}
		h.nothing(other)
		h.send(pendingMessage(source, "expired", "", 1, 3))
		again := take[*mail.Enqueue](h, target)
		h.answer(old, false) // settles nothing of the new incarnation
		h.nothing(source)
		h.answer(again, false)
		h.settled(source, mail.Range{First: 1, Last: 3})
	})
}

// An expiration of 0 is reported as the publisher's own, like any other.
func TestDL17_ZeroIsAnExpiration(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		d := pendingMessage(source, "expired", "", 1, 1)
		d.RoutingKey, d.HasKey = "target", true
		expiring(&d.Messages[0], "0")
		h.send(d)
		if m := &take[*mail.Enqueue](h, target).Messages[0]; m.Overlay.Deaths[0].OriginalExpiration != "0" {
			t.Errorf("%+v", m.Overlay.Deaths)
		}
	})
}
