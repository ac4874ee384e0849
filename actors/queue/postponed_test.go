package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/policies/retry"
)

func retries(r retry.Settings) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.Retry = r }
}

// postpone settles a delivery of ch1 to be delivered again at a time, in ms after the start.
func (c *core) postpone(how mail.Settlement, number uint64, ms int64) {
	c.t.Helper()
	c.outcome(how, number, &mail.Outcome{Until: start + ms})
}

// TestRetries_RETRY1: a returned message is delivered again after the delay, not before; the delay grows with its failed
// deliveries, and messages behind it do not wait.
func TestRetries_RETRY1(t *testing.T) {
	c := newCore(t, retries(retry.Settings{Failed: true, Returned: true, Min: 1000, Max: 2500}))
	c.put("1", "2")
	c.consume(ch1, "a", 1)
	c.want("first", c.delivered("a"), "1")
	c.settle(ch1, mail.Requeue, 1, 1)
	c.want("the next", c.delivered("a"), "2")
	c.settle(ch1, mail.Ack, 2, 2)
	number, now := uint64(2), int64(0)
	for _, delay := range []int64{1000, 2000, 2500, 2500} {
		c.at(now + delay - 1)
		c.want("early", c.delivered("a"))
		if info := c.describe1(); info.Deferred != 1 || info.Ready != 0 {
			t.Errorf("%d deferred, %d ready", info.Deferred, info.Ready)
		}
		now += delay
		c.at(now)
		c.want(fmt.Sprintf("after %d ms", delay), c.delivered("a"), "1*")
		number++
		c.settle(ch1, mail.Requeue, number, number)
	}
	c.at(now + 2500)
	number++
	c.want("again", c.delivered("a"), "1*")
	c.settle(ch1, mail.Release, number, number) // it failed five times before
	c.at(now + 4999)
	c.want("early", c.delivered("a"))
	c.at(now + 5000)
	c.want("released", c.delivered("a"), "1*")
}

// TestRetryTypes_RETRY1: only returns of the configured types are delayed; returns by ended channels and timeouts count
// as failures.
func TestRetryTypes_RETRY1(t *testing.T) {
	for _, row := range []struct {
		retry retry.Settings
		how   mail.Settlement
		late  bool
	}{
		{retry.Settings{Failed: true, Min: 10, Max: 10}, mail.Requeue, true},
		{retry.Settings{Failed: true, Min: 10, Max: 10}, mail.Leave, true},
		{retry.Settings{Failed: true, Min: 10, Max: 10}, mail.Release, false},
		{retry.Settings{Returned: true, Min: 10, Max: 10}, mail.Requeue, false},
		{retry.Settings{Returned: true, Min: 10, Max: 10}, mail.Release, true},
		{retry.Settings{}, mail.Requeue, false},
		{retry.Settings{Failed: true, Returned: true, Min: 10, Max: 10}, mail.PutBack, false},
	} {
		c := newCore(t, retries(row.retry))
		c.put("1")
		c.get(ch1)
		c.settle(ch1, row.how, 1, 1)
		if late := c.Deferred.Len() == 1; late != row.late || len(c.ready()) == 1 == row.late {
			t.Errorf("%+v, settled with %d: late is %v", row.retry, row.how, late)
		}
	}
	c := newCore(t, retries(retry.Settings{Failed: true, Min: 10, Max: 10}), timeout(100))
	c.put("1", "2", "3")
	c.consume(ch2, "b", 1)
	c.get(ch1)
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.feed(&mail.ChannelGone{Channel: ch2})
	c.want("late", c.ready(), "3")
	c.at(10)
	c.want("back at their positions", c.ready(), "1", "2", "3")
	c.get(ch2)
	c.at(109)
	c.want("held", c.ready(), "2", "3")
	c.at(119)
	c.want("its lock ended, and it is late", c.ready(), "2", "3")
	c.at(120)
	c.want("back", c.ready(), "1", "2", "3")
}

