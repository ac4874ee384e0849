package vhost_test

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// TestPermission: a declare with such arguments needs permission only if it creates the object; for a binding the actual type of
// the source decides.
func TestPermission(t *testing.T) {
	no := mail.PermissionUnless(protocol.ChannelErrorf(protocol.AccessRefused, "no"))
	dlx := protocol.Table{{Key: "x-dead-letter-exchange", Value: "dlx"}}
	ae := protocol.Table{{Key: "alternate-exchange", Value: "ae"}}
	unchecked := "ACCESS_REFUSED - permissions for the arguments were not checked"
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		for _, tc := range []struct {
			permission mail.Permission
			want       string
		}{{no, "ACCESS_REFUSED - no"}, {mail.Permission{}, unchecked}} {
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Arguments: dlx, Permission: tc.permission})
			take[*mail.DeclareQueue](h, q)
			h.send(&mail.DeclareQueue{Request: h.ask(), Name: "n", VHost: "/", Arguments: dlx, Permission: tc.permission})
			h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, protocol.AccessRefused, tc.want)
			h.send(&mail.DeclareExchange{Request: h.ask(), Name: "n", Type: "direct", Arguments: ae, Permission: tc.permission})
			h.wantTopology(protocol.AccessRefused, tc.want)
			b := topology.Binding{Destination: "q", RoutingKey: "k"}
			h.send(&mail.Bind{Request: h.ask(), Source: "amq.topic", Binding: b, Topic: tc.permission})
			h.wantTopology(protocol.AccessRefused, tc.want)
			h.send(&mail.Unbind{Request: h.ask(), Source: "amq.topic", Binding: b, Topic: tc.permission})
			h.wantTopology(protocol.AccessRefused, tc.want)
			h.send(&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: b, Topic: tc.permission})
			take[*mail.AddBinding](h, h.exchange("amq.direct"))
			h.wantTopology(0, "")
		}
		// The delete is processed before the declare.
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"},
			&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Arguments: dlx, Permission: no})
		take[*mail.DeleteQueue](h, q)
		h.retire("q", 9, true)
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, protocol.AccessRefused, "ACCESS_REFUSED - no")
		if h.published("q") != nil {
			t.Error("it was made")
		}
	})
}
