package main

import (
	"context"
	"errors"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// prompt is how soon something must happen that is due.
const prompt = 100 * time.Millisecond

// pair is a queue and the one that gets its dead letters.
type pair struct {
	*demoClient
	queue, dead string
	arrivals    <-chan arrival // at dead
}

// pair declares both, for one visitor.
func (s *stage) pair(name string) (*pair, error) {
	v, err := s.connect()
	if err != nil {
		return nil, err
	}
	p := &pair{demoClient: v, queue: s.name + name, dead: s.name + name + ".dead"}
	if err = p.own(p.dead, nil); err == nil {
		err = p.own(p.queue, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.dead})
	}
	if err == nil {
		p.arrivals, err = p.watch(p.dead)
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

// died waits 3 s for one dead letter.
func (p *pair) died(ctx context.Context) (arrival, bool) {
	got := collect(ctx, p.arrivals, 1, time.Now().Add(3*time.Second))
	if len(got) == 0 {
		return arrival{}, false
	}
	return got[0], true
}

// positionAct: a message behind others with longer TTLs expires in time, with x-death.
var positionAct = act{
	lines: []line{
		{"TTL 200 ms behind a message without TTL: dead-lettered after", "200-300 ms"},
		{"    its x-death: count, reason, queue, exchange, key, original TTL", "1 expired, 200"},
		{"    its x-first-death-* and x-last-death-* headers", "6"},
	},
	play: playPosition,
}

func playPosition(ctx context.Context, s *stage) ([]finding, error) {
	p, err := s.pair("position")
	if err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.put(ctx, p.queue, amqp.Publishing{}); err != nil {
		return nil, err
	}
	const ttl = 200 * time.Millisecond
	if err := p.put(ctx, p.queue, expiring(ttl)); err != nil {
		return nil, err
	}
	a, ok := p.died(ctx)
	first := timed(s.once(a.late(), prompt), ok && a.late() >= 0, "%s", ms(ttl+a.late()))
	if !ok {
		first = judged(false, "not within 3 s")
		if _, _, err := p.Get(p.queue, true); err != nil { // frees the messages behind it
			return nil, err
		}
		if a, ok = p.died(ctx); !ok {
			return nil, errors.New("no dead letter")
		}
	}
	return []finding{first, p.story(a), ends(a)}, nil
}

// story judges the x-death header of a message that died once in p.queue.
func (p *pair) story(a arrival) finding {
	deaths, _ := a.Headers["x-death"].([]any)
	if len(deaths) != 1 {
		return judged(false, "%d deaths", len(deaths))
	}
	death, _ := deaths[0].(amqp.Table)
	keys, _ := death["routing-keys"].([]any)
	_, timed := death["time"].(time.Time)
	good := death["count"] == int64(1) && death["reason"] == "expired" && death["queue"] == p.queue && death["exchange"] == "" &&
		len(keys) == 1 && keys[0] == p.queue && timed && death["original-expiration"] == "200" && a.Expiration == ""
	return judged(good, "%v %v, %v", death["count"], death["reason"], death["original-expiration"])
}

// ends counts the headers about the first and the last death.
func ends(a arrival) finding {
	n, missing := 0, []string{}
	for _, end := range []string{"x-first-death-", "x-last-death-"} {
		for _, what := range []string{"queue", "reason", "exchange"} {
			if _, ok := a.Headers[end+what].(string); ok {
				n++
			} else if len(missing) == 0 || missing[len(missing)-1] != end+"*" {
				missing = append(missing, end+"*")
			}
		}
	}
	if n == 6 {
		return judged(true, "6")
	}
	return judged(false, "%d, no %s", n, strings.Join(missing, ", "))
}

// zeroAct: a message with TTL 0 is delivered only to a consumer that is ready for it.
var zeroAct = act{
	lines: []line{
		{"TTL 0, no consumer: dead-lettered after", "<= 100 ms"},
		{"TTL 0, a consumer is ready: delivered to it after", "<= 100 ms"},
	},
	play: playZero,
}

func playZero(ctx context.Context, s *stage) ([]finding, error) {
	p, err := s.pair("zero")
	if err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.put(ctx, p.queue, expiring(0)); err != nil {
		return nil, err
	}
	a, ok := p.died(ctx)
	found := []finding{timed(s.once(a.late(), prompt), ok, "%s", ms(a.late()))}
	if !ok {
		found[0] = judged(false, "not within 3 s")
	}
	waiting, err := p.watch(p.queue)
	if err != nil {
		return found, err
	}
	if err := p.put(ctx, p.queue, expiring(0)); err != nil {
		return found, err
	}
	select {
	case a := <-waiting:
		return append(found, timed(s.once(a.late(), prompt), true, "%s", ms(a.late()))), nil
	case <-p.arrivals:
		return append(found, judged(false, "dead-lettered")), nil
	case <-ctx.Done():
		return found, ctx.Err()
	}
}

// requeueAct: a consumer that holds a message past its expiry may still process it; if it requeues the message, this
// expires.
var requeueAct = act{
	lines: []line{
		{"TTL 300 ms, unacknowledged until 600 ms, then requeued: dead-lettered after", "<= 100 ms"},
		{"    and for basic.get the queue is", "empty"},
	},
	play: playRequeue,
}

func playRequeue(ctx context.Context, s *stage) ([]finding, error) {
	p, err := s.pair("requeue")
	if err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.put(ctx, p.queue, expiring(300*time.Millisecond)); err != nil {
		return nil, err
	}
	d, ok, err := p.Get(p.queue, false)
	if err == nil && !ok {
		err = errors.New("basic.get found nothing")
	}
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, 600*time.Millisecond); err != nil {
		return nil, err
	}
	back := time.Since(start)
	if err := d.Nack(false, true); err != nil {
		return nil, err
	}
	_, again, err := p.Get(p.queue, true)
	if err != nil {
		return nil, err
	}
	empty := judged(!again, "%s", map[bool]string{false: "empty", true: "not empty"}[again])
	a, ok := p.died(ctx)
	if !ok {
		return []finding{judged(false, "not within 3 s"), empty}, nil
	}
	return []finding{timed(s.once(a.at-back, prompt), a.late() >= 0, "%s", ms(a.at-back)), empty}, nil
}