// TestUntil_RETRY2: a consumer can set the time, under any settings of the queue; a past time is ignored.
func TestUntil_RETRY2(t *testing.T) {
	for _, how := range []mail.Settlement{mail.Requeue, mail.Release} {
		c := newCore(t)
		c.put("1", "2", "3")
		c.get(ch1)
		c.get(ch1)
		c.postpone(how, 1, 500)
		c.postpone(how, 2, 300)
		c.want("ready", c.ready(), "3")
		c.at(299)
		c.want("early", c.ready(), "3")
		c.at(300)
		c.want("the second", c.ready(), "2", "3")
		c.at(499)
		c.want("early", c.ready(), "2", "3")
		c.at(500)
		c.want("at its position", c.ready(), "1", "2", "3")
		if d := c.get(ch1).Delivery; text(d) != "1*" {
			t.Errorf("got %s", text(d))
		}
		c.postpone(how, 3, 500)
		c.want("past", c.ready(), "1", "2", "3")
	}
	c := newCore(t, retries(retry.Settings{Failed: true, Min: 1000, Max: 1000}))
	c.put("1", "2")
	c.get(ch1)
	c.get(ch1)
	c.postpone(mail.Requeue, 1, 10)
	c.postpone(mail.Requeue, 2, -10)
	c.at(10)
	c.want("the date comes first", c.ready(), "1")
	c.at(999)
	c.want("a past date says nothing", c.ready(), "1")
	c.at(1000)
	c.want("but the settings do", c.ready(), "1", "2")
	c = newCore(t)
	c.Dates = clock.Ahead(700) // the clock was set
	c.put("1")
	c.get(ch1)
	c.postpone(mail.Requeue, 1, 1000)
	c.at(299)
	c.want("early", c.ready())
	c.at(300)
	c.want("at its date", c.ready(), "1")
	c.Dates = clock.Ahead(-700) // it was set back
	c.get(ch1)
	c.postpone(mail.Requeue, 2, math.MaxInt64-start)
	c.want("the last date of all", c.ready())
}

// TestWaits_RETRY3: a waiting message expires at its deadline, can be received by number, which ends the wait, does not count
// towards limits, and is dropped by a purge. A delivery limit takes precedence over the delay.
func TestWaits_RETRY3(t *testing.T) {
	c := newCore(t, dlx, maxLength(1, "drop-head"))
	c.publish(msg("1", 200))
	c.get(ch1)
	c.postpone(mail.Requeue, 1, 200)
	c.put("2")
	c.at(199)
	c.want("early", c.seenOff())
	c.at(200)
	c.want("its deadline", c.seenOff(), "expired 1")
	c.want("ready", c.ready(), "2")
	c.get(ch1)
	c.postpone(mail.Requeue, 2, 900)
	c.want("received", received(c.receive(false, 2)), "2 2*")
	c.at(900)
	c.want("held", c.ready())
	c.settle(ch1, mail.Requeue, 3, 3)
	c.want("an ordinary message", c.ready(), "2")
	c.get(ch1)
	c.postpone(mail.Requeue, 4, 1900)
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	if n := one[*mail.PurgeReply](c).MessageCount; n != 1 || c.Backlog.Len() != 0 {
		t.Errorf("%d were purged", n)
	}
	c.at(3000)
	c.want("none", c.ready())
	c = newCore(t, dlx, retries(retry.Settings{Failed: true, Min: 10, Max: 10}), func(s *policies.QueueSettings) { s.DeliveryLimit = 1 })
	c.put("1")
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.at(10)
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 2, 2)
	c.want("dead at once", c.seenOff(), "delivery_limit 1")
}

