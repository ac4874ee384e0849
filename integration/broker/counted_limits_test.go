package broker

import (
	"net/http"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The limits with RabbitMQ's names refuse what is above them, with its texts, and allow what exists already.
func TestCountedLimits(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) {
		c.Limits.Consumers, c.Limits.NodeChannels, c.Limits.Queues, c.Limits.Exchanges, c.Limits.VHosts = 2, 3, 2, 9, 2
		c.Limits.Parameters = map[string]int{"policy": 1, "servicebus-entity": 1}
	}, func(b *testkit.Bubble) {
		b.Log.Allow("channel exception", "connection exception", "closing connection", "limit", "maximum")
		refused := func(what string, err error, want string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		keeper := b.Connect()
		ch := keeper.Open()
		for _, q := range []string{"a", "b", "a"} {
			if _, err := ch.QueueDeclare(q, false, false, false, false, nil); err != nil {
				t.Fatal(q, err)
			}
		}
		other := func() *amqp.Channel { return b.Connect().Open().Channel }
		_, err := other().QueueDeclare("c", false, false, false, false, nil)
		refused("a third queue", err, "cannot declare queue 'c': queue limit in cluster (2) is reached")
		if err := ch.ExchangeDeclare("x", "fanout", false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		err = other().ExchangeDeclare("y", "fanout", false, false, false, false, nil)
		refused("another exchange", err, "cannot declare exchange 'y' in vhost '/': exchange limit of 9 is reached")
		if err := ch.ExchangeDeclare("x", "fanout", false, false, false, false, nil); err != nil {
			t.Error("again:", err)
		}

		busy := b.Connect()
		consuming := busy.Open()
		for _, tag := range []string{"1", "2"} {
			if _, err := consuming.Consume("a", tag, false, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
		}
		_, err = consuming.Consume("b", "3", false, false, false, false, nil)
		refused("a third consumer", err, "reached maximum (2) of consumers per channel")

		last := b.Connect()
		last.Open()
		last.Open()
		_, err = last.Connection.Channel()
		refused("a fourth channel", err, "number of channels opened on node '")

		limitedOverHTTP(b)
	})
}

// limitedOverHTTP is TestCountedLimits for virtual hosts, policies and parameters.
func limitedOverHTTP(b *testkit.Bubble) {
	w := bubbleWeb(b)
	answers := func(status int, text, path, body string) {
		b.Helper()
		if r := w.ask("", "PUT", path, body); r.Code != status || !strings.Contains(r.Body.String(), text) {
			b.Errorf("%s: %d %s, want %d %s", path, r.Code, r.Body, status, text)
		}
	}
	answers(http.StatusCreated, "", "/api/vhosts/two", `{}`)
	answers(http.StatusBadRequest, "cannot create vhost 'three': vhost limit of 2 is reached", "/api/vhosts/three", `{}`)
	answers(http.StatusNoContent, "", "/api/vhosts/two", `{}`)
	answers(http.StatusCreated, "", "/api/policies/%2F/p", `{"pattern":"x","definition":{"max-length":1}}`)
	answers(http.StatusNoContent, "", "/api/policies/%2F/p", `{"pattern":"x","definition":{"max-length":2}}`)
	answers(http.StatusBadRequest, "component policy is limited to 1", "/api/policies/two/p", `{"pattern":"x","definition":{"max-length":1}}`)
	answers(http.StatusCreated, "", "/api/parameters/servicebus-entity/%2F/q", `{"value":{}}`)
	answers(http.StatusBadRequest, "component servicebus-entity is limited to 1", "/api/parameters/servicebus-entity/two/q", `{"value":{}}`)
}
