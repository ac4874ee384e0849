package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// drained describes what is in a queue: bodies, whether they are redelivered, and the number of earlier deliveries.
func drained(b *testkit.Bubble, ch *testkit.Channel, queue string) string {
	b.Helper()
	synctest.Wait()
	var all []string
	for d := ch.Fetch(queue); d != nil; d = ch.Fetch(queue) {
		all = append(all, fmt.Sprintf("%s %v %v", d.Body, d.Redelivered, d.Headers["x-delivery-count"]))
	}
	return strings.Join(all, ", ")
}

// After a restart or a crash a quorum queue has messages of any delivery mode as it has persistent ones: at their positions, by
// priority, with their deadlines, delivery counts and the mark of redelivered ones; also if it was dormant before.
func TestSTORE1_AsPersistentOnes(t *testing.T) {
	for _, mode := range []uint8{0, amqp.Transient, amqp.Persistent} {
		again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
			durable(b, ch, "q", amqp.Table{"x-queue-type": "quorum"})
			b.Advance(time.Minute)
			m := func(body, ttl string, priority uint8) amqp.Publishing {
				return amqp.Publishing{Body: []byte(body), DeliveryMode: mode, Expiration: ttl, Priority: priority}
			}
			stores(b, ch, "", "q", m("1", "", 0), m("2", "", 0), m("short", "4000", 0), m("urgent", "", 9), m("long", "12000", 0), m("3", "", 0))
			for range 2 { // the most urgent one comes back twice
				d, ok, err := ch.Get("q", false)
				if err != nil || !ok || string(d.Body) != "urgent" || d.Reject(true) != nil {
					b.Fatal(string(d.Body), err)
				}
			}
			deliveries := ch.Subscribe("q", 2) // these are unacked at the end
			first, second := <-deliveries, <-deliveries
			if got := string(first.Body) + string(second.Body); got != "urgent1" {
				b.Error(got)
			}
			b.Advance(time.Second) // the journal has the deliveries
		}, 5*time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
			if got, err := ch.QueueDeclarePassive("q", true, false, false, false, nil); err != nil || got.Messages != 5 {
				b.Errorf("%d messages, %v", got.Messages, err)
			}
			b.Advance(time.Hour)
			want := "urgent true 2, 1 true <nil>, 2 false <nil>, 3 false <nil>"
			if strings.Contains(b.Name(), "stop") { // which returns the unacked ones
				want = "urgent true 3, 1 true 1, 2 false <nil>, 3 false <nil>"
			}
			if got := drained(b, ch, "q"); got != want {
				b.Errorf("mode %d: %s\nwant %s", mode, got, want)
			}
		})
	}
}

// A durable delayed exchange holds and releases transient messages over two power cuts; then each queue decides anew: the quorum
// queue keeps them, the classic queue does not.
func TestSTORE1_DelayedExchange(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if err := declareDelayed(ch, "later", "fanout"); err != nil {
			b.Fatal(err)
		}
		durable(b, ch, "quorum", amqp.Table{"x-queue-type": "quorum"})
		durable(b, ch, "classic", nil)
		ch.Bind("quorum", "", "later")
		ch.Bind("classic", "", "later")
		for body, delay := range map[string]int32{"soon": 5000, "late": 30_000} {
			m := held(body, delay)
			m.DeliveryMode = amqp.Transient
			stores(b, ch, "later", "", m)
		}
		b.Crash(10 * time.Second)
		expectHeld(b, "later", 1)
		both := func(want string) {
			b.Helper()
			synctest.Wait()
			ch := b.Connect().Open()
			var got []string
			for _, name := range []string{"quorum", "classic"} {
				q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
				if err != nil {
					b.Fatal(err)
				}
				got = append(got, fmt.Sprint(q.Messages))
			}
			if strings.Join(got, " ") != want {
				b.Errorf("%v messages, want %s", got, want)
			}
		}
		b.Advance(time.Second)
		both("1 1")
		b.Crash(0)
		both("1 0")
		b.Advance(20 * time.Second)
		both("2 1")
		d := b.Connect().Open().Fetch("classic")
		if string(d.Body) != "late" || d.DeliveryMode != amqp.Transient {
			b.Errorf("%s with the delivery mode %d", d.Body, d.DeliveryMode)
		}
	})
}

// With at-least-once a quorum queue keeps a transient dead letter over a power cut until the next quorum queue has it on disk;
// that one and the dead-letter queue of a classic queue keep theirs over another one.
func TestSTORE1_DeadLetters(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		insisting(b, ch, amqp.Table{"x-message-ttl": 10})
		durable(b, ch, "plain", amqp.Table{"x-dead-letter-queue": true})
		stores(b, ch, "", "q", testkit.Text("1"), testkit.Text("2"))
		stores(b, ch, "", "plain", testkit.Expiring("3", "10"))
		b.Advance(time.Second)
		b.Crash(0)
		ch = b.Connect().Open()
		durable(b, ch, "dead", amqp.Table{"x-queue-type": "quorum"})
		durableExchange(b, ch, "dlx", "fanout")
		ch.Bind("dead", "", "dlx")
		b.Advance(time.Hour)
		b.Crash(0)
		ch = b.Connect().Open()
		expectDrained(b, ch, "dead", "1 2")
		expectDrained(b, ch, "plain.dlq", "3")
		expectDrained(b, ch, "q", "")
	})
}

// Transient messages of quorum queues that were purged, or acknowledged in a transaction, do not come back over a power cut right
// after the answer; without an answer they may.
func TestAnswersSurvive_DUR3(t *testing.T) {
	for name, end := range map[string]func(ch *testkit.Channel) error{
		"purge": func(ch *testkit.Channel) error {
			_, err := ch.QueuePurge("q", false)
			return err
		},
		"commit": func(ch *testkit.Channel) error {
			if err := ch.Tx(); err != nil {
				return err
			}
			for range 3 {
				d, _, err := ch.Get("q", false)
				if err == nil {
					err = d.Ack(false)
				}
				if err != nil {
					return err
				}
			}
			return ch.TxCommit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				durable(b, ch, "q", amqp.Table{"x-queue-type": "quorum"})
				stores(b, ch, "", "q", testkit.Text("1"), testkit.Text("2"), testkit.Text("3"))
				if err := end(b.Connect().Open()); err != nil {
					b.Fatal(err)
				}
				b.Crash(0)
				expectDrained(b, b.Connect().Open(), "q", "")
			})
		})
	}
}
