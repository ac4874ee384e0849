package broker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestPublishDeliverAckConfirm(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		client := b.Connect()
		ch := client.Open()
		ch.Confirms()
		ch.Declare("q", nil)
		deliveries := ch.Subscribe("q", 10)
		m := amqp.Publishing{
			Body: []byte("hello"), ContentType: "text/plain", CorrelationId: "7", Priority: 3,
			Headers: amqp.Table{"k": "v", "n": int64(5)},
		}
		if !ch.Publish("", "q", m) {
			t.Error("nack")
		}
		d := testkit.Receive(b, deliveries)
		if string(d.Body) != "hello" || d.ContentType != "text/plain" || d.CorrelationId != "7" || d.Priority != 3 ||
			d.Exchange != "" || d.RoutingKey != "q" || d.Redelivered || d.DeliveryTag != 1 ||
			d.Headers["k"] != "v" || d.Headers["n"] != int64(5) {
			t.Errorf("got %+v", d)
		}
		if info := b.Describe("q"); info.Ready != 0 || info.Unacked != 1 || info.Consumers != 1 {
			t.Errorf("before ack: %+v", info)
		}
		if err := d.Ack(false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if info := b.Describe("q"); info.Ready != 0 || info.Unacked != 0 {
			t.Errorf("after ack: %+v", info)
		}
		client.Leave()
		if b.Elapsed() > time.Second {
			t.Errorf("took %s of virtual time", b.Elapsed())
		}
	})
}

// Every publish is confirmed, with any outcome, and an unroutable mandatory message is returned before its ack (PRO-6).
func TestConfirmsAndReturns(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		if _, err := ch.QueueDeclare("durable", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Declare("full", amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
		ch.Exchange("fan", "fanout")
		for _, q := range []string{"q", "durable", "full"} {
			ch.Bind(q, "", "fan")
		}
		persistent := amqp.Publishing{Body: []byte("p"), DeliveryMode: amqp.Persistent}
		for i, tc := range []struct {
			exchange, key string
			m             amqp.Publishing
			ack, returned bool
		}{
			{"", "q", testkit.Text("transient"), true, false},
			{"", "durable", persistent, true, false},
			{"fan", "", persistent, true, false},
			{"fan", "", persistent, false, false}, // one of three refuses: DL-11
			{"", "nobody", testkit.Text("lost"), true, true},
			{"amq.direct", "nobody", testkit.Text("lost"), true, true},
			{"", "q", testkit.Expiring("0", "0"), true, false}, // TTL-21
		} {
			d := ch.Begin(tc.exchange, tc.key, true, tc.m)
			if ack := ch.Await(d); ack != tc.ack {
				t.Errorf("%d: ack %v, want %v", i, ack, tc.ack)
			}
			if len(ch.Returns) != map[bool]int{true: 1}[tc.returned] {
				t.Errorf("%d: %d returns", i, len(ch.Returns))
			} else if tc.returned {
				r := <-ch.Returns
				if r.ReplyCode != 312 || r.ReplyText != "NO_ROUTE" || r.RoutingKey != tc.key || r.Exchange != tc.exchange {
					t.Errorf("%d: %+v", i, r)
				}
			}
		}
		if got := b.Describe("durable").Ready; got != 3 {
			t.Errorf("durable has %d", got)
		}
	})
}

// No message is lost, duplicated or reordered between many publishes and many consumers with small prefetch.
func TestOrderAndCompleteness(t *testing.T) {
	const each, publishers = 2000, 4
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		setup := b.Connect().Open()
		setup.Declare("q", nil)
		sub := b.Connect().Open()
		deliveries := sub.Subscribe("q", 37)
		for p := range publishers {
			ch := b.Connect().Open()
			ch.Confirms()
			go func() {
				var last *amqp.DeferredConfirmation
				for i := range each {
					last = ch.Begin("", "q", false, testkit.Text(fmt.Sprintf("%d %d", p, i)))
				}
				if !ch.Await(last) {
					t.Error("nack")
				}
			}()
		}
		next := [publishers]int{}
		for n := range each * publishers {
			d := testkit.Receive(b, deliveries)
			var p, i int
			if _, err := fmt.Sscanf(string(d.Body), "%d %d", &p, &i); err != nil {
				t.Fatal(err)
			}
			if i != next[p] {
				t.Fatalf("publisher %d: got %d, want %d", p, i, next[p])
			}
			next[p]++
			if n%10 == 9 {
				if err := d.Ack(true); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		if info := b.Describe("q"); info.Ready+info.Unacked != 0 {
			t.Errorf("left: %+v", info)
		}
	})
}
