package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/memory"
	"candlemark/protocol"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// again runs after following an orderly restart, and following a crash.
func again(t *testing.T, before func(b *testkit.Bubble, ch *testkit.Channel), off time.Duration, after func(b *testkit.Bubble, ch *testkit.Channel)) {
	t.Helper()
	for name, start := range map[string]func(*testkit.Bubble, time.Duration){
		"stop": (*testkit.Bubble).Restart, "crash": (*testkit.Bubble).Crash,
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				before(b, b.Connect().Open())
				start(b, off)
				after(b, b.Connect().Open())
			})
		})
	}
}

// durable declares a durable queue.
func durable(b *testkit.Bubble, ch *testkit.Channel, name string, args amqp.Table) {
	b.Helper()
	if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
		b.Fatalf("queue.declare %s: %v", name, err)
	}
}

func durableExchange(b *testkit.Bubble, ch *testkit.Channel, name, kind string) {
	b.Helper()
	if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
		b.Fatalf("exchange.declare %s: %v", name, err)
	}
}

func persistent(body, ttl string) amqp.Publishing {
	return amqp.Publishing{Body: []byte(body), Expiration: ttl, DeliveryMode: amqp.Persistent}
}

// stores publishes persistent messages and waits until they are confirmed.
func stores(b *testkit.Bubble, ch *testkit.Channel, exchange, key string, list ...amqp.Publishing) {
	b.Helper()
	ch.Confirms()
	for _, m := range list {
		if !ch.Publish(exchange, key, m) {
			b.Errorf("%s was refused", m.Body)
		}
	}
}

// bindings lists all bindings except the default exchange's.
func bindings(b *testkit.Bubble) (list []string) {
	all, err := b.Node.API().Bindings(b.Context(), management.BindingFilter{})
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range all {
		if x.Source != "" {
			arguments := slices.SortedFunc(slices.Values(x.Arguments), func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
			list = append(list, fmt.Sprintf("%s-%s->%s %v", x.Source, x.RoutingKey, x.Destination, arguments))
		}
	}
	return list
}

// defines declares objects of all kinds, some of which must survive.
func defines(b *testkit.Bubble, ch *testkit.Channel) {
	b.Helper()
	durable(b, ch, "kept", amqp.Table{"x-max-priority": int8(3)})
	durable(b, ch, "", nil)
	ch.Declare("transient", nil)
	if _, err := ch.QueueDeclare("exclusive", true, false, true, false, nil); err != nil {
		b.Fatal(err)
	}
	durableExchange(b, ch, "one", "topic")
	durableExchange(b, ch, "two", "headers")
	ch.Exchange("passing", "direct")
	ch.Bind("kept", "a.#", "one")
	ch.Bind("transient", "a.#", "one")
	ch.Bind("exclusive", "a.#", "one")
	ch.Bind("kept", "key", "passing")
	ch.Bind("kept", "key", "amq.direct")
	ch.Bind("kept", "gone", "amq.direct")
	if err := ch.QueueUnbind("kept", "gone", "amq.direct", nil); err != nil {
		b.Fatal(err)
	}
	if err := ch.QueueBind("kept", "", "two", false, amqp.Table{"x-match": "any", "n": int16(7)}); err != nil {
		b.Fatal(err)
	}
	if err := ch.ExchangeBind("two", "b", "one", false, nil); err != nil {
		b.Fatal(err)
	}
	durable(b, ch, "deleted", nil)
	ch.Bind("deleted", "key", "amq.direct")
	if _, err := ch.QueueDelete("deleted", false, false, false); err != nil {
		b.Fatal(err)
	}
	durableExchange(b, ch, "deleted", "fanout")
	ch.Bind("kept", "", "deleted")
	if err := ch.ExchangeDelete("deleted", false, false); err != nil {
		b.Fatal(err)
	}
	b.SetPolicy("p", `{"pattern":"^kept$","definition":{"max-length":5}}`)
}

func TestDefinitionsSurvive(t *testing.T) {
	again(t, defines, 0, func(b *testkit.Bubble, ch *testkit.Channel) {
		want := []string{
			"amq.direct-key->kept []", "one-b->two []", "one-a.#->kept []", "two-->kept [{n 7} {x-match any}]",
		}
		if got := bindings(b); !slices.Equal(got, want) {
			b.Errorf("bindings %q\nwant %q", got, want)
		}
		if got := b.VHost().Directory().QueueCount(); got != 2 {
			b.Errorf("%d queues", got)
		}
		durable(b, ch, "kept", amqp.Table{"x-max-priority": int8(3)})
		durableExchange(b, ch, "two", "headers")
		for _, gone := range []string{"passing", "deleted"} {
			if b.VHost().Directory().Exchange([]byte(gone)) != nil {
				b.Errorf("exchange %s is there", gone)
			}
		}
		if got := b.Describe("kept").Settings.MaxLength; got != 5 {
			b.Errorf("max-length %d", got)
		}
		durable(b, ch, "deleted", nil) // the bindings of its namesake are not restored
		if got := bindings(b); len(got) != len(want) {
			b.Errorf("bindings %q", got)
		}
	})
}

func TestMessagesSurvive(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		durable(b, ch, "other", nil)
		ch.Declare("transient", nil)
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""), testkit.Text("transient"), persistent("3", ""))
		stores(b, ch, "", "transient", persistent("gone", ""))
		if d, _, err := ch.Get("q", false); err != nil || string(d.Body) != "1" {
			b.Fatalf("%s %v", d.Body, err)
		}
		b.Advance(time.Second) // until the delivery is recorded
	}, time.Hour, func(b *testkit.Bubble, ch *testkit.Channel) {
		if n := b.Describe("q").Ready; n != 3 {
			b.Errorf("%d messages", n)
		}
		for i, again := range []bool{true, false, false} {
			d := ch.Fetch("q")
			if d == nil || string(d.Body) != fmt.Sprint(i+1) || d.Redelivered != again {
				b.Fatalf("message %d: %+v", i+1, d)
			}
		}
		stores(b, ch, "", "q", persistent("4", ""))
		b.Restart(0)
		ch = b.Connect().Open()
		if got := ch.Drain("q"); !slices.Equal(got, []string{"4"}) {
			b.Errorf("after the next start %q", got)
		}
	})
}

