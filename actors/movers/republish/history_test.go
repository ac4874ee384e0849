package republish_test

import (
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// keeping makes a recent-history exchange, played by a probe, with bindings to queues.
func (h *fixture) keeping(name string, queues ...*probe) (x *topology.Exchange, keeper *probe) {
	keeper = h.queue("amq.history." + name)
	x = &topology.Exchange{Name: name, Type: topology.RecentHistoryType, PID: keeper.queue.PID}
	h.exchange(x, "", "", queues...)
	x.Publish(x.Routes().WithHistory(x))
	return x, keeper
}

// TestDEC17_DeadLettersAreKept as publishes are; a source with the guarantee AtLeastOnce retains a message that only the exchange
// would receive.
func TestDEC17_DeadLettersAreKept(t *testing.T) {
	withFixture(t, func(h *fixture) {
		from, q := h.queue("from"), h.queue("q")
		_, bound := h.keeping("bound", q)
		_, empty := h.keeping("empty")
		h.send(pendingMessage(from, "expired", "bound", 1, 2))
		kept := take[*mail.Enqueue](h, bound)
		if len(kept.Messages) != 2 || kept.Table != 1 {
			t.Errorf("%+v", kept)
		}
		h.answer(kept, false)
		h.nothing(from)
		h.answer(take[*mail.Enqueue](h, q), false)
		h.settled(from, mail.Range{First: 1, Last: 2})

		h.send(pendingMessage(from, "expired", "empty", 3, 1))
		h.answer(take[*mail.Enqueue](h, empty), false)
		h.settled(from, mail.Range{First: 3, Last: 3})
		sure := pendingMessage(from, "expired", "empty", 4, 1)
		sure.Guarantee = mail.AtLeastOnce
		h.send(sure)
		h.nothing(empty)
		if r := take[*mail.DeadLetterReply](h, from); len(r.Retained) != 1 || r.Retained[0].ID != 4 {
			t.Errorf("%+v", r)
		}
	})
}

// TestDEC17_KeptOnce: a message that is retried because another target refused it is not sent to the exchange again.
func TestDEC17_KeptOnce(t *testing.T) {
	withFixture(t, func(h *fixture) {
		from, q := h.queue("from"), h.queue("q")
		_, keeper := h.keeping("x", q)
		d := pendingMessage(from, "expired", "x", 1, 1)
		d.Guarantee = mail.AtLeastOnce
		again := *d
		again.Messages = slices.Clone(d.Messages)
		h.send(d)
		h.answer(take[*mail.Enqueue](h, keeper), false)
		h.answer(take[*mail.Enqueue](h, q), true)
		r := take[*mail.DeadLetterReply](h, from)
		if len(r.Retained) != 1 || len(r.Retained[0].Taken) != 1 {
			t.Fatalf("%+v", r)
		}
		again.Taken = map[uint64][]mail.Target{1: r.Retained[0].Taken}
		h.send(&again)
		h.nothing(keeper)
		h.answer(take[*mail.Enqueue](h, q), false)
		h.settled(from, mail.Range{First: 1, Last: 1})
	})
}

// TestDEC17_Replay: replayed messages are routed unchanged, even to a queue that dead-lettered them.
func TestDEC17_Replay(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q, x := h.queue("q"), h.queue("the exchange")
		h.exchange(&topology.Exchange{Name: "y", Type: "fanout"}, "", "", q)
		m := pendingMessage(x, "", "y", 1, 2) // only the first one was dead-lettered before
		m.Reason, m.Replay = "replayed", true
		m.Messages[0].Overlay = (*message.Overlay)(nil).Died(message.Death{Queue: "q", Reason: "expired"})
		before := m.Messages[0]
		h.send(m)
		e := take[*mail.Enqueue](h, q)
		if len(e.Messages) != 2 || e.Messages[1].Overlay != nil {
			t.Fatalf("%+v", e)
		}
		if got := e.Messages[0]; got.Overlay != before.Overlay || string(got.Exchange) != "orig" || string(got.RoutingKey) != "k" {
			t.Errorf("%+v", got)
		}
		h.answer(e, false)
		h.settled(x, mail.Range{First: 1, Last: 2})
		if n := h.stats.Replayed.Confirmed.Load(); n != 2 {
			t.Error(n)
		}
	})
}
