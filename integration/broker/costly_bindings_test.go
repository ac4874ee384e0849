package broker

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/rules"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestCostlyPatternsClosePublishersNot_DEC19: a binding that would make publishes expensive is refused when it is made, to a
// queue or an exchange, over AMQP and HTTP, and publishers continue.
func TestCostlyPatternsClosePublishersNot_DEC19(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("PRECONDITION_FAILED")
		w := bubbleWeb(b)
		victim := b.Connect().Open()
		victim.Exchange("u-x", "fanout")
		victim.Declare("u-q", nil)
		victim.Declare("v", nil)
		victim.Bind("v", "#.a", "amq.topic")
		attacker, ch := b.Connect(), (*testkit.Channel)(nil)
		refused := 0
		for i := range 700 {
			if ch == nil {
				ch = attacker.Open()
			}
			bind, to := ch.QueueBind, "u-q"
			if i%2 == 0 {
				bind, to = ch.ExchangeBind, "u-x"
			}
			err := bind(to, rules.CostlyPattern(i), "amq.topic", false, nil)
			if err == nil {
				continue
			}
			ch = nil
			if refused++; !strings.Contains(err.Error(), "cannot bind to exchange 'amq.topic' in vhost '/': the steps to compare a routing key with the patterns would be ") {
				t.Fatal(err)
			}
		}
		if refused < 680 {
			t.Errorf("only %d bindings were refused", refused)
		}
		answer := w.ask("", "POST", "/api/bindings/%2F/e/amq.topic/q/u-q", fmt.Sprintf(`{"routing_key":%q}`, rules.CostlyPattern(4000)))
		if answer.Code != 400 || !strings.Contains(answer.Body.String(), `"reason":"cannot bind to exchange 'amq.topic' in vhost '/': the steps`) {
			t.Error(answer.Code, answer.Body)
		}
		victim.Confirms()
		for range 3 {
			if !victim.Publish("amq.topic", strings.Repeat("a.", 127)+"a", amqp.Publishing{}) {
				t.Error("nacked")
			}
		}
		victim.Bind("v", "#.b.#", "amq.topic") // what adds no cost is not refused
		if got := victim.Drain("v"); len(got) != 3 {
			t.Errorf("%d messages", len(got))
		}
	})
}

// TestCostlyActionsClosePublishersNot_SBR6: whatever actions others have bound, a message with large properties is confirmed, and
// reaches all queues but those with too many copies.
func TestCostlyActionsClosePublishersNot_SBR6(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("topic", "x-rules")
		for _, q := range []string{"u-q", "v", "w"} {
			ch.Declare(q, nil)
		}
		bind := func(q, name string, args amqp.Table) {
			if err := ch.QueueBind(q, name, "topic", false, args); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 300 {
			bind("u-q", fmt.Sprint("rule", i), amqp.Table{"x-rule-action": "SET a = 1"})
		}
		bind("v", "rule", amqp.Table{"x-rule-action": "SET a = 2"})
		bind("w", "rule", nil)
		ch.Confirms()
		headers := amqp.Table{}
		for i := range 94 {
			headers[fmt.Sprint("h", i)] = strings.Repeat("x", 1000)
		}
		for _, tables := range []amqp.Table{headers, nil} {
			if !ch.Publish("topic", "", amqp.Publishing{Headers: tables}) {
				t.Fatal("nacked")
			}
			if len(ch.Drain("v")) != 1 || len(ch.Drain("w")) != 1 {
				t.Error("a message is missing")
			}
			if n := len(ch.Drain("u-q")); tables == nil && n != 300 || tables != nil && (n < 100 || n > 200) {
				t.Errorf("%d copies", n)
			}
		}
	})
}

// TestFailedRulesAreDeadLettered_SBR7: a message for which rules take too many steps is confirmed, and dead-lettered once for the
// subscription that asks for it.
func TestFailedRulesAreDeadLettered_SBR7(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("topic", "x-rules")
		ch.Declare("q", amqp.Table{"x-dead-letter-queue": true, "x-dead-letter-failed-rules": true})
		ch.Declare("without", amqp.Table{"x-dead-letter-queue": true})
		sql := amqp.Table{"x-rule-sql": "text LIKE '%" + strings.Repeat("a", 70) + "b'"}
		for _, q := range []string{"q", "without"} {
			for i := range 100 {
				if err := ch.QueueBind(q, fmt.Sprint(i), "topic", false, sql); err != nil {
					t.Fatal(err)
				}
			}
		}
		ch.Confirms()
		if !ch.Publish("topic", "", amqp.Publishing{Headers: amqp.Table{"text": strings.Repeat("a", 2000)}, Body: []byte("m")}) {
			t.Error("nacked")
		}
		got := ch.Fetch("q.dlq")
		if got == nil || got.Headers["x-first-death-reason"] != "rule_failed" || string(got.Body) != "m" || got.Headers["RuleName"] != nil {
			t.Fatalf("%+v", got)
		}
		if n := len(ch.Drain("q.dlq")) + len(ch.Drain("q")) + len(ch.Drain("without")) + len(ch.Drain("without.dlq")); n != 0 {
			t.Errorf("%d other messages", n)
		}
		for path, want := range map[string]string{
			"/api/queues/%2F/q": `"rules_too_costly":100`, "/api/exchanges/%2F/topic": `"bindings_skipped":1`,
			"/metrics": "candlemark_rules_too_costly_total 200\n", "/api/x/dead-letters": `"rule_failed":{"disabled":0,"at_most_once":0,"at_least_once":1`,
		} {
			if answer := bubbleWeb(b).ask("", "GET", path, ""); !strings.Contains(answer.Body.String(), want) {
				t.Errorf("%s: %s", path, answer.Body)
			}
		}
	})
}
