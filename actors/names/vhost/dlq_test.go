package vhost_test

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// wantsDeadLetterQueue are the arguments that request a dead-letter queue.
var wantsDeadLetterQueue = protocol.Table{{Key: "x-dead-letter-queue", Value: true}}

// delete deletes the newest queue of a name.
func (h *fixture) delete(name string) {
	h.t.Helper()
	h.send(&mail.DeleteQueue{Name: name})
	h.retire(name, 9, true)
}

// TestDeadLetterQueue_DL1: the dead-letter queue is created before its source, which is routed to it; it remains when its source
// is deleted, and is recreated when it is deleted while needed.
func TestDeadLetterQueue_DL1(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Durable: true, Arguments: wantsDeadLetterQueue, Permission: mail.PermissionUnless(nil)})
		dead := take[*mail.DeclareQueue](h, h.queue("q.dlq"))
		if take[*mail.DeclareQueue](h, h.queue("q")); !dead.Durable || dead.Exclusive || dead.AutoDelete || !dead.NoWait {
			t.Errorf("declared as %+v", dead)
		}
		if s := h.specs["q"].Settings; !s.HasDLX || s.DeadLetterExchange != "" || !s.HasDLK || s.DeadLetterRoutingKey != "q.dlq" {
			t.Errorf("settings of the queue: %+v", s)
		}
		if s := h.specs["q.dlq"].Settings; s.HasDLX || s.DeadLetterQueue || s.MessageTTL >= 0 || s.Expires >= 0 {
			t.Errorf("settings of the dead-letter queue: %+v", s)
		}
		first := h.published("q.dlq")
		h.delete("q.dlq")
		if again := h.published("q.dlq"); again == nil || again == first || !again.Durable {
			t.Errorf("deleted while it is wanted: %+v", again)
		}
		h.delete("q")
		if h.published("q") != nil || h.published("q.dlq") == nil {
			t.Error("it did not outlive its queue")
		}
		h.delete("q.dlq")
		if h.published("q.dlq") != nil {
			t.Error("it comes back although nobody wants it")
		}
	})
}

// TestDeadLetterQueueOfClients_DL1: an existing queue of that name is used unchanged.
func TestDeadLetterQueueOfClients_DL1(t *testing.T) {
	withFixture(t, func(h *fixture) {
		theirs := h.declare("q.dlq")
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Durable: true, Arguments: wantsDeadLetterQueue, Permission: mail.PermissionUnless(nil)})
		h.nothing(theirs)
		if h.published("q.dlq").Durable || !h.specs["q"].Settings.HasDLX {
			t.Error("it is not used as it is")
		}
	})
}

