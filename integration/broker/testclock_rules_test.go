package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// TestTestClockStands_CLK3: without a move nothing becomes due, whatever time passes; after a move everything is due and has happened.
func TestTestClockStands_CLK3(t *testing.T) {
	testkit.RunStored(t, withTestClock, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("short", amqp.Table{"x-message-ttl": 1000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		ch.Declare("lease", amqp.Table{"x-expires": 86_400_000})
		ch.Confirms()
		for range 1000 {
			ch.Begin("", "short", false, amqp.Publishing{Body: []byte("x"), DeliveryMode: 2})
		}
		ch.Publish("", "short", testkit.Text("last"))
		b.Advance(time.Hour)
		if n := ch.Declare("short", amqp.Table{"x-message-ttl": 1000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}).Messages; n != 1001 {
			t.Errorf("%d messages although the clock stands still", n)
		}
		began := time.Now()
		m := move(b, time.Second)
		if m.Counts.Expired != 1001 || m.Counts.DeadLettered != 1001 {
			t.Errorf("%+v", m)
		}
		if n := ch.Declare("dead", nil).Messages; n != 1001 {
			t.Errorf("%d dead letters after the move", n)
		}
		if m = move(b, 24*time.Hour); m.Counts.LeasesEnded != 1 || b.VHost().Directory().Queue([]byte("lease")) != nil {
			t.Errorf("the queue lives: %+v", m)
		}
		if took := time.Since(began); took > time.Minute {
			t.Error("moves take", took)
		}
	})
}

// TestTestClockGrace_CLK7: with grace, a worker's retry loop runs inside one move.
func TestTestClockGrace_CLK7(t *testing.T) {
	testkit.Run(t, withTestClock, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		ch, worker := b.Connect().Open(), b.Connect().Open()
		ch.Declare("work", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "retry"})
		ch.Declare("retry", amqp.Table{"x-message-ttl": 600_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work"})
		seen := make(chan int, 100)
		go func() {
			for d := range worker.Subscribe("work", 1) {
				time.Sleep(50 * time.Millisecond) // a slow worker
				_ = d.Reject(false)
				seen <- 1
			}
		}()
		ch.Send("", "work", testkit.Text("x"))
		testkit.Receive(b, seen)
		synctest.Wait() // the first rejection has arrived before the clock moves
		hour := time.Hour
		change := management.ClockChange{By: &hour, Grace: 200 * time.Millisecond, Timeout: time.Minute}
		m, err := b.Node.API().ChangeClock(context.Background(), change)
		synctest.Wait() // the worker has counted what it rejected
		if err != nil || len(seen) != 6 || m.Steps != 6 || m.Counts.Delivered != 6 || m.Counts.Settled != 6 {
			t.Errorf("%d deliveries in an hour: %+v, %v", len(seen), m, err)
		}
		before := time.Now()
		change.Grace = time.Millisecond
		if m, _ := b.Node.API().ChangeClock(context.Background(), change); m.Steps > 2 || time.Since(before) > time.Second {
			t.Errorf("a worker slower than the grace is waited for: %+v", m)
		}
	})
}

// TestTestClockNext_CLK5: the clock moves to the next deadlines, which the state shows.
func TestTestClockNext_CLK5(t *testing.T) {
	testkit.Run(t, withTestClock, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		ch := b.Connect().Open()
		ch.Declare("a", amqp.Table{"x-expires": 5000})
		ch.Declare("b", nil)
		ch.Send("", "b", testkit.Expiring("x", "3000"))
		ch.Send("", "b", testkit.Expiring("y", "3000"))
		ch.Declare("b", nil)
		start := b.Node.Clock().Wall()
		state := func() management.ClockState { return b.Node.API().ClockState(context.Background()) }
		if s := state(); !s.Test || s.Speed != 0 || s.Time != start || s.Next.At != start+3000 || s.Next.Name != "b" || s.Next.Fate != management.Dropped {
			t.Errorf("%+v", s)
		}
		next := func(n int) management.ClockMoved {
			m, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{Next: n, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		if m := next(1); m.Moved != 3000 || m.Counts.Expired != 2 {
			t.Errorf("%+v", m)
		}
		if s := state(); s.Next.At != start+5000 || s.Next.Name != "a" || s.Next.Fate != management.QueueEnds {
			t.Errorf("%+v", s)
		}
		if m := next(3); m.Moved != 2000 || m.Counts.LeasesEnded != 1 {
			t.Errorf("%+v", m)
		}
		if s := state(); s.Next.At != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestTestClockRefusals_CLK8_CLK12: what is not possible is refused, and nothing moves.
func TestTestClockRefusals_CLK8_CLK12(t *testing.T) {
	by := func(d time.Duration) management.ClockChange {
		return management.ClockChange{By: &d, Timeout: time.Minute}
	}
	to := func(at time.Time) management.ClockChange {
		return management.ClockChange{To: &at, Timeout: time.Minute}
	}
	testkit.Run(t, func(cfg *supervision.Config) {
		cfg.Clock = clock.NewManual(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	}, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		for _, c := range []struct {
			change management.ClockChange
			reason string
		}{
			{by(-1), "the clock cannot go back: it shows 2027-01-01T00:00:00.000Z"},
			{to(time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)), "the clock cannot go back: it shows 2027-01-01T00:00:00.000Z"},
			{by(math.MaxInt64), "a move is at most 10 years"},
			{to(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)), "a move is at most 10 years"},
			{to(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), "the clock ends in 2262"},
		} {
			if _, err := b.Node.API().ChangeClock(context.Background(), c.change); err == nil || err.Error() != c.reason {
				t.Errorf("%v, expected %q", err, c.reason)
			}
		}
		speed := 60.0
		if _, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{Speed: &speed, Timeout: time.Minute}); err != nil {
			t.Error(err)
		}
		if _, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{Next: 1, Timeout: time.Minute}); err == nil || err.Error() != "the clock runs: freeze it first" {
			t.Error(err)
		}
	})
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		if _, err := b.Node.API().ChangeClock(context.Background(), by(0)); !errors.Is(err, management.ErrNoTestClock) {
			t.Error(err)
		}
		if s := b.Node.API().ClockState(context.Background()); s.Test || s.Speed != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestTestClockRuns_CLK2: the clock runs at a speed, can be moved meanwhile, and is frozen.
func TestTestClockRuns_CLK2(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { withTestClock(cfg); cfg.Speed = 60 }, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		ch := b.Connect().Open()
		ch.Declare("a", nil)
		for _, ttl := range []string{"60000", "180000"} {
			ch.Send("", "a", testkit.Expiring("x", ttl))
		}
		ch.Declare("a", nil)
		b.Advance(1100 * time.Millisecond)
		if n := ch.Declare("a", nil).Messages; n != 1 {
			t.Errorf("%d messages after a minute", n)
		}
		move(b, time.Minute)
		b.Advance(1100 * time.Millisecond)
		if n := ch.Declare("a", nil).Messages; n != 0 {
			t.Errorf("%d messages after three minutes", n)
		}
		stop := 0.0
		if _, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{Speed: &stop, Timeout: time.Minute}); err != nil {
			t.Error(err)
		}
		stands := b.Node.Clock().Now()
		b.Advance(time.Hour)
		if b.Node.Clock().Now() != stands {
			t.Error("it runs")
		}
	})
}

