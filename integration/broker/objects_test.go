package broker

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/protocol"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	amqp "github.com/rabbitmq/amqp091-go"
)

// objectsRun runs test on a broker on which all objects together may take 32 MiB, those of its only user 21 MiB, and
// those of a connection 16 MiB.
func objectsRun(t *testing.T, test func(b *testkit.Bubble)) {
	testkit.RunStored(t, func(c *supervision.Config) {
		c.Alarms = resources.Config{Meter: &meter{memory: 1, disk: 1000}, Watermark: config.Amount{Bytes: 20 * mb}, DiskFree: config.Amount{Bytes: 50 * mb}}
	}, func(b *testkit.Bubble) {
		b.Log.Allow("channel exception", "objects of")
		test(b)
	})
}

// large are arguments that take about 100 KB.
var large = amqp.Table{"k": strings.Repeat("x", 100_000)}

// fillUp calls do until it fails, which must be for lack of room, and returns how often it succeeded.
func fillUp(b *testkit.Bubble, what string, do func(n int) error) (count int) {
	b.Helper()
	for n := range 500 {
		err := do(n)
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "PRECONDITION_FAILED") && !strings.Contains(err.Error(), "Exception (406)") || !strings.Contains(err.Error(), "may take at most") {
			b.Errorf("%s: %v", what, err)
		}
		if n < 50 || n > 230 {
			b.Errorf("%d %s", n, what)
		}
		return n
	}
	b.Fatalf("500 %s", what)
	return 0
}

// Consumers, queues, exchanges and bindings take room according to their arguments. Existing objects may be declared again, and
// the end of some makes room. A restart keeps what exists.
func TestPRO21_Objects(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		consumersFill(b)
		ch := b.Connect().Open()
		queue := func(n int) error {
			_, err := ch.QueueDeclare(fmt.Sprint("q", n), true, false, false, false, large)
			return err
		}
		n := fillUp(b, "queues", queue)
		ch = b.Connect().Open()
		if err := queue(0); err != nil {
			b.Errorf("a queue that exists: %v", err)
		}
		b.Restart(time.Second)
		ch = b.Connect().Open()
		if err := queue(n - 1); err != nil {
			b.Errorf("a queue that exists: %v", err)
		}
		if err := queue(n); err == nil {
			b.Error("another queue after a restart")
		}
		ch = b.Connect().Open()
		for n := range n {
			if _, err := ch.QueueDelete(fmt.Sprint("q", n), false, false, false); err != nil {
				b.Fatal(err)
			}
		}

		exchange := func(n int) error {
			return ch.ExchangeDeclare(fmt.Sprint("x", n), "headers", true, false, false, false, large)
		}
		n = fillUp(b, "exchanges", exchange)
		ch = b.Connect().Open()
		for n := range n {
			if err := ch.ExchangeDelete(fmt.Sprint("x", n), false, false); err != nil {
				b.Fatal(err)
			}
		}
		ch.Declare("q", nil)
		bind := func(n int) error { return ch.QueueBind("q", fmt.Sprint(n), "amq.headers", false, large) }
		n = fillUp(b, "bindings", bind)
		ch = b.Connect().Open()
		if err := bind(0); err != nil {
			b.Errorf("a binding that exists: %v", err)
		}
		if err := ch.QueueUnbind("q", "1", "amq.headers", large); err != nil {
			b.Error(err)
		}
		if err := bind(n); err != nil {
			b.Errorf("instead of another: %v", err)
		}
	})
}

// consumersFill is TestPRO21_Objects for consumers.
func consumersFill(b *testkit.Bubble) {
	ch := b.Connect().Open()
	ch.Declare("q", nil)
	consume := func(n int) error {
		_, err := ch.Consume("q", fmt.Sprint(n), true, false, false, false, large)
		return err
	}
	n := fillUp(b, "consumers", consume)
	ch = b.Connect().Open() // the channel has ended, and with it its consumers
	if again := fillUp(b, "consumers", consume); again != n {
		b.Errorf("%d, then %d consumers", n, again)
	}
}

// TestConnectionMemory_PRO21: the memory of a connection is what it has open.
func TestConnectionMemory_PRO21(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		memory := func() int64 {
			all, err := b.Node.API().Connections(b.Context(), "")
			if err != nil || len(all) != 1 {
				b.Fatal(all, err)
			}
			return all[0].Memory
		}
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		before := memory()
		if _, err := ch.Consume("q", "tag", true, false, false, false, large); err != nil {
			b.Fatal(err)
		}
		if after := memory(); before < 4000 || before > 10_000 || after < before+100_000 || after > before+110_000 {
			b.Errorf("%d bytes, with a consumer %d", before, after)
		}
		if err := ch.Cancel("tag", false); err != nil {
			b.Fatal(err)
		}
		if after := memory(); after > before+1000 {
			b.Errorf("%d bytes without the consumer, %d before", after, before)
		}
	})
}

// TestClientProperties_PRO21: client properties count in the memory of their connection, at the size in which they were sent.
func TestClientProperties_PRO21(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		ours, theirs := net.Pipe()
		b.Node.Connect(ours)
		conn, err := amqp.Open(theirs, amqp.Config{
			SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/",
			Properties: amqp.Table{"voids": make([]any, 4000)},
		})
		if err != nil {
			b.Fatal(err)
		}
		all, err := b.Node.API().Connections(b.Context(), "")
		if err != nil || len(all) != 1 || all[0].Memory < 4000 || all[0].Memory > 5000 {
			b.Errorf("%+v, %v", all, err)
		}
		if got, _ := all[0].ClientProperties.Get("voids"); len(got.(protocol.Array)) != 4000 {
			b.Errorf("%v", got)
		}
		if err := conn.Close(); err != nil {
			b.Error(err)
		}
	})
}

