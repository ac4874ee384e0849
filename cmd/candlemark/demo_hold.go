package main

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// holdRounds is how often each delay is used, every holdEvery.
const (
	holdRounds = 40
	holdEvery  = 25 * time.Millisecond
	holdIdle   = time.Second // a hold queue outlives its last message by this
)

var holdDelays = []time.Duration{
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second,
}

// holdAct: delayed messages in the way that clients of RabbitMQ know. There is
// one queue per delay, with a TTL and a dead-letter exchange; each publish
// declares it again, and it goes when it is not needed any more.
var holdAct = act{
	lines: []line{
		{"delay by hold queues, 5 delays of 250-3,000 ms, 40 messages each: lost, early", "0, 0"},
		{"    late, p99", "<= 10 ms"},
		{"    hold queues deleted when their x-expires has passed", "5, <= 100 ms late"},
	},
	play: playHold,
}

func playHold(ctx context.Context, s *stage) ([]finding, error) {
	v, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer v.leave()
	target := s.name + "delayed"
	if err := v.own(target, nil); err != nil {
		return nil, err
	}
	arrivals, err := v.watch(target)
	if err != nil {
		return nil, err
	}
	declared := make([]time.Time, len(holdDelays))
	for range holdRounds {
		for i, delay := range holdDelays {
			if declared[i], err = v.hold(ctx, s.name, target, delay); err != nil {
				return nil, err
			}
		}
		if err := wait(ctx, holdEvery); err != nil {
			return nil, err
		}
	}
	ended := s.holdsEnd(ctx, declared)
	want := holdRounds * len(holdDelays)
	all := collect(ctx, arrivals, want, time.Now().Add(holdDelays[len(holdDelays)-1]+3*time.Second))
	gone, latest := 0, time.Duration(0)
	for range holdDelays {
		if late := <-ended; late < demoLimit {
			gone++
			latest = max(latest, late)
		}
	}
	late := lateness(all)
	return []finding{
		judged(len(all) == want && late.early == 0, "%d, %d", want-len(all), late.early),
		timed(s.once(late.p99, 10*time.Millisecond), true, "%s", ms(late.p99)),
		timed(s.once(latest, prompt), gone == len(holdDelays), "%d, %s late", gone, ms(latest)),
	}, nil
}

// holdsEnd returns for each hold queue how long after its lease it was deleted, or demoLimit if it was not.
func (s *stage) holdsEnd(ctx context.Context, declared []time.Time) <-chan time.Duration {
	ended := make(chan time.Duration, len(declared))
	for i, delay := range holdDelays {
		go func() {
			end := declared[i].Add(delay + holdIdle)
			v, err := s.connect()
			if err != nil {
				ended <- demoLimit
				return
			}
			defer v.leave()
			// A probe that the queue still takes ends with it, long before its TTL.
			if err = wait(ctx, time.Until(end.Add(-2*time.Millisecond))); err == nil {
				var at time.Time
				if at, err = v.gone(ctx, holdName(s.name, delay)); err == nil {
					ended <- at.Sub(end)
					return
				}
			}
			ended <- demoLimit
		}()
	}
	return ended
}

// hold delays one message and returns when its hold queue had been declared.
func (v *demoClient) hold(ctx context.Context, prefix, target string, delay time.Duration) (time.Time, error) {
	queue := holdName(prefix, delay)
	_, err := v.QueueDeclare(queue, false, false, false, false, amqp.Table{
		"x-message-ttl": delay.Milliseconds(), "x-expires": (delay + holdIdle).Milliseconds(),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": target,
	})
	if err != nil {
		return time.Time{}, err
	}
	declared := time.Now()
	m := expiring(delay)
	m.Expiration = ""
	return declared, v.put(ctx, queue, m)
}

func holdName(prefix string, delay time.Duration) string {
	return fmt.Sprintf("%shold.%d", prefix, delay.Milliseconds())
}
