package republish_test

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// copied returns a dead letter with CC and BCC keys besides its own key k.
func copied(from *probe, reason string) *mail.DeadLetter {
	d := pendingMessage(from, reason, "dlx", 1, 1)
	d.Messages[0].Overlay = &message.Overlay{CC: []string{"cc"}, BCC: []string{"bcc"}}
	return d
}

// A dead letter is routed by all keys of its publish, and its history lists all but the BCC keys.
func TestDL15_AllOriginalKeys(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, own, cc, bcc := h.queue("source"), h.queue("own"), h.queue("cc"), h.queue("bcc")
		x := &topology.Exchange{Name: "dlx", Type: "direct"}
		r, _ := topology.NewRoutes("direct", nil)
		for key, to := range map[string]*probe{"k": own, "cc": cc, "bcc": bcc} {
			r, _ = r.With(topology.Binding{Destination: to.queue.Name, RoutingKey: key}, topology.Target{Queue: to.queue})
		}
		x.Publish(r)
		h.vhost.Publish(h.vhost.Directory().WithExchange(x))
		h.send(copied(source, "expired"))
		var last *mail.Enqueue
		for _, to := range []*probe{own, cc, bcc} {
			last = take[*mail.Enqueue](h, to)
			m := &last.Messages[0]
			if got := fmt.Sprint(m.Overlay.Deaths[0].RoutingKeys, m.Overlay.CC, m.Overlay.BCC); got != "[k cc] [cc] [bcc]" || string(m.RoutingKey) != "k" {
				t.Errorf("%s: key %s, %s", to.queue.Name, m.RoutingKey, got)
			}
		}
		// Dead-lettered again, it still has all its keys.
		again := pendingMessage(own, "rejected", "dlx", 2, 1)
		again.Messages[0] = last.Messages[0]
		h.send(again)
		for _, to := range []*probe{own, cc, bcc} {
			if m := take[*mail.Enqueue](h, to).Messages[0]; len(m.Overlay.Deaths) != 2 {
				t.Errorf("%s: %+v", to.queue.Name, m.Overlay)
			}
		}
	})
}

// A dead-letter routing key replaces all others; the history still lists the previous ones.
func TestDL15_RoutingKeyReplacesAll(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "dead", target)
		h.exchange(&topology.Exchange{Name: "all", Type: "fanout"}, "", "", target)
		d := copied(source, "expired")
		d.RoutingKey, d.HasKey = "dead", true
		before := d.Messages[0].Overlay
		h.send(d)
		m := take[*mail.Enqueue](h, target).Messages[0]
		if got := fmt.Sprint(m.Overlay.Deaths[0].RoutingKeys, m.Overlay.CC, m.Overlay.BCC); got != "[k cc] [] []" || string(m.RoutingKey) != "dead" {
			t.Errorf("key %s, %s", m.RoutingKey, got)
		}
		if len(before.CC) != 1 {
			t.Error("the original was changed")
		}
		again := pendingMessage(target, "rejected", "all", 2, 1)
		again.Messages[0] = m
		h.send(again)
		if got := fmt.Sprint(take[*mail.Enqueue](h, target).Messages[0].Overlay.Deaths[0].RoutingKeys); got != "[dead]" {
			t.Error(got)
		}
	})
}

// Messages with the same routing key share a route only if their CC and BCC keys are the same.
func TestDL15_OtherKeys(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target := h.queue("source"), h.queue("target")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "direct"}, "", "cc", target)
		d := pendingMessage(source, "expired", "dlx", 1, 3)
		d.Forward = true // forwarding leaves the keys, in an overlay per message
		d.Messages[0].Overlay = &message.Overlay{CC: []string{"cc"}}
		d.Messages[2].Overlay = &message.Overlay{CC: []string{"cc"}}
		h.send(d)
		e := take[*mail.Enqueue](h, target)
		if len(e.Messages) != 2 || e.Messages[0].Body[0] != 1 || e.Messages[1].Body[0] != 3 {
			t.Errorf("%+v", e.Messages)
		}
	})
}
