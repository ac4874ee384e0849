package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Queues end by lease, with their last consumer, and by deletion, while other clients declare, use and fill queues with the same
// few names, and a policy is set and cleared. Every publish is confirmed, every request answered, and the only errors
// are about missing queues.
func TestFloodOfShortLivedQueues(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	stop := make(chan struct{})
	var running sync.WaitGroup
	for n := range 4 {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			v := &churner{T: t, b: b, Rand: r}
			if err := v.connect(); err != nil {
				t.Error(err)
				return
			}
			for range 2000 {
				if err := v.step(); err != nil {
					t.Errorf("churner %d: %v", n, err)
					return
				}
			}
			if err := v.conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	var policing sync.WaitGroup
	policing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			b.request("PUT", "/api/policies/%2F/churn", `{"pattern":"^churn","definition":{"expires":3,"max-length":5}}`, http.StatusCreated)
			b.request("DELETE", "/api/policies/%2F/churn", "", http.StatusNoContent)
		}
	})
	running.Wait()
	close(stop)
	policing.Wait()
	s.undisturbed(b)
	c := b.dial()
	for n := range churnNames {
		name := fmt.Sprint("churn.", n)
		eventually(t, name+" ends", func() bool { return !c.takes(name) })
	}
}

const churnNames = 3

// churner runs random operations on queues shared with other churners.
type churner struct {
	*testing.T
	*rand.Rand
	b    *broker
	conn *amqp.Connection
	ch   *amqp.Channel
}

func (v *churner) connect() (err error) {
	if v.conn, err = amqp.Dial("amqp://guest:guest@" + v.b.amqp + "/"); err != nil {
		return err
	}
	return v.open()
}

func (v *churner) open() (err error) {
	if v.ch, err = v.conn.Channel(); err != nil {
		return err
	}
	return v.ch.Confirm(false)
}

// step runs one operation; neither a missing queue nor one that is ending is an error (LEASE-14): churn.0 may be ending when dead letters of the
// others arrive, which then wait.
func (v *churner) step() error {
	done := make(chan error, 1)
	go func() { done <- v.act(fmt.Sprint("churn.", v.IntN(churnNames))) }()
	var err error
	select {
	case err = <-done:
	case <-time.After(patience):
		return errors.New("no answer")
	}
	var e *amqp.Error
	if errors.As(err, &e) && (e.Code == amqp.NotFound || e.Code == amqp.ResourceLocked && strings.Contains(e.Reason, "is ending")) {
		return v.open()
	}
	return err
}

func (v *churner) act(queue string) error {
	switch v.IntN(8) {
	case 0, 1:
		return v.declare(queue)
	case 2, 3, 4:
		m := amqp.Publishing{Expiration: fmt.Sprint(v.IntN(4)), Body: []byte(queue)}
		confirm, err := v.ch.PublishWithDeferredConfirm("", queue, v.IntN(2) == 0, false, m)
		if err == nil && !confirm.Wait() {
			err = errors.New("nack")
		}
		return err
	case 5:
		d, ok, err := v.ch.Get(queue, false)
		if err == nil && ok {
			err = d.Nack(false, v.IntN(2) == 0)
		}
		return err
	case 6:
		if _, err := v.ch.Consume(queue, "tag", v.IntN(2) == 0, false, false, false, nil); err != nil {
			return err
		}
		if v.IntN(3) == 0 { // end the consumer by closing its channel
			if err := v.ch.Close(); err != nil {
				return err
			}
			return v.open()
		}
		return v.ch.Cancel("tag", false)
	default:
		_, err := v.ch.QueueDelete(queue, false, false, false)
		return err
	}
}

// declare declares the queue with a lease of a few ms, and dead-lettering to one of the queues, so that cycles exist.
func (v *churner) declare(queue string) error {
	_, err := v.ch.QueueDeclare(queue, false, true, false, false, amqp.Table{
		"x-expires": int32(4), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "churn.0",
	})
	return err
}
