package broker

import (
	"math/rand/v2"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// undoLast undoes the last change of policies.
func undoLast(b *testkit.Bubble) { undoEarlier(b, 0) }

// undoEarlier undoes the change of policies that is so many before the last.
func undoEarlier(b *testkit.Bubble, n uint64) {
	b.Helper()
	all, err := b.Node.API().PolicyHistory(b.Context(), "/")
	if err != nil || len(all) == 0 {
		b.Fatalf("%d changes, %v", len(all), err)
	}
	last := all[0].ID
	for _, c := range all {
		last = max(last, c.ID)
	}
	if _, err := b.Node.API().UndoPolicyChange(b.Context(), "/", last-n, true); err != nil {
		b.Fatal(err)
	}
}

// retroactiveTTL is a policy for all queues but dead.
const retroactiveTTL = `{"pattern":"^q","apply-to":"queues","definition":{"message-ttl":8000,"message-ttl-retroactive":true}}`

// ttlOfMany has queues with all kinds of TTLs, and the TTL of a message in each, 0 for none.
var ttlOfMany = map[string]time.Duration{
	"q": 0, "q own": time.Minute, "q strict": time.Minute, "q argument": 30 * time.Second, "q quorum": 30 * time.Second, "q operator": 40 * time.Second, "q capped": 50 * time.Second,
}

// publishedToMany declares these queues, and publishes a message to each. It returns when.
func publishedToMany(b *testkit.Bubble) (entered map[string]int64) {
	ch := b.Connect().Open()
	b.SetPolicy("cap", `{"pattern":"^capped$","apply-to":"exchanges","definition":{"message-ttl":50000}}`)
	setOperatorPolicy(b, "/", "operator", `{"pattern":"^q operator$","apply-to":"queues","definition":{"message-ttl":40000}}`)
	durable(b, ch, "dead", nil)
	durableExchange(b, ch, "capped", "fanout")
	durable(b, ch, "q", deadTo("dead"))
	durable(b, ch, "q own", deadTo("dead"))
	durable(b, ch, "q strict", deadTo("dead", "x-expiry-order", "strict"))
	durable(b, ch, "q argument", deadTo("dead", "x-message-ttl", int64(30_000)))
	durable(b, ch, "q quorum", deadTo("dead", "x-queue-type", "quorum", "x-message-ttl", int64(30_000)))
	durable(b, ch, "q operator", deadTo("dead"))
	durable(b, ch, "q capped", deadTo("dead"))
	ch.Bind("q capped", "", "capped")
	entered = map[string]int64{}
	for q := range ttlOfMany {
		exchange, own := "", ""
		switch q {
		case "q own", "q strict":
			own = "60000"
		case "q capped":
			exchange = "capped"
		}
		entered[q] = time.Now().UnixMilli()
		stores(b, ch, exchange, q, persistent(q, own))
	}
	return entered
}

// A retroactive TTL taken back in any way, before or after restarts, leaves each queued message the deadline of its
// entry, from any source (TTL-25, POL-21).
func TestTTL25_Undone(t *testing.T) {
	back := map[string]func(b *testkit.Bubble){
		"undone":  undoLast,
		"cleared": func(b *testkit.Bubble) { b.ClearPolicy("p") },
		"not retroactive": func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^q","definition":{"message-ttl":8000}}`)
		},
		"for other queues": func(b *testkit.Bubble) {
			b.SetPolicy("p", `{"pattern":"^r","definition":{"message-ttl":8000,"message-ttl-retroactive":true}}`)
		},
		"outranked": func(b *testkit.Bubble) {
			b.SetPolicy("o", `{"pattern":"^q","definition":{"max-length":99},"priority":9}`)
		},
		"a later change undone, too": func(b *testkit.Bubble) {
			b.SetPolicy("p", retroactiveTTL[:len(retroactiveTTL)-2]+`,"max-length":99}}`)
			undoLast(b)
			undoEarlier(b, 2)
		},
	}
	for name, take := range back {
		for _, restarts := range [][2]func(*testkit.Bubble){{}, {crash, nil}, {stopAndStart, nil}, {nil, crash}, {crash, stopAndStart}} {
			t.Run(name, func(t *testing.T) {
				testkit.RunStored(t, nil, func(b *testkit.Bubble) {
					entered := publishedToMany(b)
					b.Advance(time.Second)
					b.SetPolicy("p", retroactiveTTL)
					b.Advance(time.Second)
					for q := range ttlOfMany {
						if at := b.Describe(q).Expiring.Next; at < entered[q]+8000 || at > entered[q]+8100 {
							t.Fatalf("%s expires after %d ms", q, at-entered[q])
						}
					}
					for i, restart := range restarts {
						if restart != nil {
							restart(b)
						}
						if i == 0 {
							take(b)
						}
					}
					b.AdvanceTo(10 * time.Second)
					for q, ttl := range ttlOfMany {
						d := b.Describe(q)
						at := time.Duration(d.Expiring.Next-entered[q]) * ms
						if d.Expiring.Next == 0 {
							at = 0
						}
						if d.Ready != 1 || at < ttl || at > ttl+100*ms {
							t.Errorf("%s: %d messages, expiring after %v, want %v", q, d.Ready, at, ttl)
						}
					}
				})
			})
		}
	}
}

func crash(b *testkit.Bubble)        { b.Crash(0) }
func stopAndStart(b *testkit.Bubble) { b.Restart(0) }

// After any changes of policies, undone again, and restarts of the broker, the queue has the same messages as a queue
// whose policies never changed, as long as no TTL has passed in between (TTL-25).
func TestTTL25_UndoneAtRandom(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		defer func() {
			if b.Failed() {
				b.Logf("seed %d", seed)
			}
		}()
		ch := b.Connect().Open()
		durable(b, ch, "q", nil)
		durable(b, ch, "q quorum", amqp.Table{"x-queue-type": "quorum"})
		for range 100 {
			for _, q := range []string{"q", "q quorum"} {
				stores(b, ch, "", q, persistent("m", []string{"", "7200000"}[r.IntN(2)]))
			}
		}
		changes := 0
		for range 60 {
			switch r.IntN(6) {
			case 0, 1, 2:
				changes++
				b.SetPolicy("p", `{"pattern":"^q","priority":`+string(rune('0'+changes%10))+`,"definition":{"message-ttl":`+[]string{"3000000", "1800000"}[r.IntN(2)]+
					`,"message-ttl-retroactive":`+[]string{"true", "false"}[r.IntN(2)]+`}}`)
			case 3, 4:
				if changes > 0 {
					changes--
					undoLast(b)
				}
			case 5:
				[]func(*testkit.Bubble){crash, stopAndStart}[r.IntN(2)](b)
			}
			b.Advance(time.Duration(r.IntN(5000)) * ms)
		}
		b.SetPolicy("p", `{"pattern":"^q","definition":{"max-length":1000000}}`)
		b.AdvanceTo(time.Hour)
		for _, q := range []string{"q", "q quorum"} {
			if n := b.Describe(q).Ready; n != 100 {
				t.Errorf("%s: %d of 100 are left", q, n)
			}
		}
	})
}