// TestTestClockEndsEarly_CLK8: a move that takes too long, or whose client leaves, tells how far it came.
func TestTestClockEndsEarly_CLK8(t *testing.T) {
	testkit.Run(t, withTestClock, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		ch, worker := b.Connect().Open(), b.Connect().Open()
		ch.Declare("held", nil)
		worker.Subscribe("held", 100)
		if err := ch.ExchangeDeclare("delay", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
			t.Fatal(err)
		}
		ch.Bind("held", "", "delay")
		for i := range 20 {
			ch.Send("delay", "", amqp.Publishing{Headers: amqp.Table{"x-delay": 1000 * (i + 1)}})
		}
		ch.Declare("held", nil)
		by := 20 * time.Second
		change := management.ClockChange{By: &by, Grace: time.Second, Timeout: 3500 * time.Millisecond}
		m, err := b.Node.API().ChangeClock(context.Background(), change)
		if err != nil || m.Stopped != management.ClockTimedOut || m.Steps != 4 || m.Moved != 4000 {
			t.Errorf("%+v, %v", m, err)
		}
		ctx, leave := context.WithCancel(context.Background())
		time.AfterFunc(1500*time.Millisecond, leave)
		if m, err = b.Node.API().ChangeClock(ctx, change); err != nil || m.Stopped != management.ClockLeft || m.Moved != 2000 {
			t.Errorf("%+v, %v", m, err)
		}
		by, change.Grace = 14*time.Second, 0
		if m, err = b.Node.API().ChangeClock(context.Background(), change); err != nil || m.Stopped != "" || m.Moved != 14_000 {
			t.Errorf("the move cannot be continued: %+v, %v", m, err)
		}
	})
}

