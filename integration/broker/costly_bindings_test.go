package broker

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/internal/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// costlyPattern returns one of many patterns, all of whose parts a key of many words "a" keeps apart.
func costlyPattern(i int) string {
	words := []string{"#"}
	for bit := range 61 {
		words = append(words, []string{"a", "*"}[i>>(bit%12)&1], "#")
	}
	return strings.Join(append(words, "b"), ".")
}

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
			err := bind(to, costlyPattern(i), "amq.topic", false, nil)
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
		answer := w.ask("", "POST", "/api/bindings/%2F/e/amq.topic/q/u-q", fmt.Sprintf(`{"routing_key":%q}`, costlyPattern(4000)))
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
