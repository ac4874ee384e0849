package broker

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// typed is a broker with a queue "dead", and a function to declare queues of one type that dead-letter to it.
type typed struct {
	*testkit.Bubble
	*testkit.Channel
	kind string
}

func (q *typed) queue(name string, more ...any) {
	q.Helper()
	args := deadTo("dead", append(more, "x-queue-type", q.kind)...)
	durable(q.Bubble, q.Channel, name, args)
}

// counts checks the numbers of ready messages in q and in dead.
func (q *typed) counts(at time.Duration, ready, dead int) {
	q.Helper()
	q.AdvanceTo(at)
	if r, d := q.Describe("q").Ready, q.Describe("dead").Ready; r != ready || d != dead {
		q.Errorf("%v: %d ready, %d dead, want %d and %d", at, r, d, ready, dead)
	}
}

// The rules for queues apply to classic and quorum queues alike. RabbitMQ's quorum queues are more limited: their leases are
// checked every five seconds, and a declare does not renew them (LEASE-12).
func TestBothTypes(t *testing.T) {
	const at = time.Second // start of every test, a whole millisecond
	tests := map[string]func(q *typed){
		"TTL-9 TTL-10 the shorter counts": func(q *typed) {
			q.queue("q", "x-message-ttl", 300)
			for _, own := range []string{"200", "900", ""} {
				q.Send("", "q", testkit.Expiring("m", own))
			}
			q.counts(at+199*ms, 3, 0)
			q.counts(at+200*ms, 2, 1)
			q.counts(at+300*ms, 0, 3)
		},
		"TTL-15 TTL-16 unacknowledged": func(q *typed) {
			q.queue("q")
			for _, own := range []string{"100", "100", "2000"} {
				q.Send("", "q", testkit.Expiring(own, own))
			}
			synctest.Wait()
			var held []amqp.Delivery
			for range 3 {
				d, _, _ := q.Get("q", false)
				held = append(held, d)
			}
			q.counts(at+500*ms, 0, 0)
			_ = held[0].Ack(false)
			for _, d := range held[1:] {
				_ = d.Nack(false, true)
			}
			q.counts(at+500*ms, 1, 1)
			q.counts(at+1999*ms, 1, 1)
			q.counts(at+2000*ms, 0, 2)
		},
		"TTL-17 never handed over": func(q *typed) {
			q.queue("q")
			q.Send("", "q", testkit.Expiring("m", "100"))
			synctest.Wait()
			time.Sleep(100 * ms) // not settled: the queue's timer and the get race
			if d, ok, err := q.Channel.Channel.Get("q", true); ok || err != nil {
				q.Errorf("got %s, %v", d.Body, err)
			}
		},
		"TTL-20 TTL-21 TTL-23 nobody takes it": func(q *typed) {
			q.queue("q")
			q.Confirms()
			if !q.Await(q.Begin("", "q", true, testkit.Expiring("m", "0"))) || len(q.Returns) != 0 {
				q.Error("not confirmed, or returned")
			}
			q.counts(at+10*ms, 0, 1)
			if d := q.Fetch("q"); d != nil {
				q.Errorf("got %s", d.Body)
			}
		},
		"TTL-20 somebody takes it": func(q *typed) {
			q.queue("q", "x-message-ttl", 0)
			deliveries := q.Subscribe("q", 1)
			q.Send("", "q", testkit.Text("m"))
			d := testkit.Receive(q.Bubble, deliveries)
			q.AdvanceTo(at + time.Second)
			_ = d.Nack(false, true)                     // TTL-22
			testkit.Silent(q.Bubble, deliveries, 20*ms) // expired, not delivered again
			q.counts(at+1100*ms, 0, 1)
		},
		"TTL-24 a policy counts from then on": func(q *typed) {
			q.queue("q")
			q.Send("", "q", testkit.Text("before"))
			synctest.Wait()
			q.SetPolicy("p", `{"pattern":"^q$","definition":{"message-ttl":100}}`)
			q.Send("", "q", testkit.Text("while"))
			synctest.Wait()
			q.ClearPolicy("p")
			q.Send("", "q", testkit.Text("after"))
			q.counts(at+time.Minute, 2, 1)
			if got := q.Drain("q"); !slices.Equal(got, []string{"before", "after"}) {
				q.Errorf("left: %v", got)
			}
		},
		"TTL-25 retroactively": func(q *typed) {
			q.queue("q")
			q.Send("", "q", testkit.Text("plain"))
			q.Send("", "q", testkit.Expiring("own", "150"))
			q.AdvanceTo(at + 100*ms)
			q.SetPolicy("p", `{"pattern":"^q$","definition":{"message-ttl":200,"message-ttl-retroactive":true}}`)
			q.counts(at+149*ms, 2, 0)
			q.counts(at+150*ms, 1, 1)
			q.counts(at+200*ms, 0, 2)
		},
		"TTL-18 TTL-30 strict order on request": func(q *typed) {
			q.queue("q", "x-expiry-order", "strict")
			q.Send("", "q", testkit.Expiring("m", "2000"))
			q.Send("", "q", testkit.Expiring("m", "200"))
			q.counts(at+700*ms, 2, 0)
			q.counts(at+2000*ms, 0, 2)
		},
		"TTL-30 TTL-31 any position, by deadline": func(q *typed) {
			arrivals := q.Connect().Open().Watch("dead")
			q.queue("q")
			for _, own := range []string{"600", "100", "300", "100"} {
				q.Send("", "q", testkit.Expiring(own, own))
			}
			for i, want := range []int{100, 100, 300, 600} {
				a := testkit.Receive(q.Bubble, arrivals)
				if string(a.Body) != strconv.Itoa(want) || a.At != at+time.Duration(want)*ms {
					q.Errorf("%d: %s at %v, want %d", i, a.Body, a.At, want)
				}
			}
		},
		"LEASE-3 LEASE-12 it ends to the millisecond": func(q *typed) {
			q.queue("q", "x-expires", 900)
			ends(q.Bubble, "q", at+900*ms)
		},
		"LEASE-4 LEASE-12 a declare renews it": func(q *typed) {
			q.queue("q", "x-expires", 900)
			for range 10 {
				q.Advance(600 * ms)
				q.queue("q", "x-expires", 900)
			}
			ends(q.Bubble, "q", at+6900*ms)
		},
		"LEASE-4 LEASE-12 a get renews it": func(q *typed) {
			q.queue("q", "x-expires", 900)
			q.AdvanceTo(at + 600*ms)
			q.Fetch("q")
			ends(q.Bubble, "q", at+1500*ms)
		},
		"LEASE-3 LEASE-4 a consumer holds it": func(q *typed) {
			q.queue("q", "x-expires", 900)
			q.Subscribe("q", 1)
			q.AdvanceTo(at + time.Hour)
			if err := q.Cancel("q-a", false); err != nil {
				q.Error(err)
			}
			ends(q.Bubble, "q", at+time.Hour+900*ms)
		},
		"LEASE-6 LEASE-7 it takes its messages along": func(q *typed) {
			q.queue("q", "x-expires", 900)
			for range 3 {
				q.Send("", "q", testkit.Text("m"))
			}
			synctest.Wait()
			d, _, _ := q.Get("q", false)
			ends(q.Bubble, "q", at+900*ms)
			_ = d.Ack(false)
			q.Declare("still open", nil)
			if n := q.Describe("dead").Ready; n != 0 {
				q.Errorf("%d dead", n)
			}
		},
		"DL-9 rejected, and in what order": func(q *typed) {
			q.queue("q")
			for i := range 3 {
				q.Send("", "q", testkit.Text(strconv.Itoa(i)))
			}
			synctest.Wait()
			for range 3 {
				d, _, _ := q.Get("q", false)
				_ = d.Reject(false)
			}
			q.counts(at+10*ms, 0, 3)
			for i := range 3 {
				if d := q.Fetch("dead"); string(d.Body) != strconv.Itoa(i) || deaths(*d) != "q/rejected×1 (q)" {
					q.Errorf("%s: %s", d.Body, deaths(*d))
				}
			}
		},
		"DL-10 DL-12 max-length": func(q *typed) {
			q.queue("q", "x-max-length", 1)
			q.Confirms()
			for i := range 3 {
				if !q.Publish("", "q", testkit.Text(strconv.Itoa(i))) {
					q.Error("nack")
				}
			}
			if got := q.Drain("dead"); !slices.Equal(got, []string{"0", "1"}) {
				q.Errorf("dead: %v", got)
			}
			d, _, _ := q.Get("q", false) // no longer counted as ready
			q.Publish("", "q", testkit.Text("3"))
			q.counts(at+50*ms, 1, 0)
			_ = d.Nack(false, true) // counted again: the head is dropped
			q.counts(at+50*ms, 1, 1)
			if got := q.Drain("q"); !slices.Equal(got, []string{"3"}) {
				q.Errorf("left: %v", got)
			}
		},
		"DL-6 DL-10 reject-publish": func(q *typed) {
			q.queue("q", "x-max-length", 1, "x-overflow", "reject-publish")
			q.Confirms()
			for i := range 3 {
				if ack := q.Publish("", "q", testkit.Text("m")); ack != (i == 0) {
					q.Errorf("%d: ack %v", i, ack)
				}
			}
			q.counts(at+50*ms, 1, 0)
		},
		"DL-7 DL-8 the argument's exchange, the policy's key": func(q *typed) {
			durable(q.Bubble, q.Channel, "q", amqp.Table{"x-queue-type": q.kind, "x-dead-letter-exchange": "", "x-message-ttl": 10})
			q.SetPolicy("p", `{"pattern":"^q$","definition":{"dead-letter-exchange":"amq.fanout","dead-letter-routing-key":"dead"}}`)
			q.Send("", "q", testkit.Text("m"))
			q.counts(at+time.Second, 0, 1)
		},
		"DL-13 a missing exchange, made again": func(q *typed) {
			durable(q.Bubble, q.Channel, "q", amqp.Table{"x-queue-type": q.kind, "x-dead-letter-exchange": "x", "x-message-ttl": 10})
			make := func() {
				q.Exchange("x", "fanout")
				q.Bind("dead", "", "x")
			}
			q.Send("", "q", testkit.Text("lost"))
			q.counts(at+time.Second, 0, 0)
			make()
			q.Send("", "q", testkit.Text("1"))
			q.counts(at+2*time.Second, 0, 1)
			_ = q.ExchangeDelete("x", false, false)
			q.Send("", "q", testkit.Text("lost"))
			q.counts(at+3*time.Second, 0, 1)
			make()
			q.Send("", "q", testkit.Text("2"))
			q.counts(at+4*time.Second, 0, 2)
		},
		"DL-14 an internal exchange": func(q *typed) {
			durable(q.Bubble, q.Channel, "q", amqp.Table{"x-queue-type": q.kind, "x-dead-letter-exchange": "x", "x-message-ttl": 10})
			if err := q.ExchangeDeclare("x", "fanout", false, false, true, false, nil); err != nil {
				q.Fatal(err)
			}
			q.Bind("dead", "", "x")
			q.Send("", "q", testkit.Text("m"))
			q.counts(at+time.Second, 0, 1)
		},
		"DL-17 DL-18 DL-24 what is kept and what is not": func(q *typed) {
			q.queue("q")
			m := amqp.Publishing{
				Body: []byte("body"), Expiration: "10", DeliveryMode: amqp.Persistent, Priority: 7, Timestamp: time.Unix(1e9, 0).UTC(),
				CorrelationId: "c", ReplyTo: "r", MessageId: "i", Type: "t", AppId: "a", ContentType: "x/y", ContentEncoding: "e",
				Headers: amqp.Table{"mine": int32(1), "x-first-death-queue": "forged", "x-last-death-reason": "forged"},
			}
			q.Send("", "q", m)
			q.AdvanceTo(at + time.Second)
			d := q.Fetch("dead")
			if string(d.Body) != "body" || d.Expiration != "" || d.DeliveryMode != amqp.Persistent || d.Priority != 7 || !d.Timestamp.Equal(m.Timestamp) ||
				d.CorrelationId != "c" || d.ReplyTo != "r" || d.MessageId != "i" || d.Type != "t" || d.AppId != "a" || d.ContentType != "x/y" ||
				d.ContentEncoding != "e" || d.Headers["mine"] != int32(1) || d.Redelivered || history(*d) != "q expired  q expired " {
				q.Errorf("%+v, history %q", d, history(*d))
			}
		},
		"DL-21 again and again in the same queue": func(q *typed) {
			durable(q.Bubble, q.Channel, "q", deadTo("wait", "x-queue-type", q.kind))
			durable(q.Bubble, q.Channel, "wait", deadTo("q", "x-message-ttl", 5000, "x-queue-type", q.kind))
			q.Bind("q", "first", "amq.direct")
			q.Send("amq.direct", "first", testkit.Expiring("m", "9999"))
			synctest.Wait()
			died := time.Now().Unix()
			for n := range int64(3) {
				d, _, _ := q.Get("q", false)
				if n > 0 {
					want := fmt.Sprintf("wait/expired×%d (wait); q/rejected×%[1]d amq.direct(first) ttl=9999", n)
					if got := deaths(d); got != want {
						q.Errorf("round %d: %s, want %s", n, got, want)
					}
					list := d.Headers["x-death"].([]any)
					for i, first := range []int64{died + 5, died} {
						if at := list[i].(amqp.Table)["time"].(time.Time).Unix(); at != first {
							q.Errorf("round %d, entry %d: %d, first died at %d", n, i, at, first)
						}
					}
				}
				_ = d.Reject(false)
				q.Advance(5000 * ms)
			}
		},
		"DL-25 DL-26 cycles": func(q *typed) {
			q.queue("q")
			durable(q.Bubble, q.Channel, "self", deadTo("self", "x-message-ttl", 10, "x-queue-type", q.kind))
			q.Send("", "self", testkit.Text("m"))
			q.AdvanceTo(at + time.Second)
			if n := q.Describe("self").Ready; n != 0 || q.Log.Count("cycle") != 1 {
				q.Errorf("%d in the queue, %d warnings", n, q.Log.Count("cycle"))
			}
		},
	}
	for _, kind := range []string{"classic", "quorum"} {
		for name, test := range tests {
			t.Run(kind+"/"+name, func(t *testing.T) {
				testkit.Run(t, nil, func(b *testkit.Bubble) {
					q := &typed{b, b.Connect().Open(), kind}
					q.Declare("dead", nil)
					b.AdvanceTo(at)
					test(q)
				})
			})
		}
	}
}

