package recurring

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/recurrence"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is the core with one queue, which the test plays. Times are in s.
type fixture struct {
	*testing.T
	state
	stats Stats
	pid   mail.Address
	alarm bool
	// of the queue
	mark map[uint64]int64 // by schedule
	got  map[uint64][]int64
	mail []*mail.Enqueue // not answered
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, pid: actor.NewPID("test", "q"), mark: map[uint64]int64{}, got: map[uint64][]int64{}}
	v := topology.NewVHost("/")
	v.Publish(v.Directory().WithExchange(&topology.Exchange{Type: "direct"}).WithQueue(&topology.Queue{Name: "q", PID: f.pid}))
	cfg := &Config{
		VHost: v, Stats: &f.stats, Alarm: func() bool { return f.alarm }, Schedules: func() []*parameters.ScheduleSpec { return nil },
		May: func(string, string, string) (bool, error) { return true, nil },
	}
	f.init(cfg, 0)
	f.dates = clock.Ahead(0)
	return f
}

// every returns the specification of a schedule with a run in each so many s.
func every(incarnation uint64, seconds int64) *parameters.ScheduleSpec {
	return &parameters.ScheduleSpec{
		VHost: "/", Name: fmt.Sprint("s", incarnation), Times: recurrence.Times{Every: seconds * 1000}, Key: "q", ToQueue: true, Expires: -1,
		Missed: parameters.MissedAll, MissedWindow: 3600_000, Incarnation: incarnation, Created: 1,
	}
}

// add adds a schedule without progress.
func (f *fixture) add(spec *parameters.ScheduleSpec) {
	f.set(spec)
	f.loaded(spec.Incarnation, nil)
}

// turn makes a turn at a time, and returns how many runs the queue got. It checks the limit.
func (f *fixture) turn(ms int64) (n int) {
	f.Helper()
	f.at = clock.Instant(ms) * clock.Instant(time.Millisecond)
	f.run()
	for _, p := range f.out.Posts {
		if e, is := p.Mail.(*mail.Enqueue); is {
			f.mail = append(f.mail, e)
			n += len(e.Messages)
		}
	}
	if n > turnLimit {
		f.Errorf("%d runs in a turn", n)
	}
	f.out, f.changed = outcome{}, nil
	return n
}

// take has the queue take a batch, as its marks do.
func (f *fixture) take(e *mail.Enqueue) {
	for _, r := range e.Runs {
		if r.Time <= f.mark[r.Schedule] {
			continue
		}
		f.mark[r.Schedule] = r.Time
		f.got[r.Schedule] = append(f.got[r.Schedule], r.Time/1000)
	}
}

// answer answers the oldest batch that the queue has.
func (f *fixture) answer(how func(*mail.EnqueueReply)) {
	e := f.mail[0]
	f.mail = f.mail[1:]
	reply := &mail.EnqueueReply{}
	for i := range e.Messages {
		reply.Add(e.Messages[i].Number)
	}
	if how == nil {
		f.take(e)
	} else {
		how(reply)
	}
	f.enqueued(reply)
}

func failed(r *mail.EnqueueReply) { r.Refused, r.Failed = true, true }

// A turn has a limit, however many schedules are due; so have the messages that queues have not answered.
func TestTurnLimit_REC13(t *testing.T) {
	f := newFixture(t)
	for i := range uint64(4 * parameters.MaxSchedules) {
		f.add(every(i+1, 60))
	}
	turns := 0
	for ; ; turns++ {
		at, ok := f.wake()
		if !ok || at > 60_000 {
			break
		}
		f.turn(60_000)
	}
	if len(f.copies) != maxCopies || turns != maxCopies/turnLimit {
		t.Errorf("%d copies in %d turns", len(f.copies), turns)
	}
	for len(f.mail) > 0 {
		f.answer(nil)
		f.turn(60_000)
	}
	if got := f.stats.Counts()["stored"]; got != 4*parameters.MaxSchedules {
		t.Errorf("%d runs", got)
	}
	for i, runs := range f.got {
		if len(runs) != 1 {
			t.Errorf("schedule %d: %v", i, runs)
		}
	}
}

