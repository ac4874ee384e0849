package broker

import (
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/protocol"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A holder queue that panics is restored from the journal; the exchange is not affected.
func TestDLY5HolderPanics(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		stores(b, ch, "x", "", held("kept", int32(60_000)))
		f.arm(supervision.KindQueue, "*mail.DescribeQueue")
		holds(b, "x")
		b.Advance(time.Second)
		expectHeld(b, "x", 1)
		stores(b, ch, "x", "", held("second", int32(60_000)))
		b.Advance(time.Minute + time.Second)
		expectDrained(b, ch, "q", "kept second")
	})
}

// A transient exchange whose holder panics loses the held messages, and works on.
func TestDLY5TransientHolderPanics(t *testing.T) {
	f := &faults{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		if err := ch.ExchangeDeclare("x", "x-delayed-message", false, true, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
			t.Fatal(err)
		}
		ch.Declare("q", nil)
		ch.Bind("q", "", "x")
		stores(b, ch, "x", "", held("lost", int32(1000)))
		f.arm(supervision.KindQueue, "*mail.Enqueue")
		ch.Publish("x", "", held("refused", int32(1000)))
		b.Advance(time.Second)
		expectHeld(b, "x", 0)
		stores(b, ch, "x", "", held("m", int32(1000)))
		b.Advance(time.Second + 2*ms)
		expectDrained(b, ch, "q", "m")
		stores(b, ch, "x", "", held("m", int32(1000)))
		if err := ch.QueueUnbind("q", "", "x", nil); err != nil { // the exchange is auto-delete
			t.Fatal(err)
		}
		expectHeld(b, "x", -1)
	})
}

// An exchange whose holder cannot be restored refuses messages; it can be deleted and declared again.
func TestDLY5HolderIsDown(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		stores(b, ch, "x", "", held("lost", int32(60_000)))
		f.mu.Lock()
		f.poison = "amq.delayed"
		f.mu.Unlock()
		b.Restart(0)
		ch = b.Connect().Open()
		expectHeld(b, "x", -1)
		ch.Confirms()
		if ch.Publish("x", "", held("refused", int32(1000))) {
			t.Error("confirmed")
		}
		stores(b, ch, "x", "", testkit.Text("at once"))
		if err := ch.ExchangeDelete("x", false, false); err != nil {
			t.Fatal(err)
		}
		delayed(b, ch, "x", "fanout", "q", "")
		stores(b, ch, "x", "", held("m", int32(1000)))
		b.Advance(time.Second + 2*ms)
		expectDrained(b, ch, "q", "at once m")
	})
}

func TestDLY5DeletedWithItsVHost(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		fresh := func() {
			if _, err := b.Node.API().PutVHost(b.Context(), auth.VHost{Name: "v"}); err != nil {
				t.Fatal(err)
			}
		}
		fresh()
		if _, err := b.Users.PutGrant(auth.Grant{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
		x := &protocol.ExchangeDeclare{
			Exchange: "x", Type: "x-delayed-message", Durable: true,
			Arguments: protocol.Table{{Key: "x-delayed-type", Value: "topic"}},
		}
		if _, err := b.Node.API().Run(b.Context(), auth.User{Name: "guest"}, "v", x); err != nil {
			t.Fatal(err)
		}
		if found, err := b.Node.API().DeleteVHost(b.Context(), "v"); !found || err != nil {
			t.Fatal(found, err)
		}
		fresh()
		b.Restart(0)
		v := "v"
		all, err := b.Node.API().Exchanges(b.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if x.Delayed != nil {
				t.Errorf("%s is back", x.Name)
			}
		}
		if list, err := b.Node.API().Bindings(b.Context(), management.BindingFilter{VHost: &v}); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

// The loss of messages that a deleted exchange held is logged, counted, and in its event: if it is deleted by a command,
// as unused, or with its virtual host.
func TestDLY5LossIsReported(t *testing.T) {
	for name, end := range map[string]func(b *testkit.Bubble, ch *amqp.Channel){
		"deleted": func(b *testkit.Bubble, ch *amqp.Channel) {
			if err := ch.ExchangeDelete("x", false, false); err != nil {
				b.Fatal(err)
			}
		},
		"unused": func(b *testkit.Bubble, ch *amqp.Channel) {
			if err := ch.QueueUnbind("q", "", "x", nil); err != nil {
				b.Fatal(err)
			}
		},
		"with its virtual host": func(b *testkit.Bubble, _ *amqp.Channel) { removeVHost(b, "v") },
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, func(c *supervision.Config) { c.EventsIn = "/" }, func(b *testkit.Bubble) {
				makeVHost(b, auth.VHost{Name: "v"})
				conn, ch := openIn(b, "v")
				defer func() { _ = conn.Close() }()
				must(t, ch.ExchangeDeclare("x", "x-delayed-message", true, true, false, false, amqp.Table{"x-delayed-type": "fanout"}))
				_, err := ch.QueueDeclare("q", true, false, false, false, nil)
				must(t, err)
				must(t, ch.QueueBind("q", "", "x", false, nil))
				for range 3 {
					must(t, ch.PublishWithContext(b.Context(), "x", "", false, false, held("lost", int32(60_000))))
				}
				events := b.Connect().Open()
				events.Declare("events", nil)
				events.Bind("events", "exchange.deleted", "amq.rabbitmq.event")
				b.Advance(ms)
				if o, err := b.Node.API().Overview(b.Context()); err != nil || o.VHosts["v"].Held != 3 {
					t.Errorf("before, %d are shown; %v", o.VHosts["v"].Held, err)
				}
				b.Log.Allow("not due yet")
				end(b, ch)
				b.Advance(ms)
				if n := b.Log.Count(`"exchange":"x","messages":3,"message":"a delayed exchange was deleted`); n != 1 {
					t.Errorf("it is logged %d times", n)
				}
				if n := metricsOf(b).Queues[metrics.Holder][queuestats.Lost]; n != 3 {
					t.Errorf("%d are counted", n)
				}
				if d := events.Fetch("events"); d == nil || d.Headers["name"] != "x" || fmt.Sprint(d.Headers["lost_messages"]) != "3" {
					t.Errorf("the event is %+v", d)
				}
			})
		})
	}
}