// TestRedeliveredSurvives asserts the guarantee about the redelivered flag (durability.md): it is set after a crash on delivered
// messages that were recorded, and after an orderly stop on all delivered ones, even if the stop followed at once; never on a
// message that was not delivered.
func TestRedeliveredSurvives(t *testing.T) {
	const noted = 50*time.Millisecond + 2*time.Millisecond // segment.Options.Lag, and the write
	for name, c := range map[string]struct {
		wait  time.Duration
		start func(*testkit.Bubble, time.Duration)
		may   bool // the flag may be missing
	}{
		"crash":        {noted, (*testkit.Bubble).Crash, false},
		"early crash":  {0, (*testkit.Bubble).Crash, true},
		"stop at once": {0, (*testkit.Bubble).Restart, false},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				durable(b, ch, "q", nil)
				stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""), persistent("3", ""))
				if err := ch.Qos(2, 0, false); err != nil {
					b.Fatal(err)
				}
				list, err := ch.Consume("q", "", false, false, false, false, nil)
				if err != nil {
					b.Fatal(err)
				}
				<-list
				<-list
				b.Advance(c.wait)
				c.start(b, 0)
				ch = b.Connect().Open()
				for i := range 3 {
					d := ch.Fetch("q")
					if d == nil || string(d.Body) != fmt.Sprint(i+1) {
						b.Fatalf("message %d: %+v", i+1, d)
					}
					if given := i < 2; d.Redelivered != given && (d.Redelivered || !c.may) {
						b.Errorf("message %d, given to a consumer: %v, redelivered: %v", i+1, given, d.Redelivered)
					}
				}
			})
		})
	}
}

