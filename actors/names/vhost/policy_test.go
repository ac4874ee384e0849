package vhost_test

import (
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
)

func TestPOL9OnlyChangedMatchesAreInformed(t *testing.T) {
	withFixture(t, func(h *fixture) {
		a, b := h.declare("a"), h.declare("b")
		one := policySet(t, "p", "^a", `{"message-ttl":1000}`, policies.NewSet("/"))
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one})
		if c := take[*mail.Configure](h, a); c.Settings.MessageTTL != 1000 || c.Effective.Policy != "p" {
			t.Errorf("%+v", c)
		}
		take[*mail.ApplyPoliciesReply](h, h.asker)
		h.nothing(b)

		two := policySet(t, "z", "^c", `{"message-ttl":1}`, one) // matches neither queue
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: two})
		take[*mail.ApplyPoliciesReply](h, h.asker)
		h.nothing(a)

		three := policySet(t, "p", "^a", `{"message-ttl":1000,"expires":5}`, two)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: three})
		if c := take[*mail.Configure](h, a); c.Settings.Expires != 5 || c.Effective.Version != three.Version {
			t.Errorf("%+v", c)
		}
		take[*mail.ApplyPoliciesReply](h, h.asker)

		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one}) // stale
		take[*mail.ApplyPoliciesReply](h, h.asker)
		h.nothing(a)

		h.send(&mail.DeclareQueue{Name: "c", VHost: "/"})
		if spec := h.specs["c"]; spec.Settings.MessageTTL != 1 || spec.Effective.Policy != "z" {
			t.Errorf("new queue got %+v", spec)
		}
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: three.Without(false, "p")}) // POL-10
		if c := take[*mail.Configure](h, a); c.Settings.MessageTTL != -1 || c.Effective.Policy != "" {
			t.Errorf("%+v", c)
		}
	})
}

func TestApplyPoliciesWaitsForExchanges(t *testing.T) { // PRO-15
	withFixture(t, func(h *fixture) {
		x, y := h.declareExchange("x", false), h.declareExchange("y", false)
		h.hold(x, nil)
		one := policySet(t, "p", "^[xq]", `{"alternate-exchange":"ae"}`, policies.NewSet("/"))
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one})
		c := take[*mail.ConfigureExchange](h, x)
		if c.Settings.AlternateExchange != "ae" || !c.Settings.HasAE {
			t.Errorf("%+v", c)
		}
		h.nothing(y)
		h.nothing(h.asker)
		two := one.Without(false, "p") // sent before the first is in force
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: two})
		h.send(&mail.ConfigureExchangeReply{Reply: c.Done(nil)})
		h.nothing(h.asker)
		c = take[*mail.ConfigureExchange](h, x)
		if c.Settings.HasAE {
			t.Errorf("%+v", c)
		}
		h.send(&mail.ConfigureExchangeReply{Reply: c.Done(nil)})
		take[*mail.ApplyPoliciesReply](h, h.asker)
		take[*mail.ApplyPoliciesReply](h, h.asker)
		h.nothing(h.asker)
	})
}

func TestApplyPoliciesToManyQueues(t *testing.T) {
	withFixture(t, func(h *fixture) {
		const queues = 5000 // more than one turn
		for i := range queues {
			h.system.Root.Send(h.pid, &mail.DeclareQueue{Name: fmt.Sprint("q", i), VHost: "/"})
		}
		one := policySet(t, "p", "^q", `{"message-ttl":1000}`, policies.NewSet("/"))
		two := policySet(t, "p", "^q", `{"message-ttl":2000}`, one)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one}, &mail.ApplyPolicies{Request: h.ask(), Set: two})
		take[*mail.ApplyPoliciesReply](h, h.asker)
		take[*mail.ApplyPoliciesReply](h, h.asker)
		for _, q := range h.queues {
			var last *mail.Configure
			for _, m := range q.mails {
				if c, ok := m.(*mail.Configure); ok {
					last = c
				}
			}
			if last == nil || last.Settings.MessageTTL != 2000 {
				t.Fatalf("a queue ended with %+v", last)
			}
		}
	})
}