// Differences of quorum queues: a TTL of 0, the dead-lettering strategy, the overflow decision, and the delivery limit.
func TestQuorumDiffers(t *testing.T) {
	overflow := func(ack bool) func(q *typed) {
		return func(q *typed) {
			q.queue("q", "x-max-length", 1, "x-overflow", "drop-head")
			q.SetPolicy("p", `{"pattern":"^q$","definition":{"overflow":"reject-publish"}}`)
			q.Confirms()
			q.Publish("", "q", testkit.Text("1"))
			if q.Publish("", "q", testkit.Text("2")) != ack {
				q.Errorf("ack %v", !ack)
			}
		}
	}
	for _, x := range []struct {
		name, kind string
		test       func(q *typed)
	}{
		{"TTL-23 a millisecond to be taken in", "quorum", func(q *typed) {
			q.queue("q", "x-message-ttl", 0)
			q.Send("", "q", testkit.Text("m"))
			q.counts(time.Second, 1, 0)
			q.counts(time.Second+ms, 0, 1)
		}},
		{"DL-6 reject-publish-dlx is not honoured", "quorum", func(q *typed) {
			q.queue("q", "x-max-length", 1, "x-overflow", "reject-publish-dlx")
			q.Confirms()
			for i := range 2 {
				if !q.Publish("", "q", testkit.Text(strconv.Itoa(i))) {
					q.Error("nack")
				}
			}
			if got := q.Drain("dead"); !slices.Equal(got, []string{"0"}) {
				q.Errorf("dead: %v", got)
			}
		}},
		{"DL-7 overflow by argument and policy", "classic", overflow(true)},
		{"DL-7 overflow by argument and policy", "quorum", overflow(false)},
		{"DL-9 the delivery limit", "quorum", func(q *typed) {
			q.queue("q", "x-delivery-limit", 2)
			q.Send("", "q", testkit.Text("m"))
			for range 3 {
				q.Advance(ms)
				d, _, _ := q.Get("q", false)
				_ = d.Reject(true)
			}
			q.Advance(ms)
			if d := q.Fetch("dead"); d == nil || deaths(*d) != "q/delivery_limit×1 (q)" {
				q.Errorf("%+v", d)
			}
		}},
		{"DL-30 without a reason of maxlen", "quorum", func(q *typed) {
			insisting(q.Bubble, q.Channel, amqp.Table{"x-max-length": 1, "x-message-ttl": 60_000})
			q.Exchange("dlx", "fanout")
			q.Bind("dead", "", "dlx")
			q.Confirms()
			if !q.Publish("", "q", testkit.Text("1")) || q.Publish("", "q", testkit.Text("2")) {
				q.Error("want ack, then nack")
			}
			q.counts(time.Minute, 1, 0)
			q.counts(61*time.Second+10*ms, 0, 1)
		}},
	} {
		t.Run(x.kind+"/"+x.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				q := &typed{b, b.Connect().Open(), x.kind}
				q.Declare("dead", nil)
				b.AdvanceTo(time.Second)
				x.test(q)
			})
		})
	}
}
