package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/config"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/store/memory"
	"candlemark/protocol"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Events of connections, channels, consumers, leases and the machine are published to amq.rabbitmq.event, each once and in order,
// with RabbitMQ's keys (ADR 54).
func TestEventExchange(t *testing.T) {
	m := &meter{memory: 100, disk: 1000}
	testkit.Run(t, func(c *supervision.Config) {
		c.EventsIn = "/"
		c.Alarms = resources.Config{Meter: m, Watermark: config.Share(0.5), DiskFree: config.Amount{Bytes: 50 * mb}}
	}, func(b *testkit.Bubble) {
		heard := listens(b)
		client := b.Connect()
		created := []string{"user.authentication.success name=guest auth_mechanism=PLAIN ssl=false", "connection.created user=guest vhost=/ protocol={0,9,1}"}
		checkEvents(b, heard, "a client comes", created...)
		ch := client.Open()
		checkEvents(b, heard, "a channel", "channel.created number=1 user=guest vhost=/")
		ch.Declare("q", leaseArgs)
		checkEvents(b, heard, "a queue", "queue.created name=q vhost=/")
		if _, err := ch.Consume("q", "c", true, true, false, false, amqp.Table{"x-priority": int32(5)}); err != nil {
			t.Fatal(err)
		}
		checkEvents(b, heard, "a consumer", "consumer.created consumer_tag=c queue=q vhost=/ exclusive=true ack_required=false prefetch_count=0 arguments=map[x-priority:5]")
		if err := ch.Cancel("c", false); err != nil {
			t.Fatal(err)
		}
		checkEvents(b, heard, "it is cancelled", "consumer.deleted consumer_tag=c queue=q vhost=/")
		ch.Send("", "q", testkit.Text("m"))
		b.Advance(899 * ms)
		checkEvents(b, heard, "no lease ends early")
		b.Advance(2 * ms) // the cancel took less than a millisecond
		checkEvents(b, heard, "a lease ends", "queue.deleted name=q vhost=/ user_who_performed_action=rmq-internal", "queue.lease.ended name=q vhost=/ messages=1 user_who_performed_action=rmq-internal")

		ch.Declare("q", nil)
		checkEvents(b, heard, "a queue", "queue.created name=q vhost=/")
		ch.Tail("q")
		checkEvents(b, heard, "a consumer", "consumer.created consumer_tag=q-a queue=q exclusive=false")
		if err := ch.Close(); err != nil {
			t.Fatal(err)
		}
		checkEvents(b, heard, "a channel closes", "channel.closed number=1", "consumer.deleted consumer_tag=q-a queue=q")
		client.Leave()
		checkEvents(b, heard, "the client leaves", "connection.closed user=guest vhost=/")

		for what, set := range map[string]func(bad bool){
			"memory": func(bad bool) { m.set(map[bool]int64{true: 600, false: 100}[bad], 1000) },
			"disk":   func(bad bool) { m.set(100, map[bool]int64{true: 10, false: 1000}[bad]) },
		} {
			set(true)
			b.Advance(15 * time.Second)
			checkEvents(b, heard, what, "alarm.set source="+what+" user_who_performed_action=rmq-internal")
			set(false)
			b.Advance(15 * time.Second)
			checkEvents(b, heard, what, "alarm.cleared source="+what+" user_who_performed_action=rmq-internal")
		}
	})
}

// listens binds a queue to the event exchange, consumes it, and reads the events caused by that.
func listens(b *testkit.Bubble) <-chan amqp.Delivery {
	b.Helper()
	ch := b.Connect().Open()
	ch.Declare("events", nil)
	ch.Bind("events", "#", "amq.rabbitmq.event")
	heard := ch.Tail("events")
	checkEvents(b, heard, "the listener", "binding.created source_name=amq.rabbitmq.event destination_name=events", "consumer.created queue=events")
	return heard
}

// checkEvents checks which events have arrived since the last call, in any order, and some of their keys.
func checkEvents(b *testkit.Bubble, heard <-chan amqp.Delivery, when string, want ...string) {
	b.Helper()
	synctest.Wait()
	got := map[string]amqp.Table{}
	var names []string
	for d, ok := testkit.TryReceive(heard, 0); ok; d, ok = testkit.TryReceive(heard, 0) {
		got[d.RoutingKey], names = d.Headers, append(names, d.RoutingKey)
	}
	if len(names) != len(want) {
		b.Errorf("%s: %q, want %q", when, names, want)
	}
	for _, text := range want {
		fields := strings.Fields(text)
		if got[fields[0]] == nil {
			b.Errorf("%s: %q, want %s", when, names, fields[0])
		}
		for _, field := range fields[1:] {
			key, value, _ := strings.Cut(field, "=")
			if is := fmt.Sprint(got[fields[0]][key]); is != value {
				b.Errorf("%s: %s has %s=%s, want %s", when, fields[0], key, is, value)
			}
		}
	}
}

// At most 4,096 events wait for a slow queue; further events are dropped and counted, and the log says how many.
func TestRoomOfEventExchange(t *testing.T) {
	const room, more = 4096, 500
	var journal *memory.Journal
	testkit.RunStored(t, func(c *supervision.Config) {
		c.EventsIn = "/"
		journal = memory.New(memory.Options{Delay: 2 * time.Second}) // events are persistent: the queue accepts them when they are written
		c.Journal = journal
	}, func(b *testkit.Bubble) {
		b.Cleanup(func() { _ = journal.Close() })
		ch := b.Connect().Open()
		durable(b, ch, "events", nil)
		ch.Bind("events", "test.*", "amq.rabbitmq.event")
		synctest.Wait()
		publish := func(from, to int) {
			for n := range to - from {
				b.Node.API().Events().Publish(events.Unrecorded, func() *events.Event {
					return &events.Event{Name: "test.event", Fields: protocol.Table{{Key: "n", Value: int64(from + n)}}}
				})
			}
		}
		b.Advance(time.Minute) // until the events of the queue are published
		publish(0, 1)
		synctest.Wait()          // the publisher waits for the journal
		publish(1, 1+room+more)  // the publisher still waits
		b.Advance(2 * time.Hour) // in batches of 256
		publish(1+room+more, 2+room+more)
		b.Advance(time.Minute)
		var got []int64
		for d := ch.Fetch("events"); d != nil; d = ch.Fetch("events") {
			got = append(got, d.Headers["n"].(int64))
		}
		var want []int64
		for n := range int64(1 + room) {
			want = append(want, n)
		}
		if want = append(want, 1+room+more); !slices.Equal(got, want) {
			t.Errorf("%d events, want %d: %v", len(got), len(want), got)
		}
		if n := b.Log.Count(fmt.Sprintf(`"lost_events":%d,`, more)); n != 1 || b.Log.Count("lost_events") != 1 {
			t.Errorf("%d lines about %d lost events", n, more)
		}
	})
}
