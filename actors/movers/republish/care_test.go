package republish_test

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// outcome takes the next answer to a source: the finished ids, and the ids that the source retains, with the number of
// targets that have each.
func (h *fixture) outcome(source *probe) string {
	h.t.Helper()
	r := take[*mail.DeadLetterReply](h, source)
	text := fmt.Sprint(r.IDs)
	for _, k := range r.Retained {
		text += fmt.Sprintf(" %d:%d", k.ID, len(k.Taken))
	}
	return text
}

func caring(care mail.Guarantee, d *mail.DeadLetter) *mail.DeadLetter {
	d.Guarantee = care
	return d
}

// Messages that cannot be enqueued are dropped or retained, depending on the guarantee of the source.
func TestDL30Care(t *testing.T) {
	const dropped, kept = "[{1 2}]", "[] 1:0 2:0"
	for _, c := range []struct {
		care                          mail.Guarantee
		noExchange, noTarget, refused string
	}{
		{mail.Drop, dropped, dropped, dropped},
		{mail.RetryRefused, dropped, dropped, kept},
		{mail.AtLeastOnce, kept, kept, kept},
	} {
		withFixture(t, func(h *fixture) {
			source, target := h.queue("source"), h.queue("target")
			h.send(caring(c.care, pendingMessage(source, "expired", "dlx", 1, 2)))
			if got := h.outcome(source); got != c.noExchange {
				t.Errorf("care %d, no exchange: %s", c.care, got)
			}
			if n := h.stats.ByReason("expired").AtMostOnce.Load(); n != 0 {
				t.Errorf("care %d: %d dead-lettered without an exchange", c.care, n)
			}
			h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "other", target)
			h.send(caring(c.care, pendingMessage(source, "expired", "dlx", 1, 2)))
			if got := h.outcome(source); got != c.noTarget {
				t.Errorf("care %d, no target: %s", c.care, got)
			}
			h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "k", target)
			h.send(caring(c.care, pendingMessage(source, "expired", "dlx", 1, 2)))
			h.answer(take[*mail.Enqueue](h, target), true)
			if got := h.outcome(source); got != c.refused {
				t.Errorf("care %d, refused: %s", c.care, got)
			}
			s := h.stats.ByReason("expired")
			drops := s.NoExchange.Load() + s.Unroutable.Load() + s.Refused.Load()
			if want := map[mail.Guarantee]uint64{mail.Drop: 6, mail.RetryRefused: 4}[c.care]; drops != want || drops+s.Kept.Load() != 6 {
				t.Errorf("care %d: %d dropped, %d kept", c.care, drops, s.Kept.Load())
			}
		})
	}
}

// A target that has a message does not get it again in the next attempt; the message is done when all remaining targets have it.
func TestDL30Taken(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, a, b := h.queue("source"), h.queue("a"), h.queue("b")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", a, b)
		d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1))
		h.send(d)
		h.answer(take[*mail.Enqueue](h, a), false)
		h.answer(take[*mail.Enqueue](h, b), true)
		r := take[*mail.DeadLetterReply](h, source)
		if len(r.IDs) != 0 || len(r.Retained) != 1 || len(r.Retained[0].Taken) != 1 || r.Retained[0].Taken[0] != mail.TargetOf(a.queue) {
			t.Fatalf("%+v", r)
		}
		again := func() *mail.DeadLetter {
			d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1))
			d.Taken = map[uint64][]mail.Target{d.Messages[0].Number: r.Retained[0].Taken}
			return d
		}
		h.send(again())
		h.nothing(a)
		h.answer(take[*mail.Enqueue](h, b), true)
		if got := h.outcome(source); got != "[] 1:1" {
			t.Errorf("refused again: %s", got)
		}
		h.send(again())
		h.answer(take[*mail.Enqueue](h, b), false)
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Errorf("taken: %s", got)
		}
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", a)
		h.send(again())
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Errorf("the other one is unbound: %s", got)
		}
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "")
		h.send(again())
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Errorf("all are unbound: %s", got)
		}
		h.nothing(a)
	})
}

// A message in a cycle is dropped under any guarantee (DL-25).
func TestDL25CycleIsNotKept(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source := h.queue("source")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", source)
		h.send(caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1)))
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Errorf("%s", got)
		}
	})
}

// ruled makes a topic with a rule to q without an action, and one rule per action.
func (h *fixture) ruled(q *probe, actions ...string) {
	x := &topology.Exchange{Name: "topic", Type: "x-rules"}
	h.exchange(x, "", "plain", q)
	r := x.Routes()
	for _, rule := range actions {
		r, _ = r.With(topology.Binding{
			Destination: "q", RoutingKey: rule, Arguments: protocol.Table{{Key: "x-rule-action", Value: "SET a = 1"}},
		}, topology.Target{Queue: q.queue})
	}
	x.Publish(r)
	h.vhost.Bump()
}

