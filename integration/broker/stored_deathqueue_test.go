package broker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestDeadLetterQueueThatIsNotStored: durable queues start whether or not their dead-letter queues were stored, and messages that
// expired while the broker was off are dead-lettered to these queues.
func TestDeadLetterQueueThatIsNotStored(t *testing.T) {
	for name, dlq := range map[string]func(b *testkit.Bubble, ch *testkit.Channel, name string){
		"transient": func(b *testkit.Bubble, ch *testkit.Channel, name string) { ch.Declare(name, nil) },
		"exclusive": func(b *testkit.Bubble, ch *testkit.Channel, name string) {
			if _, err := ch.QueueDeclare(name, false, false, true, false, nil); err != nil {
				b.Fatal(err)
			}
		},
		"quorum": func(b *testkit.Bubble, ch *testkit.Channel, name string) {
			durable(b, ch, name, amqp.Table{"x-queue-type": "quorum"})
		},
		"auto-delete": func(b *testkit.Bubble, ch *testkit.Channel, name string) {
			if _, err := ch.QueueDeclare(name, true, true, false, false, nil); err != nil {
				b.Fatal(err)
			}
		},
		"made": func(*testkit.Bubble, *testkit.Channel, string) {},
	} {
		t.Run(name, func(t *testing.T) { deadLetterQueueOfKind(t, dlq) })
	}
}

func deadLetterQueueOfKind(t *testing.T, dlq func(b *testkit.Bubble, ch *testkit.Channel, name string)) {
	const queues = 12
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		for i := range queues {
			name := fmt.Sprintf("orders-%d", i)
			dlq(b, ch, name+".dlq")
			durable(b, ch, name, amqp.Table{"x-dead-letter-queue": true})
			stores(b, ch, "", name, persistent("dies", "1000"), persistent("stays", ""))
		}
	}, time.Minute, func(b *testkit.Bubble, ch *testkit.Channel) {
		b.Advance(time.Second) // until dead letters are stored
		for i := range queues {
			name := fmt.Sprintf("orders-%d", i)
			if got := ch.Drain(name); !slices.Equal(got, []string{"stays"}) {
				b.Errorf("%s has %q", name, got)
			}
			if got := ch.Drain(name + ".dlq"); !slices.Equal(got, []string{"dies"}) {
				b.Errorf("%s.dlq has %q", name, got)
			}
		}
	})
}

// TestDeadLetterQueuesByPolicyAtTheStart: at the start a queue gets its dead-letter queue by a policy, even if the policy was set
// after the queue was stored.
func TestDeadLetterQueuesByPolicyAtTheStart(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		ch.Declare("q.dlq", nil)
		durable(b, ch, "q", nil)
		durable(b, ch, "other", nil)
		b.SetPolicy("p", `{"pattern":"^(q|other)$","definition":{"dead-letter-queue":true}}`)
		stores(b, ch, "", "q", persistent("dies", "1000"))
	}, time.Minute, func(b *testkit.Bubble, ch *testkit.Channel) {
		b.Advance(time.Second) // until dead letters are stored
		if got := ch.Drain("q.dlq"); !slices.Equal(got, []string{"dies"}) {
			b.Errorf("q.dlq has %q", got)
		}
		if q := b.Queue("other.dlq"); q == nil || !q.Durable {
			b.Errorf("the dead-letter queue of the other: %+v", q)
		}
	})
}