// TestSurvives_RETRY4: after a restart messages wait until the same time; messages whose time has passed, and received
// messages, do not wait.
func TestSurvives_RETRY4(t *testing.T) {
	cfg := testConfig(settings(dlx))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	for i := range 5 {
		c.publish(persistentMsg(strconv.Itoa(1+i), -1))
		c.get(ch1)
	}
	c.postpone(mail.Requeue, 1, 900)
	c.postpone(mail.Requeue, 2, 100)
	c.postpone(mail.Requeue, 3, 900)
	c.outcome(mail.Defer, 4, nil)
	c.postpone(mail.Requeue, 5, 800)
	c.receive(false, 3)
	c.receive(false, 5)
	c.outcome(mail.Defer, 7, nil)
	cfg.Recovered = c.disk.survivors()
	again := newCoreOf(t, cfg)
	again.disk.puts, again.now = c.disk.puts, c.now
	again.at(500)
	again.want("ready", again.ready(), "2", "3")
	again.want("deferred", again.deferredBodies(), "1", "4", "5")
	again.at(899)
	again.want("early", again.ready(), "2", "3")
	again.at(900)
	again.want("ready again", again.ready(), "1", "2", "3")
	again.at(100_000)
	again.want("deferred for good", again.deferredBodies(), "4", "5")
}

// TestSpilled_RETRY4: a message written to the journal because memory is tight is stored with the time until which it waits.
func TestSpilled_RETRY4(t *testing.T) {
	c := newCore(t)
	c.put("1", "2")
	c.get(ch1)
	c.get(ch1)
	c.postpone(mail.Requeue, 1, 900)
	c.outcome(mail.Defer, 2, nil)
	c.pressed, c.Pager.Idle = func() bool { return true }, 0
	c.feed(&mail.Trim{})
	if first, second := c.disk.deferred[1], c.disk.deferred[2]; len(c.disk.deferred) != 2 || first != start+900 || second != 0 {
		t.Errorf("until %d and %d, want %d and 0", first, second, start+900)
	}
}

// returning is a message that a returner gets.
type returning struct {
	until, deadline   int64
	failures, returns uint32
}

// returner plays a consumer that returns messages at random.
type returner struct {
	*core
	rng    *rand.Rand
	all    map[string]*returning
	number uint64
	acks   bool // acknowledge every delivery
}

func (x *returner) publish(body string) {
	w, m := &returning{deadline: store.Never}, msg(body, -1)
	if x.rng.IntN(3) == 0 {
		m.TTL = 1 + x.rng.Int64N(100)
		w.deadline = x.now.Ceil() + m.TTL
	}
	x.all[body] = w
	x.core.publish(m)
}

// settleAll checks expiries and deliveries, and settles the deliveries.
func (x *returner) settleAll() {
	for settled := true; settled; {
		for _, d := range x.seenOff() {
			body := d[len("expired "):]
			if w := x.all[body]; w == nil || w.deadline > x.now.Floor() {
				x.t.Fatalf("%s expired early", body)
			}
			delete(x.all, body)
		}
		settled = false
		for _, body := range x.delivered("a") {
			settled = true
			x.number++
			x.settleOne(strings.TrimSuffix(body, "*"))
		}
	}
}

func (x *returner) settleOne(body string) {
	w, now := x.all[body], x.now.Floor()
	if w == nil || w.until > now || w.deadline <= now {
		x.t.Fatalf("%s was not to be delivered at %d: %+v", body, x.ms(), w)
	}
	how := []mail.Settlement{mail.Ack, mail.Requeue, mail.Release}[x.rng.IntN(3)]
	r := mail.SettleRange{First: x.number, Last: x.number, How: how}
	if w.until = 0; how != mail.Ack && x.rng.IntN(2) == 0 {
		w.until = now + x.rng.Int64N(50)
		r.Outcome = &mail.Outcome{Until: w.until}
	}
	if how == mail.Requeue {
		w.failures++
	}
	if how == mail.Release {
		w.returns++
	}
	if delay := x.Settings.Retry.Delay(how == mail.Requeue, w.failures, w.returns, 0); how != mail.Ack && delay > 0 && w.until <= now {
		w.until = x.now.Ceil() + delay
	}
	if how == mail.Ack || x.acks {
		r.How = mail.Ack
		delete(x.all, body)
	}
	x.feed(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{r}})
}

