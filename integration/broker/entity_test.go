package broker

import (
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The TTL cap of an exchange stays with a message: to the millisecond, after a restart and a crash, and under a retroactive
// policy with a longer TTL (TTL-9, TTL-25, TTL-26). Messages published directly to the queue are not capped.
func TestTTL9CapOfAnExchange(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		b.SetPolicy("cap", `{"pattern":"^events$","apply-to":"exchanges","definition":{"message-ttl":10000}}`)
		durableExchange(b, ch, "events", "fanout")
		durable(b, ch, "q", deadTo("dead", "x-message-ttl-retroactive", true))
		durable(b, ch, "dead", nil)
		ch.Bind("q", "", "events")
		b.AdvanceTo(time.Second)
		stores(b, ch, "", "q", persistent("beside it", "20000"))
		stores(b, ch, "events", "", persistent("capped", "60000"), persistent("shorter", "4000"))
		b.SetPolicy("more", `{"pattern":"^q$","definition":{"message-ttl":60000}}`)
	}, time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
		arrivals := b.Connect().Open().Watch("dead")
		for _, want := range []struct {
			body, original string
			at             time.Duration
		}{{"shorter", "4000", 5 * time.Second}, {"capped", "60000", 11 * time.Second}, {"beside it", "20000", 21 * time.Second}} {
			a := testkit.Receive(b, arrivals)
			original := a.Headers["x-death"].([]any)[0].(amqp.Table)["original-expiration"]
			if string(a.Body) != want.body || a.At < want.at || a.At > want.at+20*ms || original != want.original { // the move to the dead-letter queue is stored first
				t.Errorf("%s at %s with %v, want %+v", a.Body, a.At, original, want)
			}
		}
	})
}

// A message keeps its deadline while it is forwarded through three queues, even if it waits for the last one (TTL-9, TTL-31).
func TestTTL9ForwardKeepsDeadlines(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		for _, x := range []string{"a", "b"} {
			ch.Exchange(x, "fanout")
		}
		ch.Declare("first", amqp.Table{"x-forward-to": "a", "x-message-ttl": 5000})
		ch.Declare("second", amqp.Table{"x-forward-to": "b", "x-expires": 60_000})
		ch.Declare("third", deadTo("dead"))
		ch.Declare("dead", nil)
		ch.Bind("second", "", "a")
		arrivals := b.Connect().Open().Watch("dead")
		b.AdvanceTo(time.Second)
		ch.Send("", "first", testkit.Text("the queue's"))
		ch.Send("", "first", testkit.Expiring("its own", "4000"))
		b.AdvanceTo(3 * time.Second)
		if n := b.Describe("second").Ready; n != 2 {
			t.Errorf("%d wait where their exchange leads nowhere", n)
		}
		ch.Bind("third", "", "b")
		for _, want := range []struct {
			body string
			at   time.Duration
		}{{"its own", 5 * time.Second}, {"the queue's", 6 * time.Second}} {
			a := testkit.Receive(b, arrivals)
			if string(a.Body) != want.body || a.At != want.at || a.Headers["x-first-death-queue"] != "third" {
				t.Errorf("%s at %s %v, want %+v", a.Body, a.At, a.Headers, want)
			}
		}
		b.Advance(10 * time.Minute) // LEASE-4: forwarding counts as use
		if b.Queue("second") == nil {
			t.Error("the lease of a queue that moves its messages on has ended")
		}
	})
}

// The dead-letter queue of a queue with a lease of a minute keeps its messages for days, even if a policy for all queues sets a
// lease and limits (DL-1, LEASE-6).
func TestDL1DeadLetterQueueStays(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		client := b.Connect()
		ch := client.Open()
		b.SetPolicy("all", `{"pattern":".*","definition":{"dead-letter-queue":true,"message-ttl":1000,"expires":60000,"max-length":1}}`)
		ch.Declare("q", nil)
		ch.Send("", "q", testkit.Text("overflown"))
		ch.Send("", "q", testkit.Text("expired"))
		b.AdvanceTo(time.Minute)
		if b.Queue("q") != nil {
			t.Error("the queue is still there")
		}
		client.Leave()
		b.Advance(10 * 24 * time.Hour)
		if got := b.Connect().Open().Drain("q.dlq"); len(got) != 2 || got[0] != "overflown" || got[1] != "expired" {
			t.Errorf("left: %q", got)
		}
	})
}