// A message that expired while the broker was down is not delivered after the start: it is dead-lettered by the stored
// bindings and policies, with x-death (TTL-27).
func TestTTL26DueWhileAway(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		durable(b, ch, "dead", nil)
		durableExchange(b, ch, "dlx", "topic")
		ch.Bind("dead", "#", "dlx")
		b.SetPolicy("p", `{"pattern":"^q$","definition":{"dead-letter-exchange":"dlx"}}`)
		stores(b, ch, "", "q", persistent("long", "60000"), persistent("short", "3000"), persistent("second", "2000"))
	}, 10*time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
		if n := b.Describe("q").Ready; n != 1 {
			b.Errorf("%d messages are left", n)
		}
		b.Advance(time.Second) // until the dead letter arrives; it was due before
		d := ch.Fetch("dead")
		if d == nil {
			b.Fatal("nothing was dead-lettered")
		}
		checkDeath(b, d)
		if more := ch.Drain("dead"); len(more) != 1 {
			b.Errorf("then %q", more)
		}
		b.Restart(0)
		ch = b.Connect().Open()
		b.AdvanceTo(62 * time.Second)
		if more := ch.Drain("dead"); !slices.Equal(more, []string{"long"}) {
			b.Errorf("then %q", more)
		}
	})
}

func TestTTL27DeathsSurvive(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		durable(b, ch, "dead", nil)
		stores(b, ch, "", "q", persistent("short", "1000"))
		b.Advance(2 * time.Second)
	}, 0, func(b *testkit.Bubble, ch *testkit.Channel) {
		d := ch.Fetch("dead")
		if d == nil {
			b.Fatal("it is not there")
		}
		checkDeath(b, d)
	})
}

func checkDeath(b *testkit.Bubble, d *amqp.Delivery) {
	b.Helper()
	deaths, _ := d.Headers["x-death"].([]any)
	if len(deaths) != 1 {
		b.Fatalf("headers %v", d.Headers)
	}
	death := deaths[0].(amqp.Table)
	if death["queue"] != "q" || death["reason"] != "expired" || death["count"] != int64(1) || death["original-expiration"] == nil || d.Expiration != "" {
		b.Errorf("%v, expiration %q", death, d.Expiration)
	}
}

// A lease begins anew when the broker starts.
func TestLEASE4Restart(t *testing.T) {
	var started time.Duration
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", amqp.Table{"x-expires": 900})
		b.Advance(600 * ms)
	}, 5*time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
		started = b.Elapsed()
		ends(b, "q", started+900*ms)
		b.Restart(0)
		if b.Queue("q") != nil {
			b.Error("it is back")
		}
	})
}

// A definition that cannot be stored does not take effect.
func TestFailedStore(t *testing.T) {
	for name, act := range map[string]func(ch *testkit.Channel) error{
		"queue": func(ch *testkit.Channel) error {
			_, err := ch.QueueDeclare("new", true, false, false, false, nil)
			return err
		},
		"exchange": func(ch *testkit.Channel) error {
			return ch.ExchangeDeclare("new", "direct", true, false, false, false, nil)
		},
		"binding":         func(ch *testkit.Channel) error { return ch.QueueBind("q", "new", "x", false, nil) },
		"unbinding":       func(ch *testkit.Channel) error { return ch.QueueUnbind("q", "old", "x", nil) },
		"exchange delete": func(ch *testkit.Channel) error { return ch.ExchangeDelete("x", false, false) },
		"queue delete": func(ch *testkit.Channel) error {
			_, err := ch.QueueDelete("q", false, false, false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				b.Log.Allow("could not be")
				b.Log.Allow("541")
				ch := b.Connect().Open()
				durable(b, ch, "q", nil)
				durableExchange(b, ch, "x", "direct")
				ch.Bind("q", "old", "x")
				check := func() {
					d := b.VHost().Directory()
					if d.Queue([]byte("q")) == nil || d.QueueCount() != 1 || d.Exchange([]byte("x")) == nil || d.Exchange([]byte("new")) != nil ||
						!slices.Equal(bindings(b), []string{"x-old->q []"}) {
						b.Errorf("%d queues, bindings %q", d.QueueCount(), bindings(b))
					}
				}
				b.Meta.Fail(fmt.Errorf("no disk"))
				if e, ok := act(ch).(*amqp.Error); !ok || e.Code != int(protocol.InternalError) {
					b.Errorf("answered with %v", e)
				}
				check()
				b.Meta.Fail(nil)
				if err := act(b.Connect().Open()); err != nil {
					b.Error("then:", err)
				}
				b.Restart(0)
				ch = b.Connect().Open()
				if name == "queue" {
					durable(b, ch, "new", nil)
				}
			})
		})
	}
}