// TestRandom_RETRY1_RETRY3: with random returns, each message is delivered again at its time, never before and not after while
// the timer is on time; each is acknowledged once or expires at its deadline.
func TestRandom_RETRY1_RETRY3(t *testing.T) {
	seeded(t, 20, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		r := retry.Settings{Failed: rng.IntN(2) == 0, Returned: rng.IntN(2) == 0, Min: 7, Max: 40, Multiplier: rng.Int64N(3)}
		if rng.IntN(3) == 0 {
			r = retry.Settings{Failed: r.Failed, Returned: r.Returned, Ladder: "5,1,30"}
		}
		c := newCore(t, dlx, retries(r))
		c.turnLimit = uint16(1 + rng.IntN(50))
		x := &returner{core: c, rng: rng, all: map[string]*returning{}}
		c.consume(ch1, "a", 5)
		for step := range 1500 {
			if x.acks = step >= 1000; step < 400 && rng.IntN(2) == 0 {
				x.publish(strconv.Itoa(step))
				x.settleAll()
			}
			onTime := rng.IntN(3) > 0
			if onTime {
				c.at(c.ms() + rng.Int64N(2))
			} else {
				c.now += 2_500_000
				c.feed(timerFired{})
			}
			x.settleAll()
			for body, w := range x.all {
				if onTime && w.until > 0 && w.until <= c.now.Floor() && slices.Contains(c.deferredBodies(), body) {
					t.Fatalf("%s waits until %d at %d", body, w.until-start, c.ms())
				}
			}
		}
		if len(x.all) > 0 || c.Backlog.Len() > 0 || c.Deferred.Len() > 0 {
			t.Errorf("%d messages were lost; %d are in the queue", len(x.all), c.Backlog.Len())
		}
	})
}

// TestClassic_RETRY6: a classic queue delays by a ladder, counts returns and failures, keeps both counts and the time in a restart, and
// dead-letters at the delivery limit. Jitter is the same after the restart.
func TestClassic_RETRY6(t *testing.T) {
	ladder := retry.Settings{Failed: true, Returned: true, Ladder: "100,500,2000", Jitter: 50}
	cfg := testConfig(settings(dlx, retries(ladder), func(s *policies.QueueSettings) { s.DeliveryLimit = 2 }))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.publish(persistentMsg("1", -1))
	number := uint64(0)
	again := func(how mail.Settlement, failures, returns uint32) {
		t.Helper()
		d := c.get(ch1).Delivery
		number++
		if o := d.Message.Overlay; failures+returns > 0 && (o == nil || o.DeliveryCount != failures || o.AcquiredCount != failures+returns) {
			t.Errorf("after %d failures and %d returns: %+v", failures, returns, o)
		}
		c.settle(ch1, how, number, number)
		if how == mail.Requeue {
			failures++
		} else {
			returns++
		}
		cfg.Recovered = c.disk.survivors()
		next := newCoreOf(t, cfg)
		next.disk, next.now, number = c.disk, c.now, 0
		c = next
		base := []int64{100, 500, 2000}[min(failures+returns, 3)-1]
		wait := ladder.Delay(how == mail.Requeue, failures, returns, 1)
		if wait < base || wait > base+base/2 {
			t.Errorf("%d ms after %d returns", wait, failures+returns)
		}
		due := c.ms() + wait
		c.at(due - 1)
		c.want("early", c.ready())
		c.at(due)
		c.want("on time", c.ready(), "1")
	}
	again(mail.Requeue, 0, 0)
	again(mail.Release, 1, 0)
	again(mail.Release, 1, 1)
	again(mail.Requeue, 1, 2)
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.want("dead at the limit", c.seenOff(), "delivery_limit 1")
}
