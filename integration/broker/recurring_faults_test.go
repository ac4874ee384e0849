package broker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/supervision"
)

// runsOf takes all messages of a queue, and returns the nominal times of the runs by schedule, in s after the bubble's begin.
func runsOf(b *testkit.Bubble, ch *testkit.Channel, queue string) map[string][]int64 {
	b.Helper()
	all := map[string][]int64{}
	for d := ch.Fetch(queue); d != nil; d = ch.Fetch(queue) {
		of := d.Headers["x-schedule"].(string)
		all[of] = append(all[of], (d.Headers["x-schedule-time"].(int64)-epoch2000.UnixMilli())/1000)
	}
	return all
}

// each checks that a list has the numbers from first to last in order, each once.
func each(b *testkit.Bubble, what string, got []int64, first, last int64) {
	b.Helper()
	var want []int64
	for at := first; at <= last; at++ {
		want = append(want, at)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: %v, want %d to %d", what, got, first, last)
	}
}

// TestSchedulePanics_REC10: queues panic over runs, over the journal's answer and while they come back, and so does the actor of schedules. Each queue
// has each run once, in order.
func TestSchedulePanics_REC10(t *testing.T) {
	for seed := range uint64(4) {
		f := &faults{}
		testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
			b.Log.Allow("actor panicked", "a queue ended unexpectedly", "panicked while it handled a mail", "after a panic")
			r := rand.New(rand.NewPCG(seed, 2))
			ch := b.Connect().Open()
			queues := []string{"one", "two", "three"}
			durables(b, ch, queues...)
			for _, name := range queues {
				ch.Bind(name, "", "amq.fanout")
				putSchedule(b, "to-"+name, `{"cron":"* * * * * *","queue":"`+name+`","missed":"all"}`)
			}
			putSchedule(b, "all", `{"cron":"* * * * * *","exchange":"amq.fanout","routing_key":"","missed":"all"}`)
			for range 60 {
				b.AdvanceTo(b.Elapsed().Truncate(time.Second) + time.Duration(5000+r.IntN(12000))*ms)
				for range 1 + r.IntN(2) {
					switch r.IntN(5) {
					case 0, 1, 2:
						f.arm(supervision.KindQueue, "*mail.Enqueue")
					case 3:
						f.arm(supervision.KindQueue, "queue.appendDone")
					case 4:
						f.arm(supervision.KindRecurring, "*mail.EnqueueReply")
					}
				}
			}
			b.Advance(10 * time.Second)
			last := int64(b.Elapsed() / time.Second)
			if n := len(f.armed); n > 2 {
				b.Errorf("%d faults are left", n)
			}
			ch = b.Connect().Open()
			for _, name := range queues {
				for of, got := range runsOf(b, ch, name) {
					each(b, fmt.Sprintf("seed %d: runs of %s in %s", seed, of, name), got, 1, last)
				}
			}
			list, _ := b.Node.API().ListSchedules(b.Context(), "/", "")
			for _, x := range list {
				if x.Refused+x.Missed+x.Unroutable > 0 {
					b.Errorf("%+v", x)
				}
			}
		})
	}
}

// TestSchedulePoison_REC10: a queue that panics over each attempt refuses the run in the end, and is not down because of it: the next run is
// tried as well.
func TestSchedulePoison_REC10(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked", "a queue ended unexpectedly", "panicked while it handled a mail", "after a panic")
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "tick", `{"every":"1m","queue":"q"}`)
		for range 6 {
			f.arm(supervision.KindQueue, "*mail.Enqueue")
		}
		b.AdvanceTo(100 * time.Second)
		if x := scheduleNamed(b, "tick"); x.Refused != 1 || !strings.Contains(x.Last.Reason, "panicked") || x.Runs != 1 {
			t.Errorf("%+v %+v", x, x.Last)
		}
		b.AdvanceTo(125 * time.Second)
		if got := fmt.Sprint(drain(b, b.Connect().Open(), "q")); got != "[60 120]" {
			t.Error(got) // the panics were after the first write
		}
		f.arm(supervision.KindQueue, "*mail.Enqueue")
		run, found, err := trigger(b, "tick")
		if err != nil || !found || run.Result != "refused" {
			t.Errorf("%+v, %v", run, err) // it is not known whether the queue has it, and there is no mark
		}
	})
}

// trigger publishes a run of a schedule as guest.
func trigger(b *testkit.Bubble, name string) (management.ScheduleRun, bool, error) {
	b.Helper()
	return b.Node.API().TriggerSchedule(b.Context(), auth.User{Name: "guest", Tags: []string{"administrator"}}, "/", name, 0)
}
