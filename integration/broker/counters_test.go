package broker

import (
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"

	amqp "github.com/rabbitmq/amqp091-go"
)

// strategies prints counts by strategy: disabled, at most once, at least once.
func strategies(d management.Deaths) string {
	return fmt.Sprint(d.Disabled, d.AtMostOnce, d.AtLeastOnce)
}

// Deaths by reason and strategy, each once (TTL-29).
func TestTTL29_ByReasonAndStrategy(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		kill := map[string]func(q string){
			"expired": func(q string) {
				ch.Send("", q, testkit.Expiring("m", "0"))
				ch.Send("", q, testkit.Expiring("m", "10"))
				b.Advance(time.Second)
			},
			"rejected": func(q string) {
				ch.Send("", q, testkit.Text("m"))
				b.Advance(ms)
				d, _, _ := ch.Get(q, false)
				_ = d.Reject(false)
			},
			"maxlen": func(q string) {
				for range 4 {
					ch.Send("", q, testkit.Text("m"))
				}
				b.Advance(ms)
				ch.Drain(q)
			},
		}
		for reason, do := range kill {
			for dlx, args := range map[string]amqp.Table{
				"none": {}, "missing": {"x-dead-letter-exchange": "missing"}, "there": deadTo("dead"), "nowhere": {"x-dead-letter-exchange": "amq.fanout"},
			} {
				q := reason + "-" + dlx
				if reason == "maxlen" {
					args["x-max-length"] = 3
				}
				ch.Declare(q, args)
				do(q)
			}
		}
		ch.Declare("full", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish-dlx"})
		ch.Send("", "full", testkit.Text("m"))
		insisting(b, ch, nil)
		ch.Send("", "q", persistent("m", ""))
		b.Advance(time.Second)
		kept := b.Node.API().DeadLetters().Expired
		if kept.AtLeastOnce != 0 || kept.Kept == 0 {
			t.Errorf("without an exchange: %+v", kept)
		}
		ch.Exchange("dlx", "fanout")
		ch.Bind("dead", "", "dlx")
		b.Advance(time.Minute)
		durable(b, ch, "limited", deadTo("dead", "x-delivery-limit", 0, "x-queue-type", "quorum"))
		ch.Send("", "limited", testkit.Text("m"))
		b.Advance(time.Second)
		held, _, _ := ch.Get("limited", false)
		_ = held.Reject(true)
		b.Advance(time.Second)
		d := get[management.DeadLetters](bubbleWeb(b), "/api/x/dead-letters")
		for what, x := range map[string]struct{ got, want string }{
			"expired": {strategies(d.Expired), "4 4 1"}, "rejected": {strategies(d.Rejected), "2 2 0"}, "maxlen": {strategies(d.MaxLen), "3 2 0"},
			"delivery limit": {strategies(d.DeliveryLimit), "0 1 0"},
		} {
			if x.got != x.want {
				t.Errorf("%s: %s, want %s", what, x.got, x.want)
			}
		}
		if d.Expired.Confirmed != 3 || d.Expired.Unroutable != 2 || d.Expired.Routed != 3 {
			t.Errorf("expired: %+v", d.Expired)
		}
	})
}

// Messages lost with an expired queue are not counted as dead letters, nor are purged or acknowledged ones (TTL-29, LEASE-7).
func TestTTL29_OthersDoNotCount(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("leased", amqp.Table{"x-expires": 900})
		ch.Declare("purged", nil)
		ch.Declare("acked", nil)
		ch.Declare("full", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
		for _, q := range []string{"leased", "leased", "purged", "acked", "full", "nobody's"} {
			ch.Send("", q, testkit.Text("m"))
		}
		b.Advance(ms)
		if _, err := ch.QueuePurge("purged", false); err != nil {
			t.Fatal(err)
		}
		ch.Drain("acked")
		b.Advance(time.Second)
		want := management.DeadLetters{QueuesExpired: 1, Discarded: 2}
		if d := b.Node.API().DeadLetters(); d != want {
			t.Errorf("%+v", d)
		}
	})
}
