package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// No message is lost if a queue or its virtual host fails over any mail of the queue's end (LEASE-14, ADR 2).
func TestEndingSurvivesPanics_LEASE14(t *testing.T) {
	for what, kind := range map[string]supervision.Kind{
		"*mail.QueueEnding": supervision.KindQueue, "*mail.DeadLetterReply": supervision.KindQueue, "queue.timerFired": supervision.KindQueue,
		"queue.appendDone": supervision.KindQueue, "*mail.QueueForgotten": supervision.KindQueue, "*mail.Activate": supervision.KindQueue,
		"*mail.QueueRetiring": supervision.KindVHost, "*mail.QueueHeldUp": supervision.KindVHost, "*vhost.stored": supervision.KindVHost,
		"*mail.DeadLetter": supervision.KindDeadLetter, "*mail.EnqueueReply": supervision.KindDeadLetter,
	} {
		t.Run(what, func(t *testing.T) {
			f := &faults{}
			testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
				b.Log.Allow("actor panicked", "panicked while it handled a mail", "a queue ended unexpectedly", "a queue ended after a panic", "restored from the journal after a panic")
				ch := b.Connect().Open()
				full(b, ch, "dead")
				durable(b, ch, "q", endsIn("dead"))
				ch.Bind("q", "k", "amq.direct")
				stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""), persistent("3", ""))
				f.arm(kind, what)
				b.Advance(2500 * time.Millisecond)
				if what == "*mail.Activate" {
					b.Crash(0)
				} else {
					b.Restart(0)
				}
				got := takeAll(b, b.Connect().Open(), "dead")
				slices.Sort(got)
				if got = slices.Compact(got); fmt.Sprint(got) != "[1 2 3 in the way]" || stateOf(b, "q") != "" {
					b.Errorf("the target got %q, and the queue is %q", got, stateOf(b, "q"))
				}
				if n := b.Node.Failures.Count(kind); n > 1 || len(f.armed) > 0 && what != "*mail.QueueForgotten" {
					b.Errorf("%d failures, %v left", n, f.armed)
				}
			})
		})
	}
}

// All messages of a queue, in any state, are dead-lettered at the end of its lease, in queue order.
func TestEverythingIsDeadLettered_LEASE13(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch, other := b.Connect().Open(), b.Connect().Open()
		durable(b, ch, "dead", nil)
		durable(b, ch, "q", endsIn("dead", "x-delayed-messages", true, "x-max-priority", 3))
		for i := range 3 {
			m := persistent(fmt.Sprint("ready ", i), "")
			m.Priority = uint8(i)
			stores(b, ch, "", "q", m)
		}
		taken, ok, err := other.Get("q", false)
		if !ok || err != nil || string(taken.Body) != "ready 2" {
			b.Fatal(taken.Body, err)
		}
		later := dated("later", "x-delay", int32(3_600_000))
		stores(b, ch, "", "q", later)
		b.Advance(1500 * time.Millisecond)
		if err := taken.Ack(false); err != nil { // it has no effect (LEASE-6)
			b.Error(err)
		}
		b.Advance(time.Second)
		if got := fmt.Sprint(ch.Drain("dead")); got != "[ready 2 ready 1 ready 0 later]" || stateOf(b, "q") != "" {
			b.Errorf("%s, and it is %q", got, stateOf(b, "q"))
		}
		if err := other.Tx(); err != nil { // the channel is still open
			b.Error(err)
		}
	})
}

// The broker is killed or stopped at random moments around the end of leases: each confirmed message arrives (LEASE-14). Targets are
// full at times.
func TestRandomEnds_LEASE14(t *testing.T) {
	for range 12 {
		testkit.RunStored(t, nil, randomEnds)
	}
}

