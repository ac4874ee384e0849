package broker

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ladderLevels is the number of levels of a ladder: delays from 1 s to 2^28 - 1 s, eight and a half years.
const ladderLevels = 28

// ladder is the structure by which libraries delay messages with plain RabbitMQ: level n is a topic exchange and a queue in which
// messages stay for 2^n s and are then dead-lettered to the level below. The routing key contains the delay in binary; depending
// on its digit, a level holds a message or passes it on.
type ladder struct {
	level    func(n int) string
	delivery string
	queues   amqp.Table          // arguments, beside TTL and DLX
	ttl      func(n int) int64   // of level n, ms
	entry    func(delay int) int // the level to which a message is published
}

// seconds returns the time in ms that a message stays in level n.
func seconds(n int) int64 { return 1000 << n }

// serviceBusLadder is the one of NServiceBus.
var serviceBusLadder = ladder{
	level:    func(n int) string { return fmt.Sprintf("nsb.v2.delay-level-%02d", n) },
	delivery: "nsb.v2.delay-delivery",
	queues:   amqp.Table{"x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"},
	ttl:      seconds,
	entry:    func(delay int) int { return bits.Len(uint(delay)) - 1 },
}

// celeryLadder is the one of Celery, built by kombu.
func celeryLadder(kind string) ladder {
	l := ladder{
		level:    func(n int) string { return fmt.Sprint("celery_delayed_", n) },
		delivery: "celery_delayed_delivery",
		queues:   amqp.Table{"x-queue-type": kind, "x-overflow": "reject-publish"},
		ttl:      seconds,
		entry:    func(int) int { return ladderLevels - 1 },
	}
	if kind == "quorum" {
		l.queues["x-dead-letter-strategy"] = "at-least-once"
	}
	return l
}

// build declares all levels, and a queue destination at the end.
func (l ladder) build(t testing.TB, ch *amqp.Channel) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	topic := func(name string) { must(ch.ExchangeDeclare(name, "topic", true, false, false, false, nil)) }
	any := "" // matches the digits above the level's own
	topic(l.delivery)
	for n := ladderLevels - 1; n >= 0; n-- {
		topic(l.level(n))
	}
	for n := ladderLevels - 1; n >= 0; n-- {
		name, below := l.level(n), l.delivery
		if n > 0 {
			below = l.level(n - 1)
		}
		args := amqp.Table{"x-message-ttl": l.ttl(n), "x-dead-letter-exchange": below}
		for k, v := range l.queues {
			args[k] = v
		}
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		must(err)
		must(ch.QueueBind(name, any+"1.#", name, false, nil))
		must(ch.ExchangeBind(below, any+"0.#", name, false, nil))
		any += "*."
	}
	_, err := ch.QueueDeclare("destination", true, false, false, false, amqp.Table{"x-dead-letter-exchange": "retries"})
	must(err)
	must(ch.QueueBind("destination", "#.destination", l.delivery, false, nil))
}

// key returns the routing key of a delay in seconds.
func (l ladder) key(delay int) string {
	digits := strings.Split(fmt.Sprintf("%0*b", ladderLevels, delay), "")
	return strings.Join(digits, ".") + ".destination"
}

// send publishes a message with a delay.
func (l ladder) send(ch *testkit.Channel, delay int, m amqp.Publishing) {
	m.DeliveryMode = amqp.Persistent
	ch.Send(l.level(l.entry(delay)), l.key(delay), m)
}

func eachLadder(t *testing.T, test func(b *testkit.Bubble, l ladder)) {
	for name, l := range map[string]ladder{
		"NServiceBus": serviceBusLadder, "Celery, quorum": celeryLadder("quorum"), "Celery, classic": celeryLadder("classic"),
	} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) { test(b, l) })
		})
	}
}

// Delays from a second to eight and a half years end at the right millisecond. A message is dead-lettered once per digit that is
// set, and its history lists each level (DL-20, DL-31).
func TestDL31Ladder(t *testing.T) {
	delays := []int{
		1, 2, 3, 10, 59, 60, 61, 3599, 3600, 86_400, 86_401, 604_800, 4*604_800 + 12_345, 31_536_000, 1<<27 - 1, 1 << 27, 1<<28 - 1,
	}
	eachLadder(t, func(b *testkit.Bubble, l ladder) {
		client := b.Connect()
		ch := client.Open()
		l.build(b.T, ch.Channel)
		b.AdvanceTo(time.Second)
		for _, d := range slices.Backward(delays) {
			l.send(ch, d, testkit.Text(strconv.Itoa(d)))
		}
		synctest.Wait()
		client.Leave() // its heartbeats would slow down eight years of virtual time
		for i, d := range delays {
			due := time.Second + time.Duration(d)*time.Second
			b.AdvanceTo(due - 1)
			if n := b.Describe("destination").Ready; n != i {
				b.Fatalf("%d messages have come 1 ns before %d s, want %d", n, d, i)
			}
			b.AdvanceTo(due)
			if n := b.Describe("destination").Ready; n != i+1 {
				b.Fatalf("%d messages have come after %d s, want %d", n, d, i+1)
			}
		}
		ch = b.Connect().Open()
		for _, delay := range delays {
			d := ch.Fetch("destination")
			list := d.Headers["x-death"].([]any)
			if string(d.Body) != strconv.Itoa(delay) || d.RoutingKey != l.key(delay) || len(list) != bits.OnesCount(uint(delay)) {
				b.Errorf("%d s: %s by %s, %d deaths", delay, d.Body, d.RoutingKey, len(list))
			}
			left := delay // the newest death belongs to the lowest digit
			for _, death := range list {
				death := death.(amqp.Table)
				n := bits.TrailingZeros(uint(left))
				left &^= 1 << n
				if death["queue"] != l.level(n) || death["reason"] != "expired" || death["count"] != int64(1) {
					b.Errorf("%d s: %v, want %s", delay, death, l.level(n))
				}
			}
		}
		if n := b.Log.Count("cycle"); n != 0 {
			b.Errorf("%d cycles", n)
		}
	})
}

