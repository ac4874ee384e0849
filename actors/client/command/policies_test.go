package command_test

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/routing/topology"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A message published after the answer is subject to the changed policy (PRO-15).
func TestPolicyOverAMQP(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("orders", nil)
		ch.Declare("answers", nil)
		ch.Publish("", "orders", testkit.Text("before"))
		answers := ch.Tail("answers")
		ask := func(key, body string) string {
			ch.Publish(topology.AdminExchange, key, amqp.Publishing{Body: []byte(body), ReplyTo: "answers", CorrelationId: key})
			d := testkit.Receive(b, answers)
			if d.CorrelationId != key || d.ContentType != "application/json" {
				t.Errorf("%+v", d)
			}
			return string(d.Body)
		}
		if got := ask("policy.set", `{"name":"p","pattern":"^o","definition":{"message-ttl":1000}}`); got != `{"ok":true,"replaced":false}` {
			t.Error(got)
		}
		ch.Publish("", "orders", testkit.Text("after"))
		b.Advance(1001 * time.Millisecond)
		if info := b.Describe("orders"); info.Ready != 1 || info.Effective.Policy != "p" {
			t.Errorf("%d messages, policy %q", info.Ready, info.Effective.Policy)
		}
		if got := ask("policy.list", ""); !strings.HasPrefix(got, `{"ok":true,"policies":[{"vhost":"/","name":"p",`) {
			t.Error(got)
		}
		if got := ask("policy.clear", `{"name":"p"}`); got != `{"ok":true}` {
			t.Error(got)
		}
		if info := b.Describe("orders"); info.Effective.Policy != "" {
			t.Errorf("policy %q after it was cleared", info.Effective.Policy)
		}
	})
}

// Commands that bypass the check of the publisher's tag, by dead-lettering or an exchange binding, are not executed.
func TestNoWayAround(t *testing.T) {
	const set = `{"name":"p","pattern":"","definition":{"message-ttl":1000}}`
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("is dropped")
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("watched", nil)
		ch.Declare("rejecting", amqp.Table{"x-dead-letter-exchange": topology.AdminExchange, "x-dead-letter-routing-key": "policy.set"})
		if !ch.Publish("", "rejecting", testkit.Expiring(set, "1")) {
			t.Error("nack")
		}
		b.Advance(time.Second)

		ch.Exchange("mine", "fanout")
		if err := ch.ExchangeBind(topology.AdminExchange, "", "mine", false, nil); err == nil {
			ch.Publish("mine", "policy.set", testkit.Text(set))
		}
		b.Advance(time.Second)
		if info := b.Describe("watched"); info.Effective.Policy != "" {
			t.Errorf("policy %q was set", info.Effective.Policy)
		}
	})
}