func randomEnds(b *testkit.Bubble) {
	b.Log.Allow("was refused")
	arrived, want := map[string]bool{}, map[string]bool{}
	ch := b.Connect().Open()
	durable(b, ch, "dead", amqp.Table{"x-max-length": 30, "x-overflow": "reject-publish"})
	for q := range 4 {
		args := endsIn("dead")
		switch q {
		case 1:
			args["x-queue-type"] = "quorum"
		case 2:
			args["x-queue-type"], args["x-dead-letter-strategy"], args["x-overflow"] = "quorum", "at-least-once", "reject-publish"
		case 3:
			args["x-max-priority"] = 5
		}
		name := fmt.Sprint("q", q)
		durable(b, ch, name, args)
		var list []amqp.Publishing
		for i := range 1 + rand.IntN(40) {
			m := persistent(fmt.Sprint(name, " ", i), "")
			m.Priority = uint8(rand.IntN(6))
			list = append(list, m)
			want[string(m.Body)] = true
		}
		stores(b, ch, "", name, list...)
		if rand.IntN(2) == 0 {
			if _, _, err := ch.Get(name, false); err != nil {
				b.Fatal(err)
			}
		}
	}
	for range 8 {
		b.Advance(time.Duration(rand.IntN(1500)) * time.Millisecond)
		b.Advance(time.Duration(rand.IntN(4000)) * time.Microsecond)
		if rand.IntN(2) == 0 {
			b.Crash(time.Duration(rand.IntN(2000)) * time.Millisecond)
		} else {
			b.Restart(time.Duration(rand.IntN(2000)) * time.Millisecond)
		}
		ch = b.Connect().Open()
		if rand.IntN(2) == 0 {
			for _, body := range ch.Drain("dead") {
				arrived[body] = true
			}
		}
	}
	for _, body := range takeAll(b, ch, "dead") {
		arrived[body] = true
	}
	for body := range want {
		if !arrived[body] {
			b.Errorf("%s is lost", body)
		}
	}
	for q := range 4 {
		if got := stateOf(b, fmt.Sprint("q", q)); got != "" {
			b.Errorf("q%d is %q", q, got)
		}
	}
}

// A crash while a deletion waits for the queue's last dead letters leaves the queue, or its dead letters have arrived (LEASE-15).
func TestDeletedWithDeadLetters_LEASE15(t *testing.T) {
	for us := 0; us < 6000; us += 250 {
		testkit.RunStored(t, nil, func(b *testkit.Bubble) {
			ch, other := b.Connect().Open(), b.Connect().Open()
			durable(b, ch, "dead", nil)
			durable(b, ch, "q", deadTo("dead"))
			stores(b, ch, "", "q", persistent("dies", "1000"), persistent("stays", ""))
			b.Advance(time.Second)
			deleted := make(chan int, 1)
			go func() {
				if n, err := other.QueueDelete("q", false, false, false); err == nil {
					deleted <- n
				}
			}()
			b.Advance(time.Duration(us) * time.Microsecond)
			answered := len(deleted) > 0
			b.Crash(0)
			ch = b.Connect().Open()
			b.Advance(time.Second)
			dead, left := fmt.Sprint(slices.Compact(ch.Drain("dead"))), stateOf(b, "q")
			if dead != "[dies]" || (left != "") != (left == "running 0 of 1, 0 again") || answered && left != "" {
				b.Errorf("%d µs: dead %s, queue %q, answered %v", us, dead, left, answered)
			}
		})
	}
}

// A transient queue and an exclusive one send their messages as long as the broker runs, also when their owner has
// left. A virtual host that is deleted waits for nobody.
func TestEndingOfOthers_LEASE14(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		owner := b.Connect()
		ch := owner.Open()
		durable(b, ch, "dead", nil)
		args := endsIn("dead")
		if _, err := ch.QueueDeclare("mine", false, false, true, false, args); err != nil {
			b.Fatal(err)
		}
		ch.Declare("transient", args)
		for range 3000 {
			ch.Send("", "mine", testkit.Text("m"))
			ch.Send("", "transient", testkit.Text("t"))
		}
		b.AdvanceTo(time.Second)
		owner.Leave()
		b.Advance(time.Second)
		if got := stateOf(b, "dead"); got != "running 0 of 6000, 0 again" || stateOf(b, "mine")+stateOf(b, "transient") != "" {
			b.Errorf("%s; %q, %q", got, stateOf(b, "mine"), stateOf(b, "transient"))
		}
		makeVHost(b, auth.VHost{Name: "v"})
		_, in := openIn(b, "v")
		for _, q := range []struct {
			name string
			args amqp.Table
		}{
			{"q.dlq", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"}},
			{"q", amqp.Table{"x-expires": 1000, "x-expires-dead-letters-backlog": true, "x-dead-letter-queue": true}},
		} {
			if _, err := in.QueueDeclare(q.name, true, false, false, false, q.args); err != nil {
				b.Fatal(err)
			}
		}
		if err := in.Publish("", "q", false, false, persistent("m", "")); err != nil {
			b.Fatal(err)
		}
		b.Advance(time.Hour)
		if q, err := b.Node.API().Queue(b.Context(), "v", "q"); err != nil || q.State != "ending" {
			b.Fatalf("%+v, %v", q.State, err)
		}
		b.Log.Allow("before its dead letters", "vhost 'v' is deleted")
		removeVHost(b, "v")
	})
}
