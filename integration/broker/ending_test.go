package broker

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// endsIn are the arguments of a queue whose lease ends after a second and whose backlog is then dead-lettered to another queue.
func endsIn(to string, more ...any) amqp.Table {
	return deadTo(to, append([]any{"x-expires", 1000, "x-expires-dead-letters-backlog", true}, more...)...)
}

// full declares a durable queue that has room for one message, which it has.
func full(b *testkit.Bubble, ch *testkit.Channel, name string) {
	b.Helper()
	durable(b, ch, name, amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
	stores(b, ch, "", name, persistent("in the way", ""))
}

// all takes everything that arrives in a queue within some minutes, also what waits for the room that this makes.
func takeAll(b *testkit.Bubble, ch *testkit.Channel, queue string) (bodies []string) {
	b.Helper()
	for range 20 {
		bodies = append(bodies, ch.Drain(queue)...)
		b.Advance(10 * time.Second)
	}
	return bodies
}

// A target that refuses the backlog of an expired queue gets it when it has room, also after a stop or a crash of the broker
// (LEASE-14).
func TestEndingWaitsForItsTarget_LEASE14(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		full(b, ch, "dead")
		durable(b, ch, "q", endsIn("dead"))
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""), persistent("3", ""))
		b.Advance(1500 * time.Millisecond)
	}, time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
		if got := fmt.Sprint(takeAll(b, ch, "dead")); got != "[in the way 1 2 3]" {
			b.Errorf("the target got %s", got)
		}
	})
}

// state describes a queue as lists show it, "" if there is none.
func stateOf(b *testkit.Bubble, name string) string {
	b.Helper()
	synctest.Wait()
	q, err := b.Node.API().Queue(b.Context(), "/", name)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d of %d, %d again", q.State, q.DeadLetters, q.Ready+q.Unacked, q.Retrying)
}

// While a queue is ending it is listed, but clients cannot use it; declarations wait for its name, not longer than a while, and not
// for a target that refuses its messages (LEASE-15).
func TestEndingIsNoQueue_LEASE15(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		full(b, ch, "dead")
		durable(b, ch, "q", endsIn("dead"))
		ch.Bind("q", "k", "amq.direct")
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		b.Advance(1100 * time.Millisecond)
		if got := stateOf(b, "q"); got != "ending 2 of 2, 2 again" || b.Queue("q") != nil {
			b.Fatalf("it is %q", got)
		}
		if got := bindings(b); len(got) > 0 {
			b.Errorf("bindings %q", got)
		}
		refused := func(what string, code int, do func(ch *testkit.Channel) error) {
			b.Helper()
			var e *amqp.Error
			if err := do(b.Connect().Open()); !errors.As(err, &e) || e.Code != code {
				b.Errorf("%s: %v", what, err)
			}
		}
		refused("declare", 405, func(ch *testkit.Channel) error {
			_, err := ch.QueueDeclare("q", true, false, false, false, endsIn("dead"))
			return err
		})
		refused("passive declare", 404, func(ch *testkit.Channel) error {
			_, err := ch.QueueDeclarePassive("q", true, false, false, false, nil)
			return err
		})
		refused("bind", 404, func(ch *testkit.Channel) error { return ch.QueueBind("q", "k", "amq.direct", false, nil) })
		refused("get", 404, func(ch *testkit.Channel) error { _, _, err := ch.Get("q", true); return err })
		refused("consume", 404, func(ch *testkit.Channel) error {
			_, err := ch.Channel.Consume("q", "", true, false, false, false, nil)
			return err
		})
		refused("purge", 404, func(ch *testkit.Channel) error { _, err := ch.QueuePurge("q", false); return err })
		refused("delete if-empty", 406, func(ch *testkit.Channel) error { _, err := ch.QueueDelete("q", false, true, false); return err })
		if err := ch.QueueUnbind("q", "k", "amq.direct", nil); err != nil {
			b.Error("unbind:", err)
		}
		ch.Begin("", "q", true, persistent("3", ""))
		if r := testkit.Receive(b, ch.Returns); r.ReplyCode != 312 {
			b.Errorf("returned with %d", r.ReplyCode)
		}
		ch.Drain("dead")
		b.Advance(time.Minute)
		ch.Drain("dead")
		b.Advance(time.Minute)
		if got := stateOf(b, "q"); got != "" {
			b.Errorf("it is still %q", got)
		}
		durable(b, ch, "q", nil)
	})
}

// A declaration waits while the messages of an ending queue are on their way, and then makes a new queue.
func TestDeclareWaitsForTheEnd_LEASE15(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		const n = 20_000
		ch, other := b.Connect().Open(), b.Connect().Open()
		durable(b, ch, "dead", nil)
		durable(b, ch, "q", endsIn("dead"))
		ch.Confirms()
		var last *amqp.DeferredConfirmation
		for range n {
			last = ch.Begin("", "q", false, persistent("m", ""))
		}
		ch.Await(last)
		b.AdvanceTo(time.Second) // the lease ends at this time, or some ms later
		done := make(chan error)
		go func() {
			for range 50 {
				if _, err := other.QueueDeclare("q", true, false, false, false, nil); err == nil {
					done <- nil
					return
				}
				other = b.Connect().Open() // it was still there, with other arguments
				time.Sleep(time.Millisecond)
			}
			done <- errors.New("no new queue")
		}()
		if err := testkit.Receive(b, done); err != nil {
			b.Fatal(err)
		}
		b.Advance(time.Second)
		if got := stateOf(b, "q") + ", " + stateOf(b, "dead"); got != "running 0 of 0, 0 again, running 0 of "+strconv.Itoa(n)+", 0 again" {
			b.Error(got)
		}
	})
}

