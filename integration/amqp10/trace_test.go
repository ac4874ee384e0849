package amqp10

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The firehose copies messages that links send and receive, as with channels, and redelivered ones.
func TestFirehose(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Exchange("x", "direct")
		ch.Declare("q", nil)
		ch.Bind("q", "k", "x")
		ch.Declare("firehose", nil)
		ch.Bind("firehose", "#", "amq.rabbitmq.trace")
		s, r := c.sender("/exchanges/x/k", nil), c.receiver("/queues/q", nil)
		c.put(s, "before")
		c.want(r, "before")
		b.Advance(0)
		b.VHost().SetTracing(true)
		seen := amqp.NewMessage([]byte("seen"))
		seen.Properties = &amqp.MessageProperties{MessageID: "m"}
		seen.ApplicationProperties = map[string]any{"h": "v"}
		c.send(s, seen)
		if m := c.next(r); m == nil || r.ReleaseMessage(t.Context(), m) != nil {
			t.Fatal(m)
		}
		c.want(r, "seen")
		b.Advance(0)
		b.VHost().SetTracing(false)
		c.put(s, "after")
		c.want(r, "after")
		b.Advance(0)
		var got []string
		for d := ch.Fetch("firehose"); d != nil; d = ch.Fetch("firehose") {
			h := d.Headers
			got = append(got, fmt.Sprintln(d.RoutingKey, string(d.Body), h["routed_queues"], h["redelivered"]))
			properties, _ := h["properties"].(amqp091.Table)
			if name, _ := h["connection"].(string); h["exchange_name"] != "x" || fmt.Sprint(h["routing_keys"]) != "[k]" || h["vhost"] != "/" ||
				h["user"] != "guest" || h["channel"] != int32(0) || h["node"] != "candlemark@localhost" || !strings.Contains(name, " -> ") ||
				properties["message_id"] != "m" || !strings.Contains(fmt.Sprint(properties["headers"]), "h:v") {
				t.Errorf("headers %v", h)
			}
		}
		if want := []string{"publish.x seen [q] <nil>\n", "deliver.q seen <nil> 0\n", "deliver.q seen <nil> 1\n"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// Deliveries of the firehose itself on a link are not traced.
func TestFirehose_IsNotTraced(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("firehose", nil)
		ch.Bind("firehose", "#", "amq.rabbitmq.trace")
		b.VHost().SetTracing(true)
		r, s := c.receiver("/queues/firehose", nil), c.sender("/exchanges/amq.direct/nowhere", nil)
		c.send(s, amqp.NewMessage([]byte("m")))
		c.want(r, "m")
		if m := c.next(r); m != nil {
			t.Errorf("%s", m.GetData())
		}
	})
}
