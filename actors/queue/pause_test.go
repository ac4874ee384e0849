package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// pauses executes a command: until ms after the start; below 0 resumes.
func (c *core) pauses(until int64) *mail.PauseQueueReply {
	c.t.Helper()
	m := &mail.PauseQueue{Request: mail.Request{ReplyTo: ch1}, Until: start + until, Resume: until < 0}
	if until == mail.PauseForEver {
		m.Until = until
	}
	c.feed(m)
	return one[*mail.PauseQueueReply](c)
}

func pausedUntil(ms int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.PausedUntil = ms }
}

// TestPause_PAUSE1_PAUSE2: in a paused queue publishes and expiry go on; consumers and basic.get get nothing, peeks and acknowledgements
// work; deliveries go on at the time, not before, or with a resume.
func TestPause_PAUSE1_PAUSE2(t *testing.T) {
	c := newCore(t, dlx)
	c.consume(ch1, "a", 10)
	c.put("0")
	c.consume(ch2, "b", 0, noAck)
	c.want("before", c.delivered("a"), "0")
	c.confirmed()
	if r := c.pauses(1000); r.Err != nil || !r.Paused || r.Until != start+1000 {
		t.Fatalf("%+v", r)
	}
	c.publish(msg("x", 300), msg("y", -1), msg("z", 0))
	if acks, _ := c.confirmed(); len(acks) != 3 {
		t.Errorf("confirmed %v", acks)
	}
	c.want("as without consumers", c.seenOff(), "expired z")
	if !c.get(ch1).Empty {
		t.Error("basic.get got a message")
	}
	c.want("peeked", c.ready(), "x", "y")
	c.settle(ch1, mail.Requeue, 1, 1)
	c.at(300)
	c.want("expired", c.seenOff(), "expired x")
	if info := c.describe1(); info.Paused != 1 || info.PausedUntil != start+1000 || info.Ready != 2 {
		t.Errorf("%d, until %d, %d ready", info.Paused, info.PausedUntil-start, info.Ready)
	}
	c.at(999)
	if got := len(c.delivered("a")) + len(c.delivered("b")); got != 0 {
		t.Errorf("%d early", got)
	}
	c.at(1000)
	if got := len(c.delivered("a")) + len(c.delivered("b")); got != 2 {
		t.Errorf("%d at the end", got)
	}
	c.pauses(mail.PauseForEver)
	c.put("w")
	c.at(10_000_000)
	if got := len(c.delivered("a")) + len(c.delivered("b")); got != 0 || c.describe1().PausedUntil != 0 {
		t.Errorf("%d without an end", got)
	}
	if r := c.pauses(-1); r.Err != nil || r.Paused {
		t.Errorf("%+v", r)
	}
	if got := len(c.delivered("a")) + len(c.delivered("b")); got != 1 || c.describe1().Paused != 0 {
		t.Errorf("%d after a resume", got)
	}
}

// TestPauseLate_PAUSE1: after its end a pause has no effect, even if the timer is late.
func TestPauseLate_PAUSE1(t *testing.T) {
	c := newCore(t)
	c.put("1")
	c.pauses(100)
	c.now += 100_000_000
	if c.get(ch1).Empty {
		t.Error("still paused")
	}
}

// TestPauseRefused_PAUSE1: a pause must end in the future, in at most ten years.
func TestPauseRefused_PAUSE1(t *testing.T) {
	c := newCore(t)
	for _, until := range []int64{0, 315_360_000_001} {
		if r := c.pauses(until); r.Err == nil || r.Paused {
			t.Errorf("%d: %+v", until, r)
		}
	}
	if r := c.pauses(315_360_000_000); r.Err != nil {
		t.Error(r.Err)
	}
}

