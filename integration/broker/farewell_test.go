package broker

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/asynkron/protoactor-go/actor"
)

// shaken makes actors yield at random before each message, so that mail arrives in varying orders.
func shaken(cfg *supervision.Config) {
	cfg.Workers = 4
	cfg.Fault = func(*actor.PID, any) bool {
		for range rand.IntN(3) * rand.IntN(60) {
			runtime.Gosched()
		}
		return false
	}
}

// A queue's lease ends while clients publish and declare. In every order of events, each publish is confirmed, each declare is
// answered, and the queue works after the last declare (PRO-2, PRO-3).
func TestFarewellRace(t *testing.T) {
	const rounds, publishers, declarers = 60, 3, 2
	for _, args := range []amqp.Table{{"x-expires": 50}, deadTo("dead", "x-expires", 50, "x-message-ttl", 1)} {
		testkit.Run(t, shaken, func(b *testkit.Bubble) {
			setup := b.Connect().Open()
			setup.Confirms()
			var pubs, decs []*testkit.Channel
			for range publishers {
				ch := b.Connect().Open()
				ch.Confirms()
				pubs = append(pubs, ch)
			}
			for range declarers {
				decs = append(decs, b.Connect().Open())
			}
			for round := range rounds {
				b.Advance(time.Duration(rand.IntN(int(10 * ms))))
				if _, err := setup.QueueDeclare("q", true, false, false, false, args); err != nil {
					b.Fatal(err)
				}
				deadline := b.Elapsed() + 50*ms
				race(b, round, deadline, pubs, decs, args)
				if _, err := setup.QueueDeclare("q", true, false, false, false, args); err != nil {
					b.Fatal(err)
				}
				if args["x-message-ttl"] == nil {
					setup.Drain("q")
					setup.Publish("", "q", testkit.Text("after"))
					if d := setup.Fetch("q"); d == nil || string(d.Body) != "after" {
						b.Fatalf("round %d: the queue does not work: %v", round, d)
					}
				}
				if _, err := setup.QueueDelete("q", false, false, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// race has all clients act around the deadline: some exactly at it, some within a millisecond of it, each several times.
func race(b *testkit.Bubble, round int, deadline time.Duration, pubs, decs []*testkit.Channel, args amqp.Table) {
	b.Helper()
	near := func() time.Duration {
		switch rand.IntN(4) {
		case 0:
			return 0
		case 1:
			return (deadline + ms - 1).Truncate(ms) - deadline // the rounded deadline
		}
		return time.Duration(rand.IntN(int(2*ms))) - ms
	}
	done := make(chan string, 100)
	running := 0
	act := func(what func()) {
		running++
		at := deadline + near()
		go func() {
			time.Sleep(at - b.Elapsed())
			what()
			done <- ""
		}()
	}
	for p, ch := range pubs {
		act(func() {
			var last []*amqp.DeferredConfirmation
			for i := range 5 {
				m := testkit.Text(fmt.Sprintf("%d-%d-%d", round, p, i))
				m.DeliveryMode = uint8(1 + rand.IntN(2))
				last = append(last, ch.Begin("", "q", true, m))
			}
			for _, d := range last {
				if !ch.Await(d) {
					b.Error("nack")
				}
			}
		})
	}
	for _, ch := range decs {
		act(func() {
			for range 3 {
				if _, err := ch.QueueDeclare("q", true, false, false, false, args); err != nil {
					b.Error("declare:", err)
				}
			}
		})
	}
	for range running {
		testkit.Receive(b, done)
	}
	for _, ch := range pubs {
		for len(ch.Returns) > 0 {
			<-ch.Returns
		}
	}
}

// The same with consumers of an auto-delete queue: a consumer whose consume is answered gets deliveries, or a cancel.
func TestFarewellAutoDeleteRace(t *testing.T) {
	testkit.Run(t, shaken, func(b *testkit.Bubble) {
		pub, first, second := b.Connect().Open(), b.Connect().Open(), b.Connect().Open()
		pub.Confirms()
		for round := range 100 {
			if _, err := pub.QueueDeclare("q", false, true, false, false, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := first.Consume("q", "first", true, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			left := make(chan error, 1)
			go func() { left <- first.Cancel("first", false) }()
			confirm := pub.Begin("", "q", false, testkit.Text("m"))
			if _, err := second.QueueDeclare("q", false, true, false, false, nil); err != nil {
				t.Fatalf("round %d: declare: %v", round, err)
			}
			deliveries, err := second.Consume("q", "second", true, false, false, false, nil)
			if err != nil {
				second = b.Connect().Open() // the queue was deleted between declare and consume: 404
				synctest.Wait()
				if b.Queue("q") != nil {
					t.Fatalf("round %d: %v, but it is there", round, err)
				}
				<-left
				pub.Await(confirm)
				continue
			}
			if err := testkit.Receive(b, left); err != nil {
				t.Fatal(err)
			}
			if !pub.Await(confirm) {
				t.Error("nack")
			}
			pub.Publish("", "q", testkit.Text("last"))
			for d := range deliveries { // the channel is closed when the broker cancels the consumer
				if string(d.Body) == "last" {
					break
				}
			}
			synctest.Wait()
			if _, err := second.QueueDelete("q", false, false, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Several clients delete and declare a queue concurrently: every request is answered, and bindings never outlive their queue.
func TestDeleteDeclareRace(t *testing.T) {
	testkit.Run(t, shaken, func(b *testkit.Bubble) {
		setup := b.Connect().Open()
		setup.Exchange("x", "topic")
		const clients = 4
		done := make(chan bool, clients)
		for range clients {
			ch := b.Connect().Open()
			ch.Confirms()
			go func() {
				defer func() { done <- true }()
				for range 100 {
					if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
						t.Error(err)
						return
					}
					if err := ch.QueueBind("q", "k", "x", false, nil); err != nil {
						ch = b.Connect().Open() // another client has deleted the queue in the meantime
						ch.Confirms()
					}
					if !ch.Publish("x", "k", testkit.Text("m")) {
						t.Error("nack")
					}
					if _, err := ch.QueueDelete("q", false, false, false); err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		for range clients {
			testkit.Receive(b, done)
		}
		synctest.Wait()
		if b.Queue("q") != nil {
			t.Error("the queue is there")
		}
		if n := b.VHost().Directory().Exchange([]byte("x")).Routes().Len(); n != 0 {
			t.Errorf("%d bindings", n)
		}
	})
}
