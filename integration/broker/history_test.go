package broker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// keeping declares a recent-history exchange.
func keeping(ch publisher, name string, length int32) {
	if err := ch.ExchangeDeclare(name, "x-recent-history", true, false, false, false, amqp.Table{"x-recent-history-length": length}); err != nil {
		panic(err)
	}
}

const (
	newsPublishers = 3
	newsOfEach     = 400 // messages
	newsBinds      = 12
)

// TestDEC17RecentHistory: each message published while queues are being bound reaches each queue once, directly or through
// another exchange; dead letters are kept in the history, too; during an alarm a binding that would deliver the history is
// refused.
func TestDEC17RecentHistory(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		main := connectPublisher(b)
		bindWhilePublishing(b, main)

		keeping(main, "deaths", 5)
		main.Declare("first", amqp.Table{"x-dead-letter-exchange": "deaths"})
		main.Send("", "first", testkit.Expiring("dead", "10"))
		b.Advance(20 * time.Millisecond)
		main.Declare("dead", nil)
		main.Bind("dead", "", "deaths")
		if d := main.Fetch("dead"); d == nil || string(d.Body) != "dead" || d.Headers["x-first-death-queue"] != "first" {
			t.Errorf("%+v", d)
		}

		m.set(501, 1000)
		b.Advance(time.Second)
		other := b.Connect().Open()
		other.Declare("late", nil)
		err := other.QueueBind("late", "", "deaths", false, nil)
		if err == nil || !strings.Contains(err.Error(), "during a memory or disk alarm: the exchange would send the messages in its history") {
			t.Error(err)
		}
		m.set(100, 1000)
		b.Advance(10 * time.Second)
		main.Declare("late", nil)
		main.Bind("late", "", "deaths")
		if main.Fetch("late") == nil {
			t.Error("nothing after the alarm")
		}
	})
}

func bindWhilePublishing(b *testkit.Bubble, main publisher) {
	keeping(main, "news", newsPublishers*newsOfEach+1000)
	main.Exchange("further", "fanout")
	main.Declare("behind", nil)
	main.Bind("behind", "", "further")
	main.Confirms()
	var all sync.WaitGroup
	for p := range newsPublishers {
		ch := b.Connect().Open()
		ch.Confirms()
		all.Go(func() {
			for n := range newsOfEach {
				ch.Publish("news", fmt.Sprint(n%7), amqp.Publishing{Body: fmt.Appendf(nil, "%d-%03d", p, n), DeliveryMode: uint8(1 + n%2)})
			}
		})
	}
	sent := newsPublishers * newsOfEach
	for n := range newsBinds {
		name := fmt.Sprint("q", n)
		main.Declare(name, nil)
		main.Bind(name, "", "news")
		if n == newsBinds/2 {
			if err := main.ExchangeBind("further", "", "news", false, nil); err != nil {
				b.Fatal(err)
			}
		}
		for k := range 20 { // so that publishes and binds overlap
			main.Publish("news", "", testkit.Text(fmt.Sprintf("main-%d-%d", n, k)))
			sent++
		}
	}
	all.Wait()
	for _, name := range []string{"q0", "q1", fmt.Sprint("q", newsBinds-1), "behind"} {
		got := main.Drain(name)
		slices.Sort(got)
		if distinct := len(slices.Compact(slices.Clone(got))); len(got) != sent || distinct != sent {
			b.Errorf("%s got %d messages, %d different ones, of %d", name, len(got), distinct, sent)
		}
	}
}