// TestPausePolicy_PAUSE3: a policy pauses, also from the start, until its date; the later end of policy and command counts, and a resume
// does not end the policy's.
func TestPausePolicy_PAUSE3(t *testing.T) {
	c := newCore(t, pausedUntil(start+500))
	c.consume(ch1, "a", 10)
	c.put("1")
	c.want("paused", c.delivered("a"))
	if r := c.pauses(-1); !r.Paused || r.Until != start+500 {
		t.Errorf("%+v", r)
	}
	c.pauses(800)
	c.at(500)
	c.want("by the command", c.delivered("a"))
	c.at(799)
	c.want("early", c.delivered("a"))
	c.at(800)
	c.want("at its end", c.delivered("a"), "1")
	c.feed(&mail.Configure{Settings: settings(pausedUntil(policies.Forever))})
	c.put("2")
	c.want("without an end", c.delivered("a"))
	c.feed(&mail.Configure{Settings: settings()})
	c.want("the policy is gone", c.delivered("a"), "2")
}

// TestPauseSurvives_PAUSE5: a durable queue is paused after a restart, and after a purge, until the same time.
func TestPauseSurvives_PAUSE5(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.publish(persistentMsg("1", -1))
	again := func() {
		cfg.Recovered = c.disk.survivors()
		next := newCoreOf(t, cfg)
		next.disk, next.now = c.disk, c.now
		c = next
	}
	c.pauses(200)
	c.pauses(900)
	if again(); len(cfg.Recovered) != 2 {
		t.Errorf("%d records, want the message and one note", len(cfg.Recovered))
	}
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	one[*mail.PurgeReply](c)
	c.publish(persistentMsg("2", -1))
	again()
	c.consume(ch1, "a", 10)
	c.at(899)
	c.want("early", c.delivered("a"))
	c.at(900)
	c.want("at its end", c.delivered("a"), "2")
	if again(); len(cfg.Recovered) != 1 {
		t.Errorf("%d records: the note is left", len(cfg.Recovered))
	}
	c.pauses(5000)
	again()
	c.pauses(-1)
	if again(); len(cfg.Recovered) != 1 || c.pausing.hold.On() {
		t.Errorf("%d records after a resume", len(cfg.Recovered))
	}
	c.pauses(6000)
	again()
	c.now += 6_000_000_000
	if c.get(ch1).Empty {
		t.Error("paused after its end")
	}
}

// TestPauseTransient_PAUSE5: nothing of a transient queue is written.
func TestPauseTransient_PAUSE5(t *testing.T) {
	c := newCore(t)
	if r := c.pauses(100); r.Err != nil || len(c.records) != 0 {
		t.Errorf("%v, %d records", r.Err, len(c.records))
	}
}

// TestPauseCredit_PAUSE2: a link that drains its credit is answered, and credit of publishers is not withheld for consumers that get nothing.
func TestPauseCredit_PAUSE2(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, credited)
	c.pauses(1000)
	c.put("1")
	c.credit("a", 0, 5, true)
	if r := one[*mail.CreditTaken](c); !r.Drained || r.DeliveryCount != 5 {
		t.Errorf("%+v", r)
	}
	gate := message.NewGate(1 << 20)
	c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{numbered(2, -1)}, Chunk: gate.NewChunk(1 << 10)})
	charged(c, gate, 0)
	c.at(1000)
	c.want("no credit", c.delivered("a"))
	c.credit("a", 5, 5, false)
	if got := len(c.delivered("a")); got != 2 {
		t.Errorf("%d delivered", got)
	}
}

// TestPauseDormant_PAUSE3: a queue that a policy has paused is dormant while it is unused, and still paused afterwards.
func TestPauseDormant_PAUSE3(t *testing.T) {
	c := newCore(t, pausedUntil(start+500))
	c.makeDormant()
	c.put("1")
	if !c.get(ch1).Empty {
		t.Error("not paused")
	}
	c.now += 500_000_000
	if c.get(ch1).Empty {
		t.Error("paused after the date")
	}
	if c.pauses(1000); idle(&c.state) {
		t.Error("a command would be forgotten")
	}
}
