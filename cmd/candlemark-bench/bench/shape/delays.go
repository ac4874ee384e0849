package shape

import (
	"errors"
	"fmt"
	"time"

	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// delays sends messages that reach a queue after a delay.
func (b *Bench) delays() error {
	t, err := b.arrive("delay")
	if err != nil {
		return err
	}
	t.book.AnyOrder = true // each hold queue has its own
	how := b.publishing("", b.name+"hold")
	switch b.Via {
	case "message":
		err = b.queue(b.name+"hold", toTarget(t.target))
	case "exchange":
		how.Exchange = b.name + "x"
		how.Key = func(int) string { return t.target }
		if err = b.delayedExchange(how.Exchange); err == nil {
			err = b.bind(t.target, how.Exchange, t.target)
		}
		how.Dress = func(dst []byte, p *wire.Publish, ttl time.Duration) []byte {
			p.Properties.Flags |= protocol.FlagHeaders
			p.Properties.Headers = b.Properties.Headers.Set("x-delay", ttl.Milliseconds())
			return dst
		}
	default:
		how.Dress = b.hold(t.target)
	}
	if err != nil {
		return t.finish(err)
	}
	b.sample()
	began := time.Now()
	err = t.publish(how)
	b.result.Add("publish_per_s", report.Rate(b.run.Sent.Load(), time.Since(began)))
	t.settled(0)
	return t.finish(err)
}

// delayedExchange declares an exchange that delays, on a connection of its own: one that has none closes it.
func (b *Bench) delayedExchange(name string) error {
	try, err := b.dial()
	if err != nil {
		return err
	}
	defer func() { _ = try.Close() }() // the exchange stays
	_, err = try.Call(1, &protocol.ExchangeDeclare{
		Exchange: name, Type: "x-delayed-message", Durable: b.Persistent, Arguments: protocol.Table{{Key: "x-delayed-type", Value: "direct"}},
	})
	var closed *wire.Closed
	if errors.As(err, &closed) {
		return fmt.Errorf("the broker has no delayed exchanges: %w", err)
	}
	b.made = append(b.made, func() { _, _ = b.control.Call(1, &protocol.ExchangeDelete{Exchange: name}) })
	return err
}

// hold publishes to a queue for each delay, which ends itself some time after its messages. As clients do, it declares the queue
// before each publish.
func (b *Bench) hold(target string) func(dst []byte, p *wire.Publish, ttl time.Duration) []byte {
	declared := map[time.Duration]*protocol.QueueDeclare{}
	return func(dst []byte, p *wire.Publish, ttl time.Duration) []byte {
		q := declared[ttl]
		if q == nil || !b.Once {
			if q == nil {
				q = &protocol.QueueDeclare{Queue: fmt.Sprint(b.name, "hold.", ttl.Milliseconds()), Durable: b.Persistent, NoWait: true, Arguments: append(
					toTarget(target), protocol.Field{Key: "x-message-ttl", Value: ttl.Milliseconds()},
					protocol.Field{Key: "x-expires", Value: (2*ttl + 5*time.Second).Milliseconds()},
				)}
				declared[ttl] = q
			}
			dst = protocol.AppendMethodFrame(dst, p.Channel, q)
		}
		p.Key = q.Queue
		return dst
	}
}
