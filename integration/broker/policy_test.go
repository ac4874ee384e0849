package broker

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A message-ttl policy applies to later publishes only (POL-9, POL-10, TTL-24).
func TestTTL24PolicyChange(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead"))
		arrivals := b.Connect().Open().Watch("dead")
		due := map[string]time.Duration{}
		publish := func(body string, ttl time.Duration) {
			if !ch.Publish("", "q", testkit.Text(body)) {
				t.Error("nack")
			}
			due[body] = b.Elapsed() + ttl
		}
		b.AdvanceTo(time.Second)
		publish("before", 0)
		b.SetPolicy("p", `{"pattern":"^q$","definition":{"message-ttl":5000}}`)
		publish("first", 5*time.Second)
		b.AdvanceTo(2 * time.Second)
		b.SetPolicy("p", `{"pattern":"^q$","definition":{"message-ttl":60000}}`)
		publish("second", time.Minute)
		b.SetPolicy("p", `{"pattern":"^other$","definition":{"message-ttl":1}}`)
		publish("unmatched", 0)
		b.SetPolicy("better", `{"pattern":"q","definition":{"message-ttl":3000},"priority":7,"apply-to":"queues"}`)
		publish("third", 3*time.Second)
		b.ClearPolicy("better")
		publish("after", 0)
		for _, body := range []string{"third", "first", "second"} {
			a := testkit.Receive(b, arrivals)
			if string(a.Body) != body || a.At != due[body] {
				t.Errorf("%s at %s, want %s at %s", a.Body, a.At, body, due[body])
			}
		}
		testkit.Silent(b, arrivals, time.Hour)
		if got := ch.Drain("q"); len(got) != 3 {
			t.Errorf("left: %v", got)
		}
	})
}

// The smaller value of argument and policy applies (TTL-9, LEASE-2).
func TestPOL8Merge(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		b.SetPolicy("p", `{"pattern":".","definition":{"message-ttl":2000,"expires":10000}}`)
		ch.Declare("dead", amqp.Table{"x-expires": 3_600_000})
		ch.Declare("less", amqp.Table{"x-expires": 8000, "x-message-ttl": 500})
		ch.Declare("more", amqp.Table{"x-expires": 20_000, "x-message-ttl": 9000})
		for _, q := range []string{"less", "more"} {
			ch.Send("", q, testkit.Text("m"))
		}
		synctest.Wait()
		for _, tc := range []struct {
			at         time.Duration
			less, more int
		}{{499 * ms, 1, 1}, {500 * ms, 0, 1}, {1999 * ms, 0, 1}, {2000 * ms, 0, 0}} {
			b.AdvanceTo(tc.at)
			if less, more := b.Describe("less").Ready, b.Describe("more").Ready; less != tc.less || more != tc.more {
				t.Errorf("at %s: less %d, more %d", tc.at, less, more)
			}
		}
		ends(b, "less", 8*time.Second)
		ends(b, "more", 10*time.Second)
	})
}

// Any change of the matching policy restarts the lease; setting equal values or another queue's policy does not (LEASE-4, POL-9).
func TestLEASE4PolicyChange(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(b *testkit.Bubble)
		ends   time.Duration
	}{
		"unrelated key": {func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^q","definition":{"expires":900,"max-length":5}}`)
		}, 1500 * ms},
		"same value": {func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^q","definition":{"expires":900}}`)
		}, 900 * ms},
		"another queue's": {func(b *testkit.Bubble) {
			b.SetPolicy("other", `{"pattern":"^z","definition":{"expires":1}}`)
		}, 900 * ms},
		"longer": {func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^q","definition":{"expires":5000}}`)
		}, 5600 * ms},
		"shorter": {func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^q","definition":{"expires":100}}`)
		}, 700 * ms},
		"cleared": {func(b *testkit.Bubble) { b.ClearPolicy("p") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				b.SetPolicy("p", `{"pattern":"^q","definition":{"expires":900}}`)
				b.Connect().Open().Declare("q", nil)
				b.AdvanceTo(600 * ms)
				tc.change(b)
				if tc.ends > 0 {
					ends(b, "q", tc.ends)
					return
				}
				b.Advance(1000 * time.Hour)
				if b.Queue("q") == nil {
					t.Error("the queue has expired without a lease")
				}
			})
		})
	}
}

// Changed limits take effect at once, and excess messages are dead-lettered to the policy's exchange (POL-9).
func TestPOL9Limits(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		ch.Declare("q", nil)
		for _, m := range []string{"1", "2", "3", "4"} {
			ch.Publish("", "q", testkit.Text(m))
		}
		b.SetPolicy("p", `{"pattern":"^q$","definition":{"max-length":1,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}}`)
		synctest.Wait()
		if got := ch.Drain("dead"); len(got) != 3 || got[0] != "1" || got[2] != "3" {
			t.Errorf("dead: %v", got)
		}
		if got := ch.Drain("q"); len(got) != 1 || got[0] != "4" {
			t.Errorf("left: %v", got)
		}
	})
}

// The new snapshot of an exchange is in use when the policy is answered: the next publish is routed to the alternate exchange
// (PRO-15).
func TestPolicyAlternateExchange(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Exchange("x", "direct")
		ch.Declare("rest", nil)
		ch.Bind("rest", "", "amq.fanout")
		for round := range 50 {
			b.SetPolicy("ae", `{"pattern":"^x$","apply-to":"exchanges","definition":{"alternate-exchange":"amq.fanout"}}`)
			ch.Await(ch.Begin("x", "k", true, testkit.Text("m")))
			b.ClearPolicy("ae")
			ch.Await(ch.Begin("x", "k", true, testkit.Text("m")))
			if len(ch.Returns) != 1 {
				t.Fatalf("round %d: %d returns", round, len(ch.Returns))
			}
			<-ch.Returns
		}
		if n := b.Describe("rest").Ready; n != 50 {
			t.Errorf("%d went to the alternate exchange", n)
		}
	})
}
