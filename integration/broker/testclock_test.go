package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/supervision"
	"candlemark/supervision/testclock"

	amqp "github.com/rabbitmq/amqp091-go"
)

// withTestClock gives a broker a test clock that stands at the bubble's time.
func withTestClock(cfg *supervision.Config) { cfg.Clock = clock.NewManual(time.Now()) }

// move moves the test clock and waits for the answer, which it checks.
func move(b *testkit.Bubble, by time.Duration) management.ClockMoved {
	b.Helper()
	b.Log.Allow(testclock.Warning)
	m, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{By: &by, Grace: time.Second, Timeout: management.MaxClockTimeout})
	if err != nil || m.Stopped != "" || !m.Settled || m.Moved != by.Milliseconds() {
		b.Fatalf("a move of %v: %+v, %v", by, m, err)
	}
	return m
}

// story is a sequence of actions of clients over time. Its randomness depends on the seed only.
type story struct {
	b       *testkit.Bubble
	random  *rand.Rand
	advance func(d time.Duration)
	ch      *testkit.Channel
	stored  bool
	queues  []string
	sent    int
}

// horizon is how long a story lasts.
const horizon = 3 * time.Hour

// play tells the story and returns how it ended.
func (s *story) play() string {
	s.ch = s.b.Connect().Open()
	s.declare()
	retries := s.b.Connect().Open()
	go func() { // a worker that fails
		for d := range retries.Subscribe("work", 3) {
			_ = d.Reject(false)
		}
	}()
	holder := s.b.Connect().Open()
	_ = holder.Subscribe("held", 5) // a worker that hangs
	for range 8 {
		for range 12 {
			s.publish()
		}
		s.act()
		s.advance(horizon/8 + time.Duration(s.random.IntN(1000))*time.Millisecond)
	}
	s.advance(2 * time.Hour) // the last pauses end
	_ = holder.Close()       // returns what it holds
	_ = retries.Close()
	s.advance(0)
	return s.end()
}

