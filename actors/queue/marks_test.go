package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
)

// runs feeds runs of schedules with the given times, and returns the numbers of those that were taken, refused and skipped.
func (c *core) runs(persistent bool, all ...mail.Run) (got string) {
	e := &mail.Enqueue{From: publisher, Queue: queuePID, Runs: all}
	for _, r := range all {
		m := msg(fmt.Sprintf("%d@%d", r.Schedule, r.Time), message.NoTTL)
		setPersistent(&m, persistent)
		c.number++
		m.Number = c.number
		e.Messages = append(e.Messages, m)
	}
	from := len(c.posts)
	c.feed(e)
	for _, p := range c.posts[from:] {
		if r, is := p.Mail.(*mail.EnqueueReply); is {
			for _, x := range r.Ranges {
				got += fmt.Sprintf("%d%s ", x.Last-x.First+1, map[[2]bool]string{{}: "taken", {true, false}: "refused", {false, true}: "skipped"}[[2]bool{r.Refused, r.Skipped}])
			}
		}
	}
	return got
}

// TestRunsAreTakenOnce_REC10: a run that is not later than the last one of its schedule counts as taken, and is dropped.
func TestRunsAreTakenOnce_REC10(t *testing.T) {
	c := newCore(t, maxLength(4, "reject-publish"))
	c.runs(false, mail.Run{Schedule: 1, Time: 100}, mail.Run{Schedule: 2, Time: 90}, mail.Run{Schedule: 1, Time: 100}, mail.Run{Schedule: 1, Time: 50})
	c.want("once", c.ready(), "1@100", "2@90")
	c.runs(false, mail.Run{Schedule: 1, Time: 110}, mail.Run{Schedule: 2, Time: 100}, mail.Run{})
	c.want("later ones", c.ready(), "1@100", "2@90", "1@110", "2@100")
	if got := c.runs(false, mail.Run{Schedule: 1, Time: 120}); got != "1refused " {
		t.Errorf("in a full queue: %s", got)
	}
	c.get(ch1)
	c.runs(false, mail.Run{Schedule: 1, Time: 120})
	c.want("a refused run leaves no mark", c.ready(), "2@90", "1@110", "2@100", "1@120")
	if c.Marks.Len() != 2 {
		t.Errorf("%d marks", c.Marks.Len())
	}
}

// TestMarksSurvive_REC10: message and mark are in one commit, and a restart knows the runs whose messages were stored, also when they have
// been consumed.
func TestMarksSurvive_REC10(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	c.runs(true, mail.Run{Schedule: 1, Time: 100}, mail.Run{Schedule: 2, Time: 90})
	if len(c.commits) != 1 || len(c.commits[0].Records) != 4 {
		t.Fatalf("%d commits", len(c.commits))
	}
	if got := c.runs(true, mail.Run{Schedule: 1, Time: 100}); got != "" {
		t.Errorf("confirmed before the first is stored: %s", got)
	}
	c.hold = false
	c.settleCommit()
	c.settleCommit()
	c.runs(true, mail.Run{Schedule: 1, Time: 200})
	c.runs(false, mail.Run{Schedule: 3, Time: 70})
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 1)
	again := c.reopened(cfg)
	again.runs(true, mail.Run{Schedule: 1, Time: 200}, mail.Run{Schedule: 2, Time: 90}, mail.Run{Schedule: 3, Time: 70}, mail.Run{Schedule: 1, Time: 201})
	again.want("after the restart", again.ready(), "2@90", "1@200", "3@70", "1@201")
	if n := len(again.disk.survivors()); n != 4+3 {
		t.Errorf("%d records are live, want four messages and three marks", n)
	}
}