// While a definition is being stored, commands about that name wait, others do not.
func TestSlowStore(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		release := b.Meta.Hold()
		slow := make(chan error, 2)
		for range 2 {
			ch := b.Connect().Open()
			go func() {
				_, err := ch.QueueDeclare("slow", true, false, false, false, nil)
				slow <- err
			}()
		}
		synctest.Wait()
		ch := b.Connect().Open()
		ch.Declare("transient", nil)
		if b.Queue("slow") != nil {
			t.Error("published before it is stored")
		}
		release()
		for range 2 {
			if err := testkit.Receive(b, slow); err != nil {
				t.Error(err)
			}
		}
		stores(b, ch, "", "slow", persistent("m", ""))
	})
}

// If the broker ends between the two steps of a deletion, the definition is gone and the messages are deleted at the start; a
// queue declared later by that name is empty.
func TestOrphansAreRetired(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("messages of deleted queues")
		ch := b.Connect().Open()
		durable(b, ch, "q", nil)
		ch.Bind("q", "key", "amq.direct")
		stores(b, ch, "", "q", persistent("m", ""))
		last := b.Queue("q").Incarnation
		if _, err := definitions.Wait(b.Meta, definitions.Change{Delete: []any{definitions.Queue{VHost: "/", Name: "q"}}}); err != nil {
			t.Fatal(err)
		}
		b.Crash(0)
		if all := b.Journal.Queues(); len(all) > 0 || b.Queue("q") != nil {
			t.Errorf("the journal has %v", all)
		}
		ch = b.Connect().Open()
		durable(b, ch, "q", nil)
		if got := ch.Drain("q"); len(got) > 0 || len(bindings(b)) > 0 || b.Queue("q").Incarnation <= last {
			t.Errorf("%q in %d after %d", got, b.Queue("q").Incarnation, last)
		}
	})
}

// Numbers of queues (incarnations) are never reused, not even the numbers of queues that were not stored.
func TestIncarnations(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		last := uint64(0)
		for range 3 {
			ch := b.Connect().Open()
			for _, name := range []string{"a", "b"} {
				ch.Declare(name, nil)
				if next := b.Queue(name).Incarnation; next <= last {
					t.Errorf("number %d after %d", next, last)
				} else {
					last = next
				}
			}
			b.Crash(0)
		}
	})
}

// Without any definitions, messages do not count as messages of deleted queues: the broker does not start.
func TestNoDefinitions(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durable(b, ch, "q", nil)
		stores(b, ch, "", "q", persistent("m", ""))
		journal, empty := b.Journal.Reopen(memory.Options{}), definitions.NewMemory()
		defer journal.Close()
		defer empty.Close()
		if n, err := supervision.Start(supervision.Config{Journal: journal, Meta: empty}); err == nil {
			t.Error("it has started", n.Stop(b.Context()))
		}
		if len(journal.Queues()) != 1 {
			t.Error("the messages are gone")
		}
	})
}

// A deleted virtual host is deleted with all its contents, and one created later by that name is empty.
func TestDeletedVHostStaysDeleted(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		declare := func() {
			if _, err := b.Node.API().PutVHost(b.Context(), auth.VHost{Name: "v"}); err != nil {
				t.Fatal(err)
			}
		}
		declare()
		if _, err := b.Users.PutGrant(auth.Grant{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Node.API().Run(b.Context(), auth.User{Name: "guest"}, "v", &protocol.QueueDeclare{Queue: "q", Durable: true}); err != nil {
			t.Fatal(err)
		}
		if found, err := b.Node.API().DeleteVHost(b.Context(), "v"); !found || err != nil {
			t.Fatal(found, err)
		}
		declare()
		b.Restart(0)
		v, ok := b.Node.VHost("v")
		if !ok || v.Directory().QueueCount() > 0 {
			t.Errorf("there %v", ok)
		}
	})
}

