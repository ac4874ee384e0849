package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// whatIsDurable lists all definitions that must survive a restart, as clients see them.
func whatIsDurable(b *testkit.Bubble) (list []string) {
	synctest.Wait()
	kept := map[string]bool{}
	d := b.VHost().Directory()
	for q := range d.Queues() {
		if q.Durable {
			kept["q"+q.Name] = true
			list = append(list, fmt.Sprintf("queue %s %v %v %d", q.Name, q.AutoDelete, q.Arguments, q.Incarnation))
		}
	}
	for x := range d.Exchanges() {
		if x.Durable {
			kept["x"+x.Name] = true
			list = append(list, fmt.Sprintf("exchange %s %s %v", x.Name, x.Type, x.AutoDelete))
		}
	}
	for x := range d.Exchanges() {
		if !x.Durable || x.Name == "candlemark.admin" {
			continue
		}
		for to := range x.Routes().Bindings() {
			end := "q"
			if to.ToExchange {
				end = "x"
			}
			if kept[end+to.Destination] {
				list = append(list, fmt.Sprintf("%s %s %s %s", x.Name, end, to.Destination, to.RoutingKey))
			}
		}
	}
	slices.Sort(list)
	return list
}

// act makes a random change to the definitions; most changes are valid.
func act(r *rand.Rand, ch *amqp.Channel) error {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	queue, exchange := pick("a", "b", "c"), pick("x", "y", "z")
	durable, autoDelete := queue != "c", exchange == "y"
	source := pick(exchange, exchange, "amq.direct")
	switch r.IntN(14) {
	case 0, 1, 2:
		_, err := ch.QueueDeclare(queue, durable, queue == "b", false, false, nil)
		return err
	case 3, 4, 5:
		return ch.ExchangeDeclare(exchange, "direct", exchange != "z", autoDelete, false, false, nil)
	case 6, 7, 8:
		return ch.QueueBind(queue, pick("k", "l"), source, false, nil)
	case 9:
		return ch.QueueUnbind(queue, pick("k", "l"), source, nil)
	case 10:
		return ch.ExchangeBind(exchange, pick("k", "l"), pick("x", "y", "z", "amq.direct"), false, nil)
	case 11:
		_, err := ch.QueueDelete(queue, r.IntN(2) == 0, false, false)
		return err
	case 12:
		return ch.ExchangeDelete(exchange, r.IntN(2) == 0, false)
	}
	if _, err := ch.Consume(queue, "t", true, false, false, false, nil); err != nil {
		return err
	}
	return ch.Cancel("t", false)
}

// Clients change definitions concurrently, while the store is slow and fails now and then, and actors panic. A restart recovers
// exactly the final state.
func TestDefinitionsAtRandom(t *testing.T) {
	const rounds, clients, acts = 3, 4, 100
	for range rounds {
		seed := rand.Uint64()
		f := &faults{}
		testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
			for _, text := range []string{"could not be", "closed by the broker", "closing connection"} {
				b.Log.Allow(text)
			}
			allowPanics(b)
			var working sync.WaitGroup
			for n := range clients {
				working.Go(func() { define(b, rand.New(rand.NewPCG(seed, uint64(n))), acts) })
			}
			stop := make(chan struct{})
			var shaking sync.WaitGroup
			shaking.Go(func() { shake(b, f, rand.New(rand.NewPCG(seed, 99)), stop) })
			working.Wait()
			close(stop)
			shaking.Wait()
			before := whatIsDurable(b)
			b.Crash(0)
			if after := whatIsDurable(b); !slices.Equal(before, after) {
				b.Errorf("seed %d\nbefore %q\nafter  %q", seed, before, after)
			}
		})
	}
}

func define(b *testkit.Bubble, r *rand.Rand, acts int) {
	client := b.Connect()
	ch := client.Open()
	for range acts {
		time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
		if err := act(r, ch.Channel); err == nil {
			continue
		} else if e := new(amqp.Error); !errors.As(err, &e) {
			b.Error(err)
		}
		if client.IsClosed() {
			client = b.Connect()
		}
		ch = client.Open()
	}
}

// shake makes the store slow or fail, or a queue panic.
func shake(b *testkit.Bubble, f *faults, r *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.IntN(3000)) * time.Microsecond):
		}
		switch r.IntN(4) {
		case 0:
			b.Meta.Fail(errors.New("no disk"))
			time.Sleep(300 * time.Microsecond)
			b.Meta.Fail(nil)
		case 1:
			f.arm(supervision.KindQueue, "*mail.DeclareQueue")
		default:
			release := b.Meta.Hold()
			time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
			release()
		}
	}
}
