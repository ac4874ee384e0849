package broker

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Peeking by number shows messages in any state, in the order of arrival (LOCK-6), and a publish with an id that was
// already accepted is confirmed and dropped (DUP-1).
func TestHTTPPeekByNumber_LOCK6_DUP1(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-delayed-messages": true, "x-max-priority": int32(5), "x-duplicate-detection-window": int32(60_000)})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("locked"), MessageId: "1"})
		if _, _, err := ch.Get("q", false); err != nil {
			t.Fatal(err)
		}
		ch.Publish("", "q", later("b", time.Hour))
		ch.Publish("", "q", amqp.Publishing{Body: []byte("ready"), MessageId: "2"})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("again"), MessageId: "1"})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("first"), Priority: 5})
		payloads := func(query string) string { return strings.Join(get[sights](w, messagesOfQ+query).payloads(), ",") }
		if got := payloads("?order=number"); got != "locked,body of b,ready,first" {
			t.Error(got)
		}
		page := get[sights](w, messagesOfQ+"?order=number&limit=3")
		if got := payloads("?order=number&after=" + *page.Next); got != "first" {
			t.Error(got)
		}
		if got := payloads("?order=number&state=ready"); got != "ready,first" {
			t.Error(got)
		}
		b.Advance(time.Minute)
		ch.Publish("", "q", amqp.Publishing{Body: []byte("again"), MessageId: "1"})
		if got := payloads("?order=number&state=ready"); got != "ready,first,again" {
			t.Error(got)
		}
		if q := get[map[string]any](w, "/api/queues/%2F/q"); q["messages_deferred"] != 0.0 {
			t.Errorf("%v deferred", q["messages_deferred"])
		}
	})
}