// A durable queue that panics is restored from the journal; its consumers were cancelled.
func TestDurableQueueIsRebuilt(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		durable(b, ch, "q", nil)
		for _, kind := range []string{"direct", "fanout", "topic"} {
			ch.Bind("q", "key", "amq."+kind)
		}
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		if err := ch.Qos(1, 0, false); err != nil {
			t.Fatal(err)
		}
		deliveries := ch.Subscribe("q", 1)
		testkit.Receive(b, deliveries)
		f.arm(supervision.KindQueue, "*mail.DeleteQueue")
		if _, err := b.Connect().Open().QueueDelete("q", false, true, false); err == nil {
			t.Error("deleted, although it is not empty")
		}
		testkit.Receive(b, ch.Cancelled)
		b.Advance(time.Second)
		for _, kind := range []string{"direct", "fanout", "topic"} {
			stores(b, ch, "amq."+kind, "key", persistent(kind, ""))
		}
		if got := ch.Drain("q"); !slices.Equal(got, []string{"1", "2", "direct", "fanout", "topic"}) {
			t.Errorf("it holds %q", got)
		}
		if _, err := ch.QueueDelete("q", false, false, false); err != nil {
			t.Error(err)
		}
		b.Restart(0)
		if b.Queue("q") != nil {
			t.Error("it is back")
		}
	})
}

func allowPanics(b *testkit.Bubble) {
	for _, text := range []string{"actor panicked", "a queue ended", "restored from the journal after a panic", "541", "a queue is down"} {
		b.Log.Allow(text)
	}
}

// A queue that panics twice in replay is down, and all others are available (PRO-16).
func TestQuarantine(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		for _, name := range []string{"a", "poison", "z"} {
			durable(b, ch, name, nil)
			ch.Bind(name, name, "amq.direct")
			stores(b, ch, "amq.direct", name, persistent(name, ""))
		}
		f.poison = "/queue/poison/"
		b.Restart(0)
		ch = b.Connect().Open()
		for _, name := range []string{"a", "z"} {
			if got := ch.Drain(name); !slices.Equal(got, []string{name}) {
				t.Errorf("%s holds %q", name, got)
			}
		}
		checkDown(b)
		f.poison = ""
		b.Restart(0)
		ch = b.Connect().Open()
		if got := ch.Drain("poison"); !slices.Equal(got, []string{"poison"}) {
			t.Errorf("poison holds %q", got)
		}
		f.poison = "/queue/poison/"
		b.Restart(0)
		ch = b.Connect().Open()
		if _, err := ch.QueueDelete("poison", false, false, false); err != nil {
			t.Error("delete:", err)
		}
		f.poison = ""
		durable(b, ch, "poison", amqp.Table{"x-max-length": 3})
		if got := bindings(b); len(got) != 2 {
			t.Errorf("bindings %q", got)
		}
	})
}

func checkDown(b *testkit.Bubble) {
	b.Helper()
	const text = "NOT_FOUND - queue 'poison' in vhost '/' has crashed and failed to restart"
	for _, act := range []func(ch *testkit.Channel) error{
		func(ch *testkit.Channel) error {
			_, err := ch.QueueDeclare("poison", true, false, false, false, nil)
			return err
		},
		func(ch *testkit.Channel) error { _, _, err := ch.Get("poison", true); return err },
		func(ch *testkit.Channel) error { _, err := ch.QueuePurge("poison", false); return err },
		func(ch *testkit.Channel) error {
			_, err := ch.Channel.Consume("poison", "", true, false, false, false, nil)
			return err
		},
	} {
		closedWith(b, act(b.Connect().Open()), 404, text)
	}
	ch := b.Connect().Open()
	ch.Confirms()
	for _, exchange := range []string{"", "amq.direct"} {
		if ch.Publish(exchange, "poison", persistent("m", "")) {
			b.Errorf("%q took a message for it", exchange)
		}
	}
	list, err := b.Node.API().Queues(b.Context(), "/")
	if err != nil {
		b.Fatal(err)
	}
	states := map[string]string{}
	for _, q := range list {
		states[q.Name] = q.State
	}
	if len(states) != 3 || states["poison"] != "down" || states["a"] != "running" {
		b.Errorf("states %v", states)
	}
}
