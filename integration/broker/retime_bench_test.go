package broker

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// benchChannel returns a channel of a broker that runs until the benchmark ends.
func benchChannel(b *testing.B) *amqp.Channel {
	_, ch := benchBroker(b)
	return ch
}

// benchBroker returns such a broker, and a channel of it.
func benchBroker(b *testing.B) (*supervision.Node, *amqp.Channel) {
	journal := memory.New(memory.Options{})
	node, err := supervision.Start(supervision.Config{Users: auth.NewGuest(), Journal: journal, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	ours, theirs := net.Pipe()
	node.Connect(ours)
	conn, err := amqp.Open(theirs, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(conn.Close(), node.Stop(context.Background()), journal.Close()); err != nil {
			b.Error(err)
		}
	})
	ch, err := conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	return node, ch
}

// BenchmarkRetroactivePolicy changes the deadlines of a million queued messages by a policy (TTL-25), while a consumer takes them
// one by one. It measures the longest time without a delivery before the policy and in the two seconds after it.
func BenchmarkRetroactivePolicy(b *testing.B) {
	const messages = 1_000_000
	ch := benchChannel(b)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	_, err := ch.QueueDeclare("long", false, false, false, false, nil)
	must(err)
	body := make([]byte, 100)
	for range messages {
		must(ch.PublishWithContext(b.Context(), "", "long", false, false, amqp.Publishing{Body: body}))
	}
	must(ch.Qos(1, 0, false))
	deliveries, err := ch.Consume("long", "", false, false, false, false, nil)
	must(err)
	pause := func() (longest time.Duration, taken int) {
		last := time.Now()
		for until := last.Add(2 * time.Second); last.Before(until); taken++ {
			d := <-deliveries
			now := time.Now()
			longest, last = max(longest, now.Sub(last)), now
			must(d.Ack(false))
		}
		return longest, taken
	}
	policy := func(ttl string) {
		must(ch.PublishWithContext(b.Context(), "candlemark.admin", "policy.set", false, false, amqp.Publishing{
			Body: []byte(`{"name":"p","pattern":"^long$","definition":{"message-ttl":` + ttl + `,"message-ttl-retroactive":true}}`),
		}))
	}
	for b.Loop() {
		before, _ := pause()
		policy("3600000")
		after, taken := pause()
		b.ReportMetric(float64(before.Microseconds())/1000, "ms-before")
		b.ReportMetric(float64(after.Microseconds())/1000, "ms-pause")
		b.ReportMetric(float64(taken), "taken")
	}
	policy("1")
	for began := time.Now(); ; {
		if q, err := ch.QueueDeclarePassive("long", false, false, false, false, nil); err != nil || q.Messages == 0 {
			must(err)
			return
		}
		if time.Since(began) > time.Minute {
			b.Fatal("the policy does nothing")
		}
	}
}