// Messages with the same delay keep their order through all levels, and none is lost (DL-31).
func TestDL31LadderOrder(t *testing.T) {
	const count = 2000
	eachLadder(t, func(b *testkit.Bubble, l ladder) {
		ch := b.Connect().Open()
		l.build(b.T, ch.Channel)
		arrivals := b.Connect().Open().Watch("destination")
		b.AdvanceTo(time.Second)
		for i := range count {
			l.send(ch, 21, testkit.Text(strconv.Itoa(i)))
		}
		for i := range count {
			if a := testkit.Receive(b, arrivals); string(a.Body) != strconv.Itoa(i) || a.At != 22*time.Second {
				b.Fatalf("%s at %v, want %d", a.Body, a.At, i)
			}
		}
		testkit.Silent(b, arrivals, 30*time.Second)
	})
}

// A message rejected at its destination can pass through the ladder any number of times, with one entry of x-death for each level
// (DL-21, DL-25, DL-26). The history begins anew if its client republishes it with its x-death (DL-23).
func TestDL25LadderRetries(t *testing.T) {
	eachLadder(t, func(b *testkit.Bubble, l ladder) {
		ch := b.Connect().Open()
		l.build(b.T, ch.Channel)
		// A retry takes 5 s: levels 2 and 0.
		if err := ch.ExchangeDeclare("retries", "fanout", true, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
		if err := ch.ExchangeBind(l.level(ladderLevels-1), "", "retries", false, nil); err != nil {
			b.Fatal(err)
		}
		deliveries := ch.Subscribe("destination", 1)
		b.AdvanceTo(time.Second)
		l.send(ch, 5, testkit.Text("m"))
		for round := 1; round <= 30; round++ {
			d := testkit.Receive(b, deliveries)
			if want := time.Second + time.Duration(5*round)*time.Second; b.Elapsed() != want {
				b.Fatalf("round %d at %v, want %v", round, b.Elapsed(), want)
			}
			list := d.Headers["x-death"].([]any)
			if len(list) != min(round+1, 3) || list[0].(amqp.Table)["queue"] != l.level(0) || list[0].(amqp.Table)["count"] != int64(round) {
				b.Fatalf("round %d: %v", round, list)
			}
			if round == 30 {
				_ = d.Ack(false)
				l.send(ch, 5, amqp.Publishing{Headers: d.Headers})
				break
			}
			_ = d.Reject(false)
		}
		if list := testkit.Receive(b, deliveries).Headers["x-death"].([]any); len(list) != 2 || list[0].(amqp.Table)["count"] != int64(1) {
			b.Errorf("published anew: %v", list)
		}
		if n := b.Log.Count("cycle"); n != 0 {
			b.Errorf("%d cycles", n)
		}
	})
}

// A ladder whose end leads to its beginning does not loop: a message passes each level once and arrives; the copy that would pass
// them again is dropped with a warning (DL-25, DL-27).
func TestDL25LadderCycle(t *testing.T) {
	eachLadder(t, func(b *testkit.Bubble, l ladder) {
		ch := b.Connect().Open()
		l.build(b.T, ch.Channel)
		if err := ch.ExchangeBind(l.level(ladderLevels-1), "#", l.delivery, false, nil); err != nil {
			b.Fatal(err)
		}
		l.send(ch, 6, testkit.Text("m"))
		b.Advance(time.Minute)
		if got := len(ch.Drain("destination")); got != 1 {
			b.Errorf("%d came to their destination", got)
		}
		for n := range ladderLevels {
			if d := b.Describe(l.level(n)); d.Ready+d.Unacked != 0 {
				b.Errorf("%s has %d", l.level(n), d.Ready)
			}
		}
		if n := b.Log.Count("cycle"); n != 1 {
			b.Errorf("%d warnings of cycles", n)
		}
	})
}

// BenchmarkLadder measures how fast messages pass all levels of a ladder of 1 ms each: 28 deaths for each message.
func BenchmarkLadder(b *testing.B) {
	for name, kind := range map[string]string{"classic": "classic", "quorum": "quorum"} {
		b.Run(name, func(b *testing.B) {
			ch := benchChannel(b)
			l := celeryLadder(kind)
			l.ttl = func(int) int64 { return 1 }
			l.build(b, ch)
			arrivals, err := ch.Consume("destination", "", true, false, false, false, nil)
			if err != nil {
				b.Fatal(err)
			}
			m := amqp.Publishing{Body: make([]byte, 100), DeliveryMode: amqp.Persistent}
			key := l.key(1<<ladderLevels - 1)
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				for range b.N {
					_ = ch.PublishWithContext(b.Context(), l.level(ladderLevels-1), key, false, false, m)
				}
			}()
			for range b.N {
				<-arrivals
			}
			b.ReportMetric(float64(b.N*ladderLevels)/b.Elapsed().Seconds(), "deaths/s")
		})
	}
}
