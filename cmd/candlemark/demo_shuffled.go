package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Numbers of the act. Messages that the policy changes are published after half of the time, to the queue that holds
// all the others.
const (
	shuffledCount = 20_000
	shuffledFirst = time.Second
	shuffledLast  = 20 * time.Second
	hurriedCount  = 1_000
	hurriedTTL    = time.Second
	hurriedOwn    = time.Minute // their own TTL, which the policy undercuts
)

// shuffledAct: every message dies when its time has come, wherever it stands in
// the queue, and a policy acts on the next message.
var shuffledAct = act{
	lines: []line{
		{"20,000 messages, TTLs of 1-20 s shuffled, one queue: lost", "0"},
		{"    early", "0"},
		{"    late, p50", "<= 5 ms"},
		{"    late, p99", "<= 10 ms"},
		{"    late, max", "<= 100 ms"},
		{"policy message-ttl 1 s at 10 s, next 1,000 to that queue: lost, early", "0, 0"},
		{"    late, p99", "<= 10 ms"},
	},
	play: playShuffled,
}

func playShuffled(ctx context.Context, s *stage) ([]finding, error) {
	v, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer v.leave()
	queue, dead, exchange := s.name+"shuffled", s.name+"shuffled.dead", s.name+"dlx"
	if err := v.ExchangeDeclare(exchange, "fanout", false, true, false, false, nil); err != nil {
		return nil, err
	}
	if err := v.own(dead, nil); err != nil {
		return nil, err
	}
	if err := v.QueueBind(dead, "", exchange, false, nil); err != nil {
		return nil, err
	}
	if err := v.own(queue, amqp.Table{"x-dead-letter-exchange": exchange}); err != nil {
		return nil, err
	}
	arrivals, err := v.watch(dead)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := v.fill(ctx, queue, shuffledTTLs()); err != nil {
		return nil, err
	}
	hurried, err := playPolicy(ctx, s, v, queue, began)
	if err != nil {
		return nil, err
	}
	all := collect(ctx, arrivals, shuffledCount+hurried, began.Add(shuffledLast+5*time.Second))
	var plain, after []arrival
	for _, a := range all {
		if a.Type == "hurried" {
			after = append(after, a)
		} else {
			plain = append(plain, a)
		}
	}
	p, h := lateness(plain), lateness(after)
	found := []finding{
		judged(len(plain) == shuffledCount, "%d", shuffledCount-len(plain)),
		judged(p.early == 0, "%d", p.early),
		timed(s.mostly(p.p50, 5*time.Millisecond), true, "%s", ms(p.p50)),
		timed(s.mostly(p.p99, 10*time.Millisecond), true, "%s", ms(p.p99)),
		timed(s.once(p.max, 100*time.Millisecond), true, "%s", ms(p.max)),
	}
	if hurried == 0 {
		return append(found, finding{"no HTTP URL given", skipped}, finding{"no HTTP URL given", skipped}), nil
	}
	return append(found,
		judged(len(after) == hurried && h.early == 0, "%d, %d", hurried-len(after), h.early),
		timed(s.once(h.p99, 10*time.Millisecond), true, "%s", ms(h.p99))), nil
}

func shuffledTTLs() []time.Duration {
	ttls := make([]time.Duration, shuffledCount)
	for i, k := range rand.Perm(shuffledCount) {
		step := (shuffledLast - shuffledFirst) * time.Duration(k) / (shuffledCount - 1)
		ttls[i] = (shuffledFirst + step).Truncate(time.Millisecond)
	}
	return ttls
}

// fill publishes in lots and waits for each, so that messages do not grow old
// in a socket.
func (v *demoClient) fill(ctx context.Context, queue string, ttls []time.Duration) error {
	const lot = 100
	confirms := make([]*amqp.DeferredConfirmation, 0, lot)
	for i, ttl := range ttls {
		c, err := v.PublishWithDeferredConfirmWithContext(ctx, "", queue, false, false, expiring(ttl))
		if err != nil {
			return err
		}
		if confirms = append(confirms, c); len(confirms) == lot || i == len(ttls)-1 {
			if err := taken(ctx, confirms...); err != nil {
				return err
			}
			confirms = confirms[:0]
		}
	}
	return nil
}

// playPolicy applies a policy to the queue half-way and publishes behind it. It
// returns how many messages that were.
func playPolicy(ctx context.Context, s *stage, v *demoClient, queue string, began time.Time) (int, error) {
	if s.http == "" {
		return 0, nil
	}
	if err := wait(ctx, time.Until(began.Add(shuffledLast/2))); err != nil {
		return 0, err
	}
	name := s.name + "policy"
	err := s.policy(ctx, http.MethodPut, name, map[string]any{
		"pattern": "^" + regexp.QuoteMeta(queue) + "$", "apply-to": "queues",
		"definition": map[string]any{"message-ttl": hurriedTTL.Milliseconds()},
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.policy(context.WithoutCancel(ctx), http.MethodDelete, name, nil) }() // matches nothing any more
	for range hurriedCount {
		m := expiring(hurriedTTL)
		m.Type, m.Expiration = "hurried", fmt.Sprint(hurriedOwn.Milliseconds())
		if err := v.put(ctx, queue, m); err != nil {
			return 0, err
		}
	}
	return hurriedCount, nil
}

// wait lets time pass.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
