package vhost_test

import (
	"testing"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// TestLeave: what leads on is made with leave only, what is there needs none; for a binding the type counts that its source really has.
func TestLeave(t *testing.T) {
	no := mail.LeaveUnless(protocol.ChannelErrorf(protocol.AccessRefused, "no"))
	dlx := protocol.Table{{Key: "x-dead-letter-exchange", Value: "dlx"}}
	ae := protocol.Table{{Key: "alternate-exchange", Value: "ae"}}
	unchecked := "ACCESS_REFUSED - permissions for the arguments were not checked"
	inHouse(t, func(h *house) {
		q := h.declare("q")
		for _, tc := range []struct {
			leave mail.Leave
			want  string
		}{{no, "ACCESS_REFUSED - no"}, {mail.Leave{}, unchecked}} {
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Arguments: dlx, Leave: tc.leave})
			take[*mail.DeclareQueue](h, q)
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: "n", VHost: "/", Arguments: dlx, Leave: tc.leave})
			h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, protocol.AccessRefused, tc.want)
			h.send(&mail.DeclareExchange{Request: h.ask(), Name: "n", Type: "direct", Arguments: ae, Leave: tc.leave})
			h.wantTopology(protocol.AccessRefused, tc.want)
			b := topology.Binding{Destination: "q", RoutingKey: "k"}
			h.send(&mail.Bind{Request: h.ask(), Source: "amq.topic", Binding: b, Topic: tc.leave})
			h.wantTopology(protocol.AccessRefused, tc.want)
			h.send(&mail.Unbind{Request: h.ask(), Source: "amq.topic", Binding: b, Topic: tc.leave})
			h.wantTopology(protocol.AccessRefused, tc.want)
			h.send(&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: b, Topic: tc.leave})
			take[*mail.AddBinding](h, h.exchange("amq.direct"))
		}
		// The delete is before it in the line.
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"},
			&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Arguments: dlx, Leave: no})
		take[*mail.DeleteQueue](h, q)
		h.retire("q", 9, true)
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, protocol.AccessRefused, "ACCESS_REFUSED - no")
		if h.published("q") != nil {
			t.Error("it was made")
		}
	})
}