func (s *story) declare() {
	ms := func(most int) int64 { return int64(1 + s.random.IntN(most)) }
	const hour = 3_600_000
	for i := range 6 {
		name := fmt.Sprint("q", i)
		args := amqp.Table{"x-message-ttl": ms(hour)}
		if i < 5 {
			args["x-dead-letter-exchange"], args["x-dead-letter-routing-key"] = "", fmt.Sprint("q", i+1)
		} else {
			delete(args, "x-message-ttl")
		}
		s.queue(name, args)
	}
	for i := range 3 {
		s.queue(fmt.Sprint("lease", i), amqp.Table{"x-expires": ms(2 * hour), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q5"})
	}
	s.queue("retry", amqp.Table{"x-message-ttl": ms(hour / 4), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work"})
	s.queue("work", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "retry"})
	s.queue("held", amqp.Table{"x-consumer-timeout": ms(hour)})
	s.queue("again", amqp.Table{"x-queue-type": "quorum", "x-delayed-retry-type": "all", "x-delayed-retry-min": ms(hour / 4)})
	s.queue("ladder", amqp.Table{"x-delayed-retry-ladder": fmt.Sprintf("%d,%d,%d", ms(hour/4), ms(hour/4), ms(hour)), "x-delayed-retry-jitter": 20, "x-delivery-limit": 4, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q5"})
	if err := s.ch.ExchangeDeclare("delay", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
		s.b.Fatal(err)
	}
	s.ch.Bind("q0", "", "delay")
	s.ch.Confirms()
}

func (s *story) queue(name string, args amqp.Table) {
	s.queues = append(s.queues, name)
	if _, err := s.ch.QueueDeclare(name, true, false, false, false, args); err != nil {
		s.b.Fatal(err)
	}
}

// publish sends a message somewhere; it has arrived when publish returns.
func (s *story) publish() {
	m := amqp.Publishing{Body: fmt.Append(nil, s.sent)}
	s.sent++
	if s.stored {
		m.DeliveryMode = amqp.Persistent
	}
	exchange, key := "", s.queues[s.random.IntN(len(s.queues))]
	switch s.random.IntN(4) {
	case 0:
		exchange, m.Headers = "delay", amqp.Table{"x-delay": int64(1 + s.random.IntN(int(horizon/time.Millisecond)))}
	case 1:
		m.Expiration = fmt.Sprint(1 + s.random.IntN(int(horizon/time.Millisecond)))
	}
	s.ch.Publish(exchange, key, m)
}

// act is something else that clients do.
func (s *story) act() {
	switch s.random.IntN(6) {
	case 0:
		s.b.SetPolicy("ttl", fmt.Sprintf(`{"pattern":"^again$|^q5$","definition":{"message-ttl":%d},"apply-to":"queues"}`, 1+s.random.IntN(7_200_000)))
	case 1:
		s.b.SetPolicy("lease", fmt.Sprintf(`{"pattern":"^held$","definition":{"expires":%d},"apply-to":"queues"}`, 1+s.random.IntN(7_200_000)))
	case 2, 3:
		for _, queue := range []string{"again", "ladder"} {
			for range 3 {
				if d, ok, err := s.ch.Get(queue, false); err == nil && ok {
					_ = d.Reject(true)
				}
			}
			_, _ = s.ch.QueueDeclarePassive(queue, true, false, false, false, nil) // the rejects have arrived
		}
	case 4:
		s.pause("work", fmt.Sprintf(`{"for":%d}`, 1+s.random.IntN(7_200_000)))
	}
}

// pause pauses a queue whose worker then gets nothing. The worker has settled what it got before.
func (s *story) pause(queue, how string) {
	synctest.Wait()
	if answer := bubbleWeb(s.b).ask("", "PUT", "/api/x/queues/%2F/"+queue+"/pause", how); answer.Code != 200 {
		s.b.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// end returns all messages of all queues, with their deaths.
func (s *story) end() string {
	var text strings.Builder
	slices.Sort(s.queues)
	for _, name := range s.queues {
		if s.b.Queue(name) == nil {
			fmt.Fprintf(&text, "%s is gone\n", name)
			continue
		}
		fmt.Fprintf(&text, "%s: ", name)
		var messages []string
		for {
			d, ok, err := s.ch.Get(name, true)
			if err != nil {
				s.b.Fatal(err)
			}
			if !ok {
				break
			}
			messages = append(messages, fmt.Sprintf("%s%s", d.Body, diedWhen(d.Headers)))
		}
		if name == "retry" { // of messages that are rejected and published in the same ms, either may be the first
			slices.Sort(messages)
		}
		text.WriteString(strings.Join(messages, " ") + "\n")
	}
	return text.String()
}

// diedWhen returns x-death in short.
func diedWhen(h amqp.Table) (text string) {
	list, _ := h["x-death"].([]any)
	for _, x := range list {
		t, _ := x.(amqp.Table)
		at, _ := t["time"].(time.Time)
		text += fmt.Sprintf("(%v %v %v %d)", t["queue"], t["reason"], t["count"], at.Unix()%1_000_000)
	}
	return text
}

// tell tells the story with that seed.
func tell(t *testing.T, seed uint64, stored bool, change func(*supervision.Config), advance func(b *testkit.Bubble) func(time.Duration)) (end string) {
	run := testkit.RunAtOnce
	if stored {
		run = testkit.RunStored
	}
	run(t, change, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning, "timeout", "PRECONDITION_FAILED", "delivery acknowledgement")
		s := &story{b: b, random: rand.New(rand.NewPCG(seed, 1)), advance: advance(b), stored: stored}
		end = s.play()
	})
	return end
}

// big and small make a move at once, and in many pieces.
func big(b *testkit.Bubble) func(time.Duration) {
	return func(d time.Duration) {
		b.Advance(calm)
		move(b, d)
	}
}

// calm is how long it takes, in real time, until clients and journal are at rest.
const calm = 20 * time.Millisecond

func small(b *testkit.Bubble) func(time.Duration) {
	random := rand.New(rand.NewPCG(7, 7))
	return func(d time.Duration) {
		b.Advance(calm)
		for d > 0 {
			by := min(d, time.Duration(1+random.IntN(int(horizon/400))))
			move(b, by.Truncate(time.Millisecond))
			d -= max(by.Truncate(time.Millisecond), time.Millisecond)
		}
		move(b, 0)
	}
}

// passing lets the bubble's time pass instead.
func passing(b *testkit.Bubble) func(time.Duration) { return b.Advance }

// TestMoveAsTimePasses_CLK5: after moves of the clock, everything is as if the time had passed.
func TestMoveAsTimePasses_CLK5(t *testing.T) {
	for seed := range uint64(4) {
		passed := tell(t, seed, false, nil, passing)
		moved := tell(t, seed, false, withTestClock, big)
		if passed != moved {
			t.Errorf("seed %d: as time passes:\n%s\nafter moves:\n%s", seed, passed, moved)
		}
	}
}

// TestMoveInPieces_CLK5: one move and many small ones lead to the same end, with messages in memory and in the journal.
func TestMoveInPieces_CLK5(t *testing.T) {
	for seed := range uint64(4) {
		stored := seed%2 == 1
		one := tell(t, seed, stored, withTestClock, big)
		many := tell(t, seed, stored, withTestClock, small)
		if one != many {
			t.Errorf("seed %d: in one move:\n%s\nin many:\n%s", seed, one, many)
		}
	}
}
