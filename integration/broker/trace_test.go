package broker

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// While the firehose is switched on, it copies published and delivered messages, also of existing channels; otherwise none.
func TestTrace_Firehose(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		conn := b.Connect()
		ch, watcher := conn.Open(), b.Connect().Open()
		ch.Exchange("x", "direct")
		ch.Declare("q", nil)
		ch.Bind("q", "k", "x")
		watcher.Declare("firehose", nil)
		watcher.Bind("firehose", "#", "amq.rabbitmq.trace")
		taken := ch.Tail("q")
		ch.Send("x", "k", testkit.Text("before"))
		testkit.Receive(b, taken)
		b.Advance(0) // the channel reads the trace setting only after the client has its message
		b.VHost().SetTracing(true)
		ch.Send("x", "k", amqp.Publishing{Body: []byte("seen"), MessageId: "m", Headers: amqp.Table{"h": "v"}})
		testkit.Receive(b, taken)
		b.Advance(0)
		b.VHost().SetTracing(false)
		ch.Send("x", "k", testkit.Text("after"))
		testkit.Receive(b, taken)
		b.Advance(0)
		var got []string
		for d := watcher.Fetch("firehose"); d != nil; d = watcher.Fetch("firehose") {
			got = append(got, d.RoutingKey+" "+string(d.Body))
			h := d.Headers
			properties, _ := h["properties"].(amqp.Table)
			if name, _ := h["connection"].(string); h["exchange_name"] != "x" || fmt.Sprint(h["routing_keys"]) != "[k]" || h["vhost"] != "/" ||
				h["user"] != "guest" || h["channel"] != int32(1) || h["node"] != "candlemark@localhost" || !strings.Contains(name, " -> ") ||
				properties["message_id"] != "m" || fmt.Sprint(properties["headers"]) != "map[h:v]" {
				t.Errorf("headers %v", h)
			}
			if routed, redelivered := fmt.Sprint(h["routed_queues"]), h["redelivered"]; strings.HasPrefix(d.RoutingKey, "publish") {
				if routed != "[q]" {
					t.Error("routed to", routed)
				}
			} else if redelivered != int32(0) {
				t.Error("redelivered", redelivered)
			}
		}
		if fmt.Sprint(got) != "[publish.x seen deliver.q seen]" {
			t.Error(got)
		}
	})
}

// Deliveries of the firehose itself are not traced.
func TestTrace_IsNotTraced(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("firehose", nil)
		ch.Bind("firehose", "#", "amq.rabbitmq.trace")
		b.VHost().SetTracing(true)
		copies := ch.Tail("firehose")
		ch.Send("", "nowhere", testkit.Text("m"))
		if d := testkit.Receive(b, copies); d.RoutingKey != "publish." {
			t.Error(d.RoutingKey)
		}
		testkit.Silent(b, copies, ms)
	})
}
