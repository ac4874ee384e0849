package integration

import (
	"context"
	wire "encoding/binary"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// stormTTL is that of the messages that must not expire early.
const stormTTL = 3 * time.Second

// timed has messages that expire, with the time of their publishing by a clock that all failures leave alone.
type timed struct {
	began time.Time
	sent  map[uint64]time.Duration // confirmed ones, by number
	came  map[uint64]bool
	early int
	late  time.Duration // at most
}

func (*timed) channel(c *nodes) (*amqp.Connection, *amqp.Channel) {
	for {
		conn := c.dial()
		if conn == nil {
			return nil, nil
		}
		ch, err := conn.Channel()
		if err == nil {
			_, err = ch.QueueDeclare("expired", true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
		}
		if err == nil {
			_, err = ch.QueueDeclare("waiting", true, false, false, false, amqp.Table{
				"x-queue-type": "quorum", "x-message-ttl": stormTTL.Milliseconds(), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "expired",
				"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
			})
		}
		if err == nil {
			return conn, ch
		}
		_ = conn.Close()
	}
}

// publish publishes one message after the other until ctx ends.
func (s *timed) publish(ctx context.Context, c *nodes) {
	s.began, s.sent = time.Now(), map[uint64]time.Duration{}
	for n := uint64(0); ctx.Err() == nil; {
		conn, ch := s.channel(c)
		if ch == nil {
			return
		}
		for err := ch.Confirm(false); err == nil && ctx.Err() == nil; {
			n++
			at, d := time.Since(s.began), (*amqp.DeferredConfirmation)(nil)
			body := wire.BigEndian.AppendUint64(wire.BigEndian.AppendUint64(nil, n), uint64(at))
			if d, err = ch.PublishWithDeferredConfirm("", "waiting", false, false, amqp.Publishing{DeliveryMode: 2, Body: body}); err != nil {
				break
			}
			limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			ok, failed := d.WaitContext(limit)
			cancel()
			if err = failed; ok {
				s.sent[n] = at
			}
			<-time.After(20 * time.Millisecond)
		}
		_ = conn.Close()
	}
}

// consume takes expired messages until done is closed and nothing comes any more.
func (s *timed) consume(c *nodes, done <-chan struct{}) {
	s.came = map[uint64]bool{}
	for {
		conn, ch := s.channel(c)
		if ch == nil {
			return
		}
		_ = ch.Qos(50, 0, false)
		in, err := ch.Consume("expired", "", false, false, false, false, nil)
		for open := err == nil; open; {
			select {
			case d, ok := <-in:
				if open = ok; !ok {
					continue
				}
				late := time.Since(s.began) - time.Duration(wire.BigEndian.Uint64(d.Body[8:])) - stormTTL
				if s.late = max(s.late, late); late < 0 {
					s.early++
				}
				s.came[wire.BigEndian.Uint64(d.Body)] = true
				_ = d.Ack(false)
			case <-time.After(2 * time.Second):
				select {
				case <-done:
					_ = conn.Close()
					return
				default:
				}
			}
		}
		_ = conn.Close()
	}
}

// lost returns how many confirmed messages have not come.
func (s *timed) lost() (n int) {
	for number := range s.sent {
		if !s.came[number] {
			n++
		}
	}
	return n
}