// A user's deletion cuts the end of a queue short and says how many messages are lost (LEASE-15).
func TestEndingIsCutShort_LEASE15(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		full(b, ch, "dead")
		durable(b, ch, "q", endsIn("dead"))
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		b.Advance(1100 * time.Millisecond)
		b.Log.Allow("before its dead letters")
		if n, err := ch.QueueDelete("q", false, false, false); n != 2 || err != nil {
			b.Errorf("%d lost, %v", n, err)
		}
		b.Advance(time.Millisecond) // the line may follow the answer
		if b.Log.Count(`"messages":2,"message":"a queue has ended before its dead letters`) != 1 {
			b.Error("the loss is not logged")
		}
		durable(b, ch, "q", nil)
		b.Restart(0)
		ch = b.Connect().Open()
		if got := stateOf(b, "q"); got != "running 0 of 0, 0 again" {
			b.Error(got)
		}
		if got := fmt.Sprint(takeAll(b, ch, "dead")); got != "[in the way]" {
			b.Error(got)
		}
	})
}

// Messages wait for ever for a target that must get them: of a quorum queue at least once, and with a dead-letter queue (DL-30).
func TestEndingWaitsForEver_LEASE14(t *testing.T) {
	for name, args := range map[string]amqp.Table{
		"at least once": {
			"x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
			"x-dead-letter-exchange": "missing", "x-dead-letter-routing-key": "q.dlq",
		},
		"a dead-letter queue": {"x-dead-letter-queue": true},
	} {
		args["x-expires"], args["x-expires-dead-letters-backlog"] = 1000, true
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				full(b, ch, "q.dlq")
				durable(b, ch, "q", args)
				stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
				for _, again := range []func(b *testkit.Bubble){
					func(b *testkit.Bubble) { b.Advance(time.Hour) }, func(b *testkit.Bubble) { b.Restart(time.Hour) },
					func(b *testkit.Bubble) { b.Crash(time.Hour) }, func(b *testkit.Bubble) { b.Advance(time.Hour) },
				} {
					again(b)
					b.Advance(2 * time.Second)
					if got := stateOf(b, "q"); got != "ending 2 of 2, 2 again" {
						b.Fatalf("it is %q", got)
					}
				}
				ch = b.Connect().Open()
				durableExchange(b, ch, "missing", "fanout")
				ch.Bind("q.dlq", "", "missing")
				if got := fmt.Sprint(takeAll(b, ch, "q.dlq")); got != "[in the way 1 2]" || stateOf(b, "q") != "" {
					b.Errorf("%s, and it is %q", got, stateOf(b, "q"))
				}
			})
		})
	}
}

// Dead letters that were on their way when their queue ended for another reason arrive, too; its other messages are discarded
// (LEASE-7, LEASE-14).
func TestEndingWithDeadLetters_LEASE14(t *testing.T) {
	for name, end := range map[string]func(b *testkit.Bubble, ch *testkit.Channel){
		"lease": func(b *testkit.Bubble, ch *testkit.Channel) {
			durable(b, ch, "q", deadTo("dead", "x-expires", 1000))
			stores(b, ch, "", "q", persistent("dies", "500"), persistent("stays", ""))
		},
		"auto-delete": func(b *testkit.Bubble, ch *testkit.Channel) {
			if _, err := ch.QueueDeclare("q", true, true, false, false, deadTo("dead")); err != nil {
				b.Fatal(err)
			}
			stores(b, ch, "", "q", persistent("dies", "500"), persistent("stays", ""))
			b.Advance(600 * time.Millisecond)
			other := b.Connect().Open()
			if err := other.Qos(1, 0, false); err != nil {
				b.Fatal(err)
			}
			if _, err := other.Channel.Consume("q", "c", false, false, false, false, nil); err != nil {
				b.Fatal(err)
			}
			if err := other.Cancel("c", false); err != nil {
				b.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
				full(b, ch, "dead")
				end(b, ch)
				b.Advance(1100 * time.Millisecond)
				if got := stateOf(b, "q"); got != "ending 1 of 1, 1 again" {
					b.Fatalf("it is %q", got)
				}
			}, time.Second, func(b *testkit.Bubble, ch *testkit.Channel) {
				if got := fmt.Sprint(takeAll(b, ch, "dead")); got != "[in the way dies]" || stateOf(b, "q") != "" {
					b.Errorf("the target got %s, the queue is %q", got, stateOf(b, "q"))
				}
			})
		})
	}
}

// The present settings apply to a queue that is ending; without a dead-letter exchange its messages wait (LEASE-14).
func TestEndingFollowsPolicies_LEASE14(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		full(b, ch, "dead")
		durable(b, ch, "other", nil)
		durable(b, ch, "q", nil)
		const to = `{"pattern":"^q$","definition":{"expires":1000,"expires-dead-letters-backlog":true,"dead-letter-exchange":"","dead-letter-routing-key":"%s"}}`
		b.SetPolicy("p", fmt.Sprintf(to, "dead"))
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		b.Advance(1100 * time.Millisecond)
		b.ClearPolicy("p")
		b.Advance(time.Hour)
		b.Restart(0)
		b.Advance(time.Hour)
		if got := stateOf(b, "q"); got != "ending 2 of 2, 0 again" {
			b.Fatalf("it is %q", got)
		}
		b.SetPolicy("p", fmt.Sprintf(to, "other"))
		b.Advance(time.Minute)
		if got := fmt.Sprint(b.Connect().Open().Drain("other")); got != "[1 2]" || stateOf(b, "q") != "" {
			b.Errorf("%s, and it is %q", got, stateOf(b, "q"))
		}
	})
}