// TestTestClockTurns_CLK8: moves are made one after the other.
func TestTestClockTurns_CLK8(t *testing.T) {
	testkit.Run(t, withTestClock, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		start := b.Node.Clock().Wall()
		done := make(chan management.ClockMoved, 10)
		for range 10 {
			go func() { done <- move(b, time.Minute) }()
		}
		seen := map[int64]bool{}
		for range 10 {
			seen[testkit.Receive(b, done).Time-start] = true
		}
		for i := range int64(10) {
			if !seen[60_000*(i+1)] {
				t.Error(seen)
			}
		}
	})
}

// TestTestClockEvents_CLK6: what is published as events has arrived, too.
func TestTestClockEvents_CLK6(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { withTestClock(cfg); cfg.EventsIn = "/" }, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("events", nil)
		ch.Bind("events", "queue.lease.ended", "amq.rabbitmq.event")
		for i := range 100 {
			ch.Declare(fmt.Sprint("lease", i), amqp.Table{"x-expires": 1000 + i})
		}
		synctest.Wait()
		m := move(b, time.Minute)
		if n := ch.Declare("events", nil).Messages; n != 100 {
			t.Errorf("%d events: %+v", n, m)
		}
	})
}

// TestTestClockSaved_CLK9: the file never has a time that the clock has not reached yet or has passed.
func TestTestClockSaved_CLK9(t *testing.T) {
	dir := t.TempDir()
	testkit.Run(t, func(cfg *supervision.Config) { withTestClock(cfg); cfg.ClockFile = dir + "/" + testclock.FileName }, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		stored := func() testclock.Stored {
			s, found, err := testclock.Load(dir)
			if err != nil || !found {
				t.Fatal(found, err)
			}
			return s
		}
		if s := stored(); s.Time.UnixMilli() != b.Node.Clock().Wall() || s.Mode != "frozen" {
			t.Error("at the start:", s)
		}
		move(b, time.Hour)
		if s := stored(); s.Time.UnixMilli() != b.Node.Clock().Wall() {
			t.Error("after a move:", s)
		}
		speed := 3600.0
		if _, err := b.Node.API().ChangeClock(context.Background(), management.ClockChange{Speed: &speed, Timeout: time.Minute}); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			b.Advance(70 * time.Millisecond)
			if s := stored(); s.Time.UnixMilli() < b.Node.Clock().Wall() || s.Mode != "running" || s.Speed != 3600 {
				t.Fatal("while it runs:", s, b.Node.Clock().Wall())
			}
		}
	})
	if s, _, _ := testclock.Load(dir); s.Mode != "frozen" || !strings.HasPrefix(s.Time.Format(time.RFC3339), "2000-01-01T0") {
		t.Error("at the end:", s)
	}
}

// TestTestClockDates_CLK14: a date that a client computes is in broker time.
func TestTestClockDates_CLK14(t *testing.T) {
	testkit.Run(t, at2027, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", amqp.Table{"x-delayed-messages": true})
		ch.Send("", "q", amqp.Publishing{Headers: amqp.Table{"x-deliver-at": time.Date(2027, 1, 1, 1, 0, 0, 0, time.UTC)}})
		if n := ch.Declare("q", amqp.Table{"x-delayed-messages": true}).Messages; n != 0 {
			t.Errorf("%d messages before the date", n)
		}
		move(b, time.Hour-time.Millisecond)
		if m := move(b, time.Millisecond); m.Counts.Released != 1 || ch.Fetch("q") == nil {
			t.Errorf("%+v", m)
		}
	})
}

// TestTestClockWarns_CLK8: the answer to a move names the queues that are down, and only these.
func TestTestClockWarns_CLK8(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) {
		withTestClock(cfg)
		cfg.Fault = f.check
	}, func(b *testkit.Bubble) {
		allowPanics(b)
		ch := b.Connect().Open()
		for _, name := range []string{"a", "poison"} {
			durable(b, ch, name, nil)
			stores(b, ch, "", name, persistent(name, ""))
		}
		if m := move(b, time.Second); len(m.Warnings) != 0 {
			t.Errorf("%q", m.Warnings)
		}
		f.poison = "/queue/poison/"
		b.Restart(0)
		if m := move(b, time.Second); len(m.Warnings) != 1 || m.Warnings[0] != "queue 'poison' in vhost '/' is down: none of its deadlines was met" {
			t.Errorf("%q", m.Warnings)
		}
	})
}