// Runs that a queue has not answered are the schedule's only ones; lost ones come again, in order, after 1, 2, 4, 8 and 16 s, before later ones.
func TestLostRuns_REC10(t *testing.T) {
	f := newFixture(t)
	f.add(every(1, 1))
	f.turn(1000)
	f.turn(2000)
	if n := f.turn(3000); n != 0 || len(f.mail) != 1 {
		t.Errorf("%d batches are under way", len(f.mail))
	}
	var tries []int64
	for at := int64(3000); at < 40_000; at += 100 {
		for len(f.mail) > 0 {
			if len(tries) < 7 {
				tries = append(tries, at)
				f.answer(failed)
			} else {
				f.answer(nil)
			}
		}
		f.turn(at)
	}
	if got := fmt.Sprint(tries); got != "[3000 4100 6100 10100 18100 34100 34200]" {
		t.Error("tries at", got) // the last one is of the runs after the first
	}
	x := f.schedules["s1"]
	if x.Refused != 1 {
		t.Errorf("%d refused", x.Refused)
	}
	if got := f.got[1]; got[0] != 2 || x.Missed > 0 || got[len(got)-1] != 39 || len(got) != 38 {
		t.Errorf("runs %v", got)
	}
}

// A pause leaves runs that are under way or lost; a deletion ends them.
func TestLostRuns_Paused_REC10(t *testing.T) {
	f := newFixture(t)
	spec := every(1, 10)
	f.add(spec)
	f.turn(10_000)
	f.answer(failed)
	paused := *spec
	paused.Paused, paused.Since = true, 10_500
	f.set(&paused)
	f.turn(11_500)
	if len(f.mail) != 1 {
		t.Fatal("the lost run was not published during the pause")
	}
	f.answer(nil)
	f.turn(60_000)
	if got := fmt.Sprint(f.got[1]); got != "[10]" {
		t.Error(got)
	}
	resumed := *spec
	resumed.Since = 60_000
	f.set(&resumed)
	f.turn(70_000)
	f.answer(failed)
	f.remove("s1", 1)
	f.turn(80_000)
	if at, ok := f.wake(); ok || len(f.mail) > 0 {
		t.Errorf("a deleted schedule publishes at %d", at)
	}
}

// During an alarm nothing is published, and the core looks again in 500 ms.
func TestAlarm_REC10(t *testing.T) {
	f := newFixture(t)
	f.add(every(1, 1))
	f.alarm = true
	f.turn(1000)
	if at, ok := f.wake(); !ok || at != 1000+holdFor || len(f.mail) > 0 {
		t.Errorf("%d, %v", at, ok)
	}
	f.alarm = false
	if f.turn(1000 + holdFor); len(f.mail) != 1 {
		t.Error("nothing after the alarm")
	}
}

// TestRandomAnswers_REC10: whatever a queue does with batches, it has each run of each schedule once, in order.
func TestRandomAnswers_REC10(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := newFixture(t)
		for i := range uint64(5) {
			f.add(every(i+1, int64(1+r.IntN(5))))
		}
		at := int64(0)
		for ; at < 300_000; at += int64(1 + r.IntN(2000)) {
			f.turn(at)
			for range r.IntN(3) {
				if len(f.mail) == 0 {
					continue
				}
				switch r.IntN(30) {
				case 0: // before it took them
					f.answer(failed)
				case 1: // after
					f.take(f.mail[0])
					f.answer(failed)
				case 2: // the queue comes back at another address
					f.mail = nil
					f.gone(f.pid)
				default:
					f.answer(nil)
				}
			}
		}
		for end := at + 40_000; at < end; at += 500 {
			f.turn(at)
			for len(f.mail) > 0 {
				f.answer(nil)
			}
		}
		for i, got := range f.got {
			each := f.numbers[i].spec.Times.Every / 1000
			for k, run := range got {
				if run != int64(k+1)*each {
					t.Fatalf("seed %d: each %d s, %v", seed, each, got)
				}
			}
			if x := f.numbers[i]; int64(len(got)) < (at-5000)/1000/each || x.Missed+x.Refused > 0 {
				t.Errorf("seed %d: each %d s, %d runs until %d, %d missed, %d refused", seed, each, len(got), at/1000, x.Missed, x.Refused)
			}
		}
		if len(f.copies) > 0 {
			t.Errorf("%d copies are left", len(f.copies))
		}
	}
}
