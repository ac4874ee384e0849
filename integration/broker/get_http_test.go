package broker

import (
	"strings"
	"testing"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A get over HTTP is bounded by what messages take, not by their bodies alone: there may be any number of empty ones, or of
// ones with large headers.
func TestGetIsBounded_ACC12(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("empty", nil)
		ch.Declare("headers", nil)
		for range 8300 {
			ch.Publish("", "empty", amqp.Publishing{})
		}
		for range 30 {
			ch.Publish("", "headers", amqp.Publishing{Headers: amqp.Table{"h": strings.Repeat("x", 100_000)}})
		}
		for queue, want := range map[string]int{"empty": 8<<20/(1024+8*2) + 1, "headers": 8<<20/(8*100_000) + 1} {
			got := decode[[]message](w, w.ask("", "POST", "/api/queues/%2F/"+queue+"/get", `{"count":1000000,"ackmode":"ack_requeue_true","encoding":"auto"}`))
			if len(got) != want {
				t.Errorf("%d messages of %s, want %d", len(got), queue, want)
			}
		}
	})
}
