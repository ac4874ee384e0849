package integration

import (
	"cmp"
	"context"
	wire "encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// stormTTL is the TTL of the messages that must not expire early.
const stormTTL = 3 * time.Second

// timed has messages that expire, with the time of their publishing by a clock that all failures leave alone.
type timed struct {
	began time.Time
	sent  map[uint64]time.Duration // when confirmed ones were confirmed, by number
	came  map[uint64]arrival
	early int
}

// arrival is the first arrival of a message that has expired.
type arrival struct {
	published, at time.Duration // since the beginning
	expired       any           // when the broker says that it expired
	redelivered   bool
}

func newTimed() *timed {
	return &timed{began: time.Now(), sent: map[uint64]time.Duration{}, came: map[uint64]arrival{}}
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
				s.sent[n] = time.Since(s.began)
			}
			<-time.After(20 * time.Millisecond)
		}
		_ = conn.Close()
	}
}

// consume takes expired messages until done is closed and nothing comes any more.
func (s *timed) consume(c *nodes, done <-chan struct{}) {
	for {
		conn, ch := s.channel(c)
		if ch == nil {
			return
		}
		_ = ch.Qos(50, 0, false)
		in, err := ch.Consume("expired", "", false, false, false, false, nil)
		c.diary.note("the consumer of expired messages is connected to %v: %v", conn.RemoteAddr(), err)
		for open := err == nil; open; {
			select {
			case d, ok := <-in:
				if open = ok; !ok {
					continue
				}
				s.took(d)
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
		c.diary.note("the consumer of expired messages has lost its connection")
		_ = conn.Close()
	}
}

// took notes an expired message.
func (s *timed) took(d amqp.Delivery) {
	n, a := wire.BigEndian.Uint64(d.Body), arrival{time.Duration(wire.BigEndian.Uint64(d.Body[8:])), time.Since(s.began), nil, d.Redelivered}
	if deaths, ok := d.Headers["x-death"].([]any); ok && len(deaths) == 1 {
		if death, ok := deaths[0].(amqp.Table); ok {
			a.expired = death["time"]
		}
	}
	if a.at < a.published+stormTTL {
		s.early++
	}
	if _, again := s.came[n]; !again {
		s.came[n] = a
	}
}

// lost returns how many confirmed messages have not come.
func (s *timed) lost() (n int) {
	for number := range s.sent {
		if _, ok := s.came[number]; !ok {
			n++
		}
	}
	return n
}

// late describes the confirmed messages that came the latest, counted from their confirms, and what happened until then. A message that was not confirmed may have been on
// its way on a connection that the producer had given up.
func (s *timed) late(c *nodes) string {
	var list []uint64
	for n := range s.sent {
		if _, came := s.came[n]; came {
			list = append(list, n)
		}
	}
	after := func(n uint64) time.Duration { return s.came[n].at - s.sent[n] - stormTTL }
	slices.SortFunc(list, func(a, b uint64) int { return cmp.Compare(after(b), after(a)) })
	if len(list) == 0 {
		return "none with a TTL"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d with a TTL, at most %v late, half of them at most %v", len(list), after(list[0]).Round(time.Millisecond), after(list[len(list)/2]).Round(time.Millisecond))
	last := time.Duration(-1)
	for shown, n := range list {
		a := s.came[n]
		if after(n) < 2*time.Second || shown == 200 {
			break
		}
		if last >= 0 && (a.at-last).Abs() < 20*time.Second {
			continue // together with one that is shown
		}
		last = a.at
		at := func(d time.Duration) string { return s.began.Add(d).UTC().Format("15:04:05.000") }
		fmt.Fprintf(&text, "\n%d was published at %s, confirmed at %s, has expired at %v and came at %s, %v late, redelivered %v:%s", n, at(a.published), at(s.sent[n]),
			a.expired, at(a.at), after(n).Round(time.Millisecond), a.redelivered, c.between(s.began.Add(a.published-5*time.Second), s.began.Add(a.at)))
	}
	return text.String()
}
