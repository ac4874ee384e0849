package republish_test

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// TestForward: forwarding is no death. A message keeps everything but its number of hops, is routed by its own key, even back to
// its queue, and is retained while no target takes it.
func TestForward(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		forward := func(first uint64, n int) *mail.DeadLetter {
			d := pendingMessage(source, "forwarded", "to", first, n)
			d.Forward, d.Guarantee = true, mail.AtLeastOnce
			return d
		}
		h.send(forward(1, 1))
		if r := take[*mail.DeadLetterReply](h, source); len(r.Retained) != 1 || len(r.IDs) > 0 {
			t.Errorf("without the exchange: %+v", r)
		}
		h.exchange(&topology.Exchange{Name: "to", Type: "direct"}, "", "k", target, source)
		d := forward(2, 3)
		expiring(&d.Messages[0], "60")
		d.Messages[1].Overlay = (&message.Overlay{Hops: 2}).Died(message.Death{Queue: "source", Reason: "expired"})
		d.Messages[2].RoutingKey = []byte("nowhere")
		h.send(d)
		e := take[*mail.Enqueue](h, target)
		for i, hops := range []uint8{1, 3} {
			m, ttl := &e.Messages[i], [2]int64{60, message.NoTTL}[i]
			if string(m.Exchange) != "orig" || string(m.RoutingKey) != "k" || m.Overlay.Hops != hops || m.Overlay.Dead() != (i == 1) ||
				m.Overlay.DropExpiration != (i == 1) || m.TTL != ttl || !m.Owned {
				t.Errorf("message %d: %+v %+v", i, m, m.Overlay)
			}
		}
		if back := take[*mail.Enqueue](h, source); len(back.Messages) != 2 {
			t.Errorf("%d messages came back to their queue", len(back.Messages))
		}
		r := take[*mail.DeadLetterReply](h, source)
		if len(r.Retained) != 1 || r.Retained[0].ID != 4 || len(r.IDs) > 0 {
			t.Errorf("unroutable: %+v", r)
		}
		h.answer(e, false)
		h.nothing(source)
		if s := h.stats.ByReason("forwarded"); s.Routed.Load() != 2 || s.Kept.Load() != 2 || h.stats.Expired.Routed.Load() > 0 {
			t.Errorf("routed %d, kept %d", s.Routed.Load(), s.Kept.Load())
		}
	})
}
