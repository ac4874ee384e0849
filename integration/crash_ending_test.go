package integration

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestEndingQueuesSurviveKill_LEASE14 kills or stops the broker while leases end whose queues dead-letter their backlog: every confirmed
// message arrives.
func TestEndingQueuesSurviveKill_LEASE14(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 36))
	dir := filepath.Join(t.TempDir(), "data")
	const queues, each = 8, 400
	want := map[string]bool{}
	for round := range *crashRounds {
		b := startIn(t, dir)
		c := b.dial()
		_, err := c.QueueDeclare("dead", true, false, false, false, nil)
		c.must(err)
		c.must(c.Confirm(false))
		var confirms []*amqp.DeferredConfirmation
		for q := range queues {
			name := fmt.Sprintf("%d-%d", round, q)
			_, err := c.QueueDeclare(name, true, false, false, false, amqp.Table{
				"x-expires": 1500, "x-expires-dead-letters-backlog": true, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
			})
			c.must(err)
			for i := range each {
				body := fmt.Sprintf("%s-%d", name, i)
				want[body] = true
				d, err := c.PublishWithDeferredConfirm("", name, true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
				c.must(err)
				confirms = append(confirms, d)
			}
		}
		for _, d := range confirms {
			if !d.Wait() {
				t.Fatal("a message was refused")
			}
		}
		<-time.After(time.Duration(1000+r.IntN(700)) * time.Millisecond) // chosen by the test
		if round%2 == 0 {
			b.kill()
		} else {
			b.stop()
		}
	}
	b := startIn(t, dir)
	c := b.dial()
	eventually(t, "all messages to arrive", func() bool {
		for {
			d, ok, err := c.Get("dead", true)
			if c.must(err); !ok {
				return len(want) == 0
			}
			delete(want, string(d.Body))
		}
	})
	b.stop()
}
