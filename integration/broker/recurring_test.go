package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/parameters"
)

// putSchedule sets a schedule of / as guest.
func putSchedule(b *testkit.Bubble, name, value string) {
	b.Helper()
	if err := trySchedule(b, "guest", name, value); err != nil {
		b.Fatal(err)
	}
}

func trySchedule(b *testkit.Bubble, by, name, value string) error {
	b.Helper()
	_, err := b.Node.API().PutParameter(context.Background(), parameters.Parameter{
		Component: parameters.Schedule, VHost: "/", Name: name, Value: json.RawMessage(value), Setter: parameters.Setter{User: by},
	})
	return err
}

func scheduleNamed(b *testkit.Bubble, name string) management.Schedule {
	b.Helper()
	list, err := b.Node.API().ListSchedules(context.Background(), "/", name)
	if err != nil || len(list) != 1 {
		b.Fatal(list, err)
	}
	return list[0]
}

// drain takes all messages of a queue, and returns the nominal times of their runs in s after the bubble's begin.
func drain(b *testkit.Bubble, ch *testkit.Channel, queue string) (at []int64) {
	b.Helper()
	for {
		d, ok, err := ch.Get(queue, true)
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			return at
		}
		at = append(at, (d.Headers["x-schedule-time"].(int64)-epoch2000.UnixMilli())/1000)
	}
}

// epoch2000 is when a bubble begins.
var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestSchedule_REC1_REC5: a schedule publishes at each of its times, never early, with the properties that the broker sets.
func TestSchedule_REC1_REC5(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		putSchedule(b, "tick", `{"cron":"*/10 * * * * *","queue":"q","body":"hello","properties":{"priority":3,"headers":{"kind":"a"}}}`)
		b.AdvanceTo(9999 * time.Millisecond)
		if d := ch.Fetch("q"); d != nil {
			t.Errorf("%s before the first time", d.Body)
		}
		b.AdvanceTo(25 * time.Second)
		d, ok, err := ch.Get("q", true)
		if !ok || err != nil {
			t.Fatal("no message", err)
		}
		got := fmt.Sprintln(string(d.Body), d.MessageId, d.Timestamp.UTC().Unix()-epoch2000.Unix(), d.Priority, d.DeliveryMode, d.Headers["kind"], d.Headers["x-schedule"], d.Headers["x-schedule-time"].(int64)-epoch2000.UnixMilli(), d.Headers["x-schedule-run"], d.Headers["x-schedule-missed"], d.Headers["x-schedule-by"])
		if want := "hello tick@2000-01-01T00:00:10Z 10 3 2 a tick 10000 1 0 timer\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if x := scheduleNamed(b, "tick"); x.State != "running" || x.Runs != 2 || x.Stored != 2 || x.Next != epoch2000.UnixMilli()+30_000 || x.Last.Result != "stored" || len(x.History) != 2 {
			t.Errorf("%+v", x)
		}
		b.Restart(3 * time.Second)
		ch = b.Connect().Open()
		b.AdvanceTo(41 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[20 30 40]" {
			t.Error(got)
		}
	})
}

// TestScheduleCrashes_REC10: a run each second; the broker is killed a hundred times. Each queue has each run once, in order.
func TestScheduleCrashes_REC10(t *testing.T) {
	for seed := range uint64(3) {
		testkit.RunStored(t, nil, func(b *testkit.Bubble) {
			r := rand.New(rand.NewPCG(seed, 1))
			ch := b.Connect().Open()
			for _, name := range []string{"one", "two", "three"} {
				if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
					t.Fatal(err)
				}
				if err := ch.QueueBind(name, "", "amq.fanout", false, nil); err != nil {
					t.Fatal(err)
				}
			}
			putSchedule(b, "each", `{"every":1000,"exchange":"amq.fanout","routing_key":"","missed":"all"}`)
			putSchedule(b, "one", `{"cron":"* * * * * *","queue":"one","missed":"all"}`)
			for range 100 {
				// near a second, where the messages, their marks and the progress are written
				b.AdvanceTo(b.Elapsed().Truncate(time.Second) + time.Second + time.Duration(r.IntN(6000))*time.Microsecond - time.Millisecond)
				if r.IntN(4) == 0 {
					b.Advance(time.Duration(r.IntN(1000)) * time.Millisecond)
				}
				b.Crash(time.Duration(r.IntN(3)) * time.Duration(r.IntN(4000)) * time.Millisecond)
			}
			b.Advance(5 * time.Second)
			ch = b.Connect().Open()
			for name, schedules := range map[string]int{"one": 2, "two": 1, "three": 1} {
				seen := map[string]map[int64]bool{}
				for {
					d, ok, err := ch.Get(name, true)
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						break
					}
					of, at := d.Headers["x-schedule"].(string), d.Headers["x-schedule-time"].(int64)/1000
					if seen[of] == nil {
						seen[of] = map[int64]bool{}
					}
					if seen[of][at] {
						t.Errorf("seed %d: %s has the run of %s at %d twice", seed, name, of, at)
					}
					seen[of][at] = true
				}
				for of, all := range seen {
					first, last := int64(1<<62), int64(0)
					for at := range all {
						first, last = min(first, at), max(last, at)
					}
					if int64(len(all)) != last-first+1 || len(all) < 100 {
						t.Errorf("seed %d: %s has %d runs of %s from %d to %d", seed, name, len(all), of, first, last)
					}
				}
				if len(seen) != schedules {
					t.Errorf("%s has runs of %d schedules", name, len(seen))
				}
			}
		})
	}
}