// TestDeadLetterQueueByPolicy_POL9: the policy is in force once the queues exist; a queue that has a dead-letter queue, is one,
// is exclusive or has a server-generated name gets none, and a configured exchange takes precedence.
func TestDeadLetterQueueByPolicy_POL9(t *testing.T) {
	withFixture(t, func(h *fixture) {
		q := h.declare("q")
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "own", VHost: "/", Exclusive: true, Connection: h.asker.pid})
		h.send(&mail.DeclareQueue{Request: h.ask(), VHost: "/"})
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "x", VHost: "/", Arguments: protocol.Table{{Key: "x-dead-letter-exchange", Value: "dlx"}}, Permission: mail.PermissionUnless(nil)})
		before := h.vhost.Directory().QueueCount()
		one := policySet(t, "p", "", `{"dead-letter-queue":true,"message-ttl":1000}`, policies.NewSet("/"))
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one})
		h.nothing(q) // it waits for the other queue's answer
		h.nothing(h.asker)
		d := take[*mail.DeclareQueue](h, h.queue("q.dlq"))
		h.send(&mail.DeclareQueueReply{Reply: d.Done(nil), Name: "q.dlq"})
		if c := take[*mail.Configure](h, q); c.Settings.DeadLetterRoutingKey != "q.dlq" || c.Settings.MessageTTL != 1000 {
			t.Errorf("%+v", c)
		}
		take[*mail.ApplyPoliciesReply](h, h.asker)
		if got := h.vhost.Directory().QueueCount(); got != before+1 {
			t.Errorf("%d queues came", got-before)
		}
		// A policy that matches the queue does not apply to its dead-letter queue; one that matches only that does.
		dlq := h.queue("q.dlq")
		h.nothing(dlq)
		if s := h.specs["q.dlq"]; s.Settings.MessageTTL >= 0 || s.Effective.Policy != "" {
			t.Errorf("%+v", s)
		}
		two := policySet(t, "cleanup", "[.]dlq$", `{"message-ttl":5}`, one)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: two})
		take[*mail.ApplyPoliciesReply](h, h.asker)
		if c := take[*mail.Configure](h, dlq); c.Effective.Policy != "cleanup" || c.Settings.MessageTTL != 5 {
			t.Errorf("%+v", c)
		}
		h.nothing(q)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: two.Without(false, "p")})
		take[*mail.ApplyPoliciesReply](h, h.asker)
		if c := take[*mail.Configure](h, q); c.Settings.HasDLX {
			t.Errorf("the route is still there: %+v", c)
		}
		h.delete("q.dlq")
		if h.published("q.dlq") != nil {
			t.Error("it comes back although nobody wants it")
		}
	})
}

// TestDeadLetterQueueRefused_DL1: exclusive and server-named queues cannot have a dead-letter queue.
func TestDeadLetterQueueRefused_DL1(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Exclusive: true, Connection: h.asker.pid, Arguments: wantsDeadLetterQueue, Permission: mail.PermissionUnless(nil)})
		r := take[*mail.DeclareQueueReply](h, h.asker)
		h.wantError(r.Err, protocol.PreconditionFailed, "PRECONDITION_FAILED - invalid arg 'x-dead-letter-queue' for queue 'q' in vhost '/': exclusive_or_server_named")
		h.send(&mail.DeclareQueue{Request: h.ask(), VHost: "/", Arguments: wantsDeadLetterQueue, Permission: mail.PermissionUnless(nil)})
		if r := take[*mail.DeclareQueueReply](h, h.asker); r.Err == nil {
			t.Error("a server-named queue has one")
		}
		h.vhost.Directory().Queues()(func(q *topology.Queue) bool {
			t.Errorf("%s was made", q.Name)
			return true
		})
	})
}

// TestDeadLetterLock_LOCK11: the locks of a dead-letter queue have the timeout of its source, and it is informed of changes.
func TestDeadLetterLock_LOCK11(t *testing.T) {
	withFixture(t, func(h *fixture) {
		base := policySet(t, "p", "^q$", `{"consumer-timeout":5000}`, policies.NewSet("/"))
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: base})
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Durable: true, Arguments: wantsDeadLetterQueue, Permission: mail.PermissionUnless(nil)})
		dead := h.queue("q.dlq")
		take[*mail.DeclareQueue](h, dead)
		locks := func(want int64) {
			t.Helper()
			if c := take[*mail.Configure](h, dead); c.Settings.DeadLetterLock != want || c.Settings.ConsumerTimeout >= 0 {
				t.Errorf("%+v, want %d", c.Settings, want)
			}
			h.nothing(dead)
		}
		locks(5000)
		one := policySet(t, "p", "^q$", `{"consumer-timeout":3000}`, base)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: one})
		locks(3000)
		two := policySet(t, "p", "^q$", `{"consumer-timeout":3000,"max-length":7}`, one)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: two})
		h.nothing(dead)
		h.send(&mail.ApplyPolicies{Request: h.ask(), Set: policySet(t, "p", "^q$", `{"consumer-timeout":5000}`, two)})
		locks(5000)
		h.delete("q")
		locks(0)
	})
}