// TestOverlap_REC8: while the message of the last run is ready or unacknowledged, the next one is skipped, or replaces it if it is
// ready; also after a restart.
func TestOverlap_REC8(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	skip := func(at int64) mail.Run { return mail.Run{Schedule: 1, Time: at, Overlap: mail.OverlapSkip} }
	replace := func(at int64) mail.Run { return mail.Run{Schedule: 2, Time: at, Overlap: mail.OverlapReplace} }
	c.runs(true, skip(100), replace(100))
	if got := c.runs(true, skip(110), replace(110)); got != "1skipped 1taken " {
		t.Error(got)
	}
	c.want("replaced", c.ready(), "1@100", "2@110")
	c.get(ch1)
	if got := c.runs(true, skip(120)); got != "1skipped " {
		t.Errorf("unacknowledged: %s", got)
	}
	c = c.reopened(cfg)
	if got := c.runs(true, skip(130), replace(130)); got != "1skipped 1taken " {
		t.Errorf("after a restart: %s", got)
	}
	c.want("replaced after a restart", c.ready(), "1@100", "2@130")
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 1)
	c.runs(true, skip(140))
	c.get(ch1)
	c.runs(true, replace(150))
	c.want("taken; an unacknowledged one stays", c.ready(), "1@140", "2@150")
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}, Connection: owner})
	c.runs(true, skip(160))
	c.want("after a purge", c.ready(), "1@160")
}

// TestMarksDirect_REC8: a message that was delivered without being kept does not make later runs wait.
func TestMarksDirect_REC8(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 0, noAck)
	for at := range int64(3) {
		if got := c.runs(false, mail.Run{Schedule: 1, Time: at + 1, Overlap: mail.OverlapSkip}); got != "1taken " {
			t.Errorf("run %d: %s", at, got)
		}
	}
	e := newCore(t, ttl(0))
	for at := range int64(3) {
		if got := e.runs(false, mail.Run{Schedule: 1, Time: at + 1, Overlap: mail.OverlapSkip}); got != "1taken " {
			t.Errorf("expired at once, run %d: %s", at, got)
		}
	}
}

// TestMarksAreBounded_REC10: a queue holds a bounded number of marks.
func TestMarksAreBounded_REC10(t *testing.T) {
	var m messages.Messages
	all, forgotten := messages.EnsureMarks(&m), 0
	for i := range uint64(messages.MaxMarks + 10) {
		all.Set(i+1, messages.Mark{Time: int64(i)}, i+1, func(uint64) { forgotten++ })
	}
	if _, stored, _ := all.Of(10); stored || all.Len() != messages.MaxMarks || forgotten != 10 {
		t.Errorf("%d marks, %d forgotten", all.Len(), forgotten)
	}
}

// TestMarksRandom_REC8_REC10: random runs, deliveries and restarts give what a simple model gives.
func TestMarksRandom_REC8_REC10(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		cfg := testConfig(settings())
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		last, there, number := map[uint64]int64{}, map[string]uint64{}, uint64(0)
		for range 200 {
			switch r.IntN(8) {
			case 0:
				c = c.reopened(cfg)
				number = 0
			case 1, 2:
				if ready := c.ready(); len(ready) > 0 && c.consumers.Unacked() == 0 {
					c.get(ch1)
					number++
					c.settle(ch1, mail.Ack, number, number)
					delete(there, ready[0])
				}
			default:
				run := mail.Run{Schedule: 1 + r.Uint64N(3), Time: r.Int64N(60), Overlap: mail.Overlap(r.IntN(2))}
				body, busy := fmt.Sprintf("%d@%d", run.Schedule, run.Time), false
				previous := fmt.Sprintf("%d@%d", run.Schedule, last[run.Schedule])
				_, busy = there[previous]
				c.runs(true, run)
				if run.Time > last[run.Schedule] && (run.Overlap == mail.OverlapAllow || !busy) {
					last[run.Schedule], there[body] = run.Time, run.Schedule
				}
			}
			if n := len(c.ready()); n != len(there) {
				t.Fatalf("seed %d: %v, want %v", seed, c.ready(), there)
			}
		}
	}
}

// reopened returns the core of a queue that is restored from the records of c.
func (c *core) reopened(cfg Config) *core {
	c.t.Helper()
	cfg.Recovered = c.disk.survivors()
	again := newCoreOf(c.t, cfg)
	again.disk, again.now = c.disk, c.now
	return again
}
