package deadletter_test

import (
	"fmt"
	"testing"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// outcome is the next answer to a source: the ids that are taken care of, and
// those that it keeps with the number of targets that have them.
func (h *house) outcome(source *probe) string {
	h.t.Helper()
	r := take[*mail.DeadLetterReply](h, source)
	text := fmt.Sprint(r.IDs)
	for _, k := range r.Kept {
		text += fmt.Sprintf(" %d:%d", k.ID, len(k.Taken))
	}
	return text
}

func caring(care mail.Guarantee, d *mail.DeadLetter) *mail.DeadLetter {
	d.Guarantee = care
	return d
}

// What cannot be enqueued is dropped or goes back, as the source wants it.
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
		inHouse(t, func(h *house) {
			source, target := h.queue("source"), h.queue("target")
			h.send(caring(c.care, pendingMessage(source, "expired", "dlx", 1, 2)))
			if got := h.outcome(source); got != c.noExchange {
				t.Errorf("care %d, no exchange: %s", c.care, got)
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

// A target that has a message does not get it again with the next attempt; when
// all that are left have it, it is done.
func TestDL30Taken(t *testing.T) {
	inHouse(t, func(h *house) {
		source, a, b := h.queue("source"), h.queue("a"), h.queue("b")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", a, b)
		d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1))
		h.send(d)
		h.answer(take[*mail.Enqueue](h, a), false)
		h.answer(take[*mail.Enqueue](h, b), true)
		r := take[*mail.DeadLetterReply](h, source)
		if len(r.IDs) != 0 || len(r.Kept) != 1 || len(r.Kept[0].Taken) != 1 || !r.Kept[0].Taken[0].Equal(a.queue.PID) {
			t.Fatalf("%+v", r)
		}
		again := func() *mail.DeadLetter {
			d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1))
			d.Taken = map[uint64][]mail.Address{d.Messages[0].Number: r.Kept[0].Taken}
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

// A cycle is dropped whoever cares (DL-25).
func TestDL25CycleIsNotKept(t *testing.T) {
	inHouse(t, func(h *house) {
		source := h.queue("source")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", source)
		h.send(caring(mail.AtLeastOnce, pendingMessage(source, "expired", "dlx", 1, 1)))
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Errorf("%s", got)
		}
	})
}

// TestRefusedCopy_SBR6: a target that refuses one of the copies that the rules of a topic make for it gets all of them with the next attempt.
func TestRefusedCopy_SBR6(t *testing.T) {
	inHouse(t, func(h *house) {
		source, q := h.queue("source"), h.queue("q")
		x := &topology.Exchange{Name: "topic", Type: "x-rules"}
		h.exchange(x, "", "all", q)
		r, _ := x.Routes().With(topology.Binding{
			Destination: "q", RoutingKey: "acts", Arguments: protocol.Table{{Key: "x-rule-action", Value: "SET a = 1"}},
		}, topology.Target{Queue: q.queue})
		x.Publish(r)
		h.vhost.Bump()
		send := func(taken []mail.Address) (plain, acts *mail.Enqueue) {
			d := caring(mail.AtLeastOnce, pendingMessage(source, "expired", "topic", 1, 1))
			d.Taken = map[uint64][]mail.Address{1: taken}
			h.send(d)
			plain, acts = take[*mail.Enqueue](h, q), take[*mail.Enqueue](h, q)
			if plain.Action != nil {
				plain, acts = acts, plain
			}
			if plain.Action != nil || acts.Action == nil || acts.Action.Rule != "acts" {
				t.Errorf("%+v, %+v", plain.Action, acts.Action)
			}
			return plain, acts
		}
		plain, acts := send(nil)
		h.answer(plain, false)
		h.answer(acts, true)
		kept := take[*mail.DeadLetterReply](h, source).Kept
		if len(kept) != 1 || len(kept[0].Taken) != 0 {
			t.Fatalf("%+v", kept)
		}
		plain, acts = send(kept[0].Taken)
		h.answer(acts, false)
		h.answer(plain, false)
		if got := h.outcome(source); got != "[{1 1}]" {
			t.Error(got)
		}
	})
}