// TestNotes_PRO21: the ids of many duplicate detection windows take half of what a user may have, so that other objects find room;
// they count in the memory of their queues, and the end of the queues makes room.
func TestNotes_PRO21(t *testing.T) {
	const queues, most = 100, 11 << 20
	objectsRun(t, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if err := ch.ExchangeDeclare("x", "fanout", false, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
		window := amqp.Table{"x-duplicate-detection-window": 3_600_000, "x-max-length": 1}
		for i := range queues {
			ch.Declare(fmt.Sprint("q", i), window)
			ch.Bind(fmt.Sprint("q", i), "", "x")
		}
		for i := range 1000 {
			ch.Send("x", "", amqp.Publishing{MessageId: fmt.Sprint(i)})
		}
		ch.Confirms()
		ch.Publish("x", "", amqp.Publishing{MessageId: "last"}) // after all others
		all, err := b.Node.API().Queues(b.Context(), "/")
		if err != nil {
			b.Fatal(err)
		}
		memory := int64(0)
		for i := range all {
			memory += all[i].Memory
		}
		if memory > most+most/4 || memory < most/2 {
			b.Errorf("the ids take %d bytes", memory)
		}
		queue := func(n int) error {
			_, err := ch.QueueDeclare(fmt.Sprint("more", n), false, false, false, false, large)
			return err
		}
		before := fillUp(b, "queues beside ids", queue)
		ch = b.Connect().Open()
		for _, q := range all {
			if _, err := ch.QueueDelete(q.Name, false, false, false); err != nil {
				b.Fatal(err)
			}
		}
		more := 0
		for queue(before+more) == nil && more < 200 {
			more++
		}
		if more < before/2 {
			b.Errorf("%d queues beside ids, then %d more", before, more)
		}
	})
}

// TestPRO21_OthersHaveRoom: a user who has filled a virtual host leaves room for another one, also when its durable objects
// have been loaded.
func TestPRO21_OthersHaveRoom(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		_, err1 := b.Users.PutAccount(auth.Account{Name: "bob", Hash: auth.HashPassword("x")})
		_, err2 := b.Users.PutGrant(auth.Grant{User: "bob", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"})
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		queue := func(ch *testkit.Channel, name string, n int) error {
			_, err := ch.QueueDeclare(fmt.Sprint(name, n), true, false, false, false, large)
			return err
		}
		ch := b.Connect().Open()
		for n := range 60 {
			if err := queue(ch, "q", n); err != nil {
				b.Fatal(err)
			}
		}
		fillUp(b, "bindings", func(n int) error { return ch.QueueBind("q0", fmt.Sprint(n), "amq.headers", false, large) })
		for n := range 2 {
			ch := b.ConnectAs("bob", "x").Open()
			for i := range 20 {
				if err := queue(ch, fmt.Sprintf("bob%d", n), i); err != nil {
					b.Fatal(i, err)
				}
				if err := ch.QueueBind(fmt.Sprintf("bob%d%d", n, i), "", "amq.fanout", false, nil); err != nil {
					b.Fatal(i, err)
				}
			}
			b.Restart(time.Second)
			if _, err := b.Connect().Open().QueueDelete(fmt.Sprint("q", n), false, false, false); err != nil {
				b.Error(err) // who has filled a part can still open a channel
			}
		}
	})
}

// Concurrent commands find the room that the others have left.
func TestPRO21_AtOnce(t *testing.T) {
	for what, do := range map[string]func(ch *testkit.Channel, n int) error{
		"consumers": func(ch *testkit.Channel, n int) error {
			_, err := ch.Consume("q", fmt.Sprint(n), true, false, false, false, large)
			return err
		},
		"queues": func(ch *testkit.Channel, n int) error {
			_, err := ch.QueueDeclare(fmt.Sprint("q", n), true, false, false, false, large)
			return err
		},
		"exchanges": func(ch *testkit.Channel, n int) error {
			return ch.ExchangeDeclare(fmt.Sprint("x", n), "headers", true, false, false, false, large)
		},
		"bindings": func(ch *testkit.Channel, n int) error {
			return ch.QueueBind("q", fmt.Sprint(n), "amq.headers", false, large)
		},
		"transient bindings": func(ch *testkit.Channel, n int) error {
			return ch.QueueBind("t", fmt.Sprint(n), "amq.headers", false, large)
		},
	} {
		t.Run(what, func(t *testing.T) {
			objectsRun(t, func(b *testkit.Bubble) {
				c := b.Connect()
				if _, err := c.Open().QueueDeclare("q", true, false, false, false, nil); err != nil {
					b.Fatal(err)
				}
				c.Open().Declare("t", nil)
				var all sync.WaitGroup
				var done atomic.Int64
				var channels []*testkit.Channel
				for range 400 {
					channels = append(channels, c.Open())
				}
				for n, ch := range channels {
					all.Go(func() {
						if do(ch, n) == nil {
							done.Add(1)
						}
					})
				}
				all.Wait()
				if n := done.Load(); n < 50 || n > 230 {
					b.Errorf("%d of them may exist", n)
				}
			})
		})
	}
}