// copies takes the n copies sent to q, by the rules of their actions, "plain" for none.
func (h *fixture) copies(q *probe, n int) map[string]*mail.Enqueue {
	h.t.Helper()
	got := map[string]*mail.Enqueue{}
	for range n {
		e, rule := take[*mail.Enqueue](h, q), "plain"
		if e.Action != nil {
			rule = e.Action.Rule
		}
		got[rule] = e
	}
	h.nothing(q)
	return got
}

// TestRefusedCopy_SBR6: of the copies that a topic's rules make for a target, only the refused ones are sent again.
func TestRefusedCopy_SBR6(t *testing.T) {
	for _, refused := range []string{"plain", "one", "two"} {
		withFixture(t, func(h *fixture) {
			source, q := h.queue("source"), h.queue("q")
			h.ruled(q, "one", "two")
			d := func(taken []mail.Target) *mail.DeadLetter {
				d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "topic", 1, 1))
				d.Taken = map[uint64][]mail.Target{1: taken}
				return d
			}
			h.send(d(nil))
			for rule, e := range h.copies(q, 3) {
				h.answer(e, rule == refused)
			}
			kept := take[*mail.DeadLetterReply](h, source).Retained
			if len(kept) != 1 || len(kept[0].Taken) != 2 {
				t.Fatalf("%+v", kept)
			}
			h.send(d(kept[0].Taken))
			h.answer(h.copies(q, 1)[refused], false)
			if got := h.outcome(source); got != "[{1 1}]" {
				t.Error(got)
			}
		})
	}
}

// TestImpossibleCopy_SBR6: a copy that can never be made counts as done, as if the rule did not exist, for any outcome
// of other copies. The failure is logged once, and the message is done even if it has no other copy.
func TestImpossibleCopy_SBR6(t *testing.T) {
	for _, c := range []mail.Guarantee{mail.Drop, mail.RetryRefused, mail.AtLeastOnce} {
		withFixture(t, func(h *fixture) {
			source, q := h.queue("source"), h.queue("q")
			h.ruled(q, "never")
			send := func(taken []mail.Target) map[string]*mail.Enqueue {
				d := caring(c, pendingMessage(source, "expired", "topic", 1, 1))
				d.Taken = map[uint64][]mail.Target{1: taken}
				h.send(d)
				return h.copies(q, 2-len(taken))
			}
			never := func(e *mail.Enqueue) {
				h.send(&mail.EnqueueReply{Refused: true, Why: mail.ErrCopy, Ranges: []mail.Range{{First: e.Messages[0].Number, Last: e.Messages[0].Number}}})
			}
			got := send(nil)
			never(got["never"])
			h.answer(got["plain"], false)
			if got := h.outcome(source); got != "[{1 1}]" {
				t.Errorf("%v: %s", c, got)
			}
			got = send(nil)
			h.answer(got["plain"], true)
			never(got["never"])
			want := "[] 1:1" // the impossible copy is not made again
			if c == mail.Drop {
				want = "[{1 1}]"
			}
			if got := h.outcome(source); got != want {
				t.Errorf("%v: %s, want %s", c, got, want)
			}
			got = send([]mail.Target{mail.TargetOf(q.queue)})
			never(got["never"])
			if got := h.outcome(source); got != "[{1 1}]" {
				t.Errorf("%v, alone: %s", c, got)
			}
			if n := strings.Count(h.log.String(), "the rule's action failed"); n != 1 {
				t.Errorf("logged %d times: %s", n, h.log.String())
			}
		})
	}
}

// TestDeliveryCountOfDeadLetters_DL9: a dead letter keeps the delivery count of its queue for Azure Service Bus clients (LOCK-8), but has
// no x-delivery-count of its own.
func TestDeliveryCountOfDeadLetters_DL9(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target)
		d := pendingMessage(source, "rejected", "dlx", 1, 2)
		d.Messages[1].Overlay = d.Messages[1].Overlay.Counted(3).Failing(4)
		h.send(d)
		for i, m := range take[*mail.Enqueue](h, target).Messages {
			if m.Overlay.DiedAfter != []uint32{0, 3}[i] || m.Overlay.Failed != []uint32{0, 4}[i] || m.Overlay.DeliveryCount != 0 {
				t.Errorf("message %d: %+v", i, m.Overlay)
			}
			if _, counted := headerOf(t, &m).Get("x-delivery-count"); counted {
				t.Errorf("message %d has x-delivery-count", i)
			}
		}
	})
}
