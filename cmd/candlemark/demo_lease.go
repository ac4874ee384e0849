package main

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The leases of the act.
const (
	lease     = 1500 * time.Millisecond
	leaseUse  = 500 * time.Millisecond // between two uses
	leaseKept = 4 * time.Second        // that much is the queue used
)

// leaseAct: a queue with x-expires ends when it was unused for that long, and only then. Publishing does not count as
// use.
var leaseAct = act{
	lines: []line{
		{"queue with x-expires 1,500 ms, only published to: deleted after", "1,500-1,600 ms"},
		{"queue declared passively every 500 ms: kept 4 s, then deleted after", "1,500-1,600 ms"},
		{"queue polled by basic.get every 500 ms: kept 4 s, then deleted after", "1,500-1,600 ms"},
	},
	play: playLease,
}

func playLease(ctx context.Context, s *stage) ([]finding, error) {
	uses := []func(*demoClient, string) error{
		nil,
		func(v *demoClient, queue string) error {
			_, err := v.QueueDeclarePassive(queue, false, false, false, false, nil)
			return err
		},
		func(v *demoClient, queue string) error {
			_, _, err := v.Get(queue, true)
			return err
		},
	}
	names := []string{"idle", "passive", "get"}
	found := make([]finding, len(uses))
	done := make(chan struct{})
	for i := range uses {
		go func() {
			found[i] = s.leased(ctx, s.name+"lease."+names[i], uses[i])
			done <- struct{}{}
		}()
	}
	for range uses {
		<-done
	}
	return found, nil
}

// leased declares a queue with a lease, uses it for a while, and measures how
// long it stays after that.
func (s *stage) leased(ctx context.Context, queue string, use func(*demoClient, string) error) finding {
	v, err := s.connect()
	if err != nil {
		return judged(false, "error: %v", err)
	}
	defer v.leave()
	before := time.Now()
	if _, err := v.QueueDeclare(queue, false, false, false, false, amqp.Table{"x-expires": lease.Milliseconds()}); err != nil {
		return judged(false, "error: %v", err)
	}
	after := time.Now()
	for began := after; use != nil && time.Since(began) < leaseKept; {
		if err := wait(ctx, leaseUse); err != nil {
			return judged(false, "error: %v", err)
		}
		before = time.Now()
		if err := use(v, queue); err != nil {
			return judged(false, "gone after %s: %v", ms(time.Since(began)), err)
		}
		after = time.Now()
	}
	end, err := v.gone(ctx, queue)
	if err != nil {
		return judged(false, "error: %v", err)
	}
	return timed(s.once(end.Sub(after)-lease, prompt), end.Sub(before) >= lease, "%s", ms(end.Sub(before)))
}
