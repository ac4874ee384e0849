package amqp10

import (
	"context"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// topicWith declares a topic with a subscription, as the administration API does.
func topicWith(b *testkit.Bubble, topic, subscription string) {
	b.Helper()
	ch := b.Connect().Open()
	if err := ch.ExchangeDeclare(topic, "x-rules", true, false, false, false, nil); err != nil {
		b.Fatal(err)
	}
	queue := topic + "/Subscriptions/" + subscription
	_, err := ch.QueueDeclare(queue, true, false, false, false, amqp091.Table{
		"x-queue-type": "quorum", "x-consumer-timeout": int32(60000), "x-dead-letter-queue": true, "x-delayed-messages": true,
	})
	if err == nil {
		err = ch.QueueBind(queue, "$Default", topic, false, nil)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// As in Service Bus, names of entities are case-insensitive.
func TestEntity_Names_SBE5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		topicWith(b, "Events", "Audit")
		c.put(c.sender("Q", nil), "m")
		c.want(c.receiver("Q", second(1)), "m")
		if code, _ := c.node("Q").ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)}); code != 204 {
			t.Errorf("peek: %d", code)
		}
		c.put(c.sender("EVENTS", nil), "e")
		r := c.receiver("events/subscriptions/AUDIT", second(1))
		m := c.next(r)
		if m == nil {
			t.Fatal("nothing")
		}
		if err := r.RejectMessage(context.Background(), m, nil); err != nil {
			t.Fatal(err)
		}
		c.want(c.receiver("events/Subscriptions/audit/$deadletterqueue", second(1)), "e")
		for _, none := range []string{"qq", "Events/Subscriptions/None", "Audit"} {
			if _, err := c.begin().NewReceiver(context.Background(), none, second(1)); condition(err) != amqp.ErrCondNotFound {
				t.Errorf("%s: %v", none, err)
			}
		}
		for audience, want := range map[string]int32{"sb://host/Q": 202, "sb://host/none": 404} {
			if code := c.cbs().put(audience, token("guest", "", time.Hour)); code != want && code != 401 { // guest has no key
				t.Errorf("%s: %d", audience, code)
			}
		}
	})
}

// The client for .NET prefixes the addresses of its links with a slash, and puts a token for each of them first.
func TestEntity_SlashInFront_SBE6(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		entity(b)
		topicWith(b, "t", "s")
		user(b, "app", ".*", ".*", ".*")
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		if _, err := c.begin().NewSender(context.Background(), "/q", nil); condition(err) != "amqp:invalid-field" {
			t.Errorf("without a token it is an address of RabbitMQ's: %v", err)
		}
		tokens := c.cbs()
		for _, entity := range []string{"q", "t", "t/Subscriptions/s", "Q/$DeadLetterQueue"} {
			if code := tokens.put("sb://host/"+entity, token("app", entity, time.Hour)); code != 202 {
				t.Fatalf("%s: %d", entity, code)
			}
		}
		c.put(c.sender("/q", nil), "m")
		r := c.receiver("/Q", second(1))
		m := c.next(r)
		if m == nil {
			t.Fatal("nothing")
		}
		if err := r.RejectMessage(context.Background(), m, nil); err != nil {
			t.Fatal(err)
		}
		c.want(c.receiver("/q/$DeadLetterQueue", second(1)), "m")
		c.put(c.sender("/t", nil), "e")
		c.want(c.receiver("/t/Subscriptions/s", second(1)), "e")
		c.put(c.sender("/queues/q", nil), "r") // an address of RabbitMQ's dialect
		if _, err := c.begin().NewSender(context.Background(), "/other", nil); condition(err) != "amqp:invalid-field" {
			t.Errorf("%v", err)
		}
		if code := tokens.put("sb://host/", token("app", "", time.Hour)); code != 202 {
			t.Fatal(code)
		}
		if _, err := c.begin().NewSender(context.Background(), "/other", nil); condition(err) != amqp.ErrCondNotFound {
			t.Errorf("%v", err)
		}
	})
}

// Refusals of keys and tokens have Service Bus's texts, which its clients parse.
func TestEntity_RefusedInItsWords_SBT4(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		entity(b)
		b.Log.Allow("link detached by the broker", "access refused", "not accepted")
		user(b, "sends", "^$", ".*", "^$")
		user(b, "listens", "^$", "^$", ".*")
		as := func(name string) *client {
			c := connect(b, nil)
			if code := c.cbs().put("sb://host/q", token(name, "q", time.Hour)); code != 202 {
				t.Fatal(code)
			}
			return c
		}
		says := func(err error, words string) {
			t.Helper()
			if condition(err) != amqp.ErrCondUnauthorizedAccess || !strings.Contains(err.Error(), words) {
				t.Errorf("%v", err)
			}
		}
		sends, listens := as("sends"), as("listens")
		_, err := sends.session.NewReceiver(context.Background(), "q", second(1))
		says(err, "Unauthorized access. 'Listen' claim(s) are required to perform this operation")
		_, err = listens.session.NewSender(context.Background(), "q", nil)
		says(err, "Unauthorized access. 'Send' claim(s) are required to perform this operation")
		tokens := sends.cbs()
		for words, bad := range map[string]string{
			"ExpiredToken: The token is expired. Expiration time:":  token("sends", "q", -time.Hour),
			"InvalidSignature: The token has an invalid signature.": strings.Replace(token("sends", "q", -time.Hour), "sig=", "sig=AAAA", 1),
		} {
			code, text := tokens.answered("sb://host/q", bad)
			if code != 401 || !strings.Contains(text, words) {
				t.Errorf("%d %s", code, text)
			}
		}
		for _, c := range []*client{sends, listens} {
			_ = c.conn.Close()
		}
	})
}
