package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/trio"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/parameters"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestScheduleAlarm_REC9_REC10: nothing is published during an alarm about memory or disk space. A short one delays runs; after a long one they are missed.
func TestScheduleAlarm_REC9_REC10(t *testing.T) {
	metered(t, func(b *testkit.Bubble, m *meter) {
		ch := b.Connect().Open()
		names := []string{"one", "all", "skip"}
		durables(b, ch, names...)
		for _, name := range names {
			putSchedule(b, name, `{"cron":"*/5 * * * * *","queue":"`+name+`","missed":"`+name+`"}`)
		}
		b.AdvanceTo(7 * time.Second)
		m.set(501, 1000)
		b.AdvanceTo(12 * time.Second)
		if run, found, err := trigger(b, "one"); err != nil || !found || run.Result != "refused" || !strings.Contains(run.Reason, "low") {
			t.Errorf("a trigger during the alarm: %+v, %v", run, err)
		}
		m.set(100, 1000) // the alarm ends at once: memory has no delay
		b.AdvanceTo(14 * time.Second)
		for _, name := range names {
			if got := fmt.Sprint(drain(b, ch, name)); got != "[5 10]" {
				t.Errorf("%s after a short alarm: %s", name, got)
			}
		}
		m.set(100, 49)
		b.AdvanceTo(64 * time.Second)
		for _, name := range names {
			if got := drain(b, ch, name); got != nil {
				t.Errorf("%s during the alarm: %v", name, got)
			}
		}
		m.set(100, 50)
		b.AdvanceTo(82 * time.Second) // the alarm ended at about 74
		for name, want := range map[string]string{"one": "[70 75 80]", "all": "[15 20 25 30 35 40 45 50 55 60 65 70 75 80]", "skip": "[75 80]"} {
			got := fmt.Sprint(drain(b, ch, name))
			if name == "skip" && got == "[65 70 75 80]" { // those late by less than 10 s
				got = want
			}
			if got != want {
				t.Errorf("%s after a long alarm: %s, want %s", name, got, want)
			}
		}
	})
}

// TestScheduleSleep_REC9: after a suspend of the machine, and when its clock was set forwards, runs are missed; a clock that is set back repeats none. Each
// time the schedule goes on at its times.
func TestScheduleSleep_REC9(t *testing.T) {
	for name, change := range map[string]func(l *laptop){
		"suspended":    func(l *laptop) { l.slept.Add(int64(time.Hour)) },
		"set forwards": func(l *laptop) { l.set.Add(int64(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			onLaptop(t, func(b *testkit.Bubble, l *laptop) {
				ch := b.Connect().Open()
				names := []string{"one", "all", "skip"}
				durables(b, ch, names...)
				for _, name := range names {
					putSchedule(b, name, `{"cron":"*/10 * * * * *","queue":"`+name+`","missed":"`+name+`","missed_window":"30m"}`)
				}
				b.AdvanceTo(25 * time.Second)
				change(l)
				b.AdvanceTo(41 * time.Second) // the broker has looked, and all went on
				for name, count := range map[string]int{"one": 5, "all": 184, "skip": 4} {
					got := drain(b, ch, name)
					if len(got) < 4 || len(got) != count || fmt.Sprint(got[:2]) != "[10 20]" || !slices.IsSorted(got) || fmt.Sprint(got[len(got)-2:]) != "[3630 3640]" {
						t.Errorf("%s: %d runs, %v", name, len(got), got)
					}
				}
				if x := scheduleNamed(b, "one"); x.Next != epoch2000.UnixMilli()+3650_000 || x.Missed == 0 {
					t.Errorf("%+v", x)
				}
			})
		})
	}
	onLaptop(t, func(b *testkit.Bubble, l *laptop) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "q", `{"cron":"*/10 * * * * *","queue":"q","missed":"all"}`)
		b.AdvanceTo(25 * time.Second)
		l.set.Add(-int64(time.Hour))
		b.AdvanceTo(time.Hour + 45*time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[10 20 30 40]" {
			t.Errorf("set back: %s", got)
		}
	})
}

// TestScheduleFailover_REC10_CLU16: a run each second in a cluster whose leaders are cut off again and again: each queue has each run once, in order.
func TestScheduleFailover_REC10_CLU16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, conns: map[net.Conn]*supervision.Node{}}
		o.nodes = trio.New(t, 800*time.Millisecond, func(c *cluster.Config) { c.Abandon = true })
		o.begin()
		_, ch := o.open()
		for name, args := range map[string]amqp.Table{"quorum": quorum, "classic": nil} {
			if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
				t.Fatal(err)
			}
			if err := ch.QueueBind(name, "", "amq.fanout", false, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.now.API().PutParameter(context.Background(), parameters.Parameter{
			Component: parameters.Schedule, VHost: "/", Name: "each", Setter: parameters.Setter{User: "guest"},
			Value: json.RawMessage(`{"cron":"* * * * * *","exchange":"amq.fanout","routing_key":"","missed":"all"}`),
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		terms := o.storm(80)
		o.nodes.Isolate(o.nodes.Leader, false)
		if o.nodes.Elected(5 * time.Second) {
			o.begin()
		}
		time.Sleep(10 * time.Second)
		_, ch = o.open()
		for _, name := range []string{"quorum", "classic"} {
			var got []int64
			for {
				d, ok, err := ch.Get(name, true)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got = append(got, d.Headers["x-schedule-time"].(int64)/1000)
			}
			if n := len(got); n < 40 || got[n-1]-got[0] != int64(n-1) || !slices.IsSorted(got) {
				t.Errorf("%s: %d runs from %d to %d: %v", name, n, got[0], got[n-1], got)
			}
		}
		t.Logf("%d terms", terms)
		if terms < 5 {
			t.Errorf("%d terms", terms)
		}
		o.nodes.Close()
		o.ended.Wait()
		time.Sleep(time.Minute)
	})
}

// TestScheduleHerd_REC13: 10,000 schedules are imported with one document, and no more; all are due in the same second, and each has its run once. Then
// all are deleted.
func TestScheduleHerd_REC13(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		var all []any
		for i := range parameters.MaxSchedules {
			all = append(all, map[string]any{
				"component": "schedule", "vhost": "/", "name": fmt.Sprintf("s%05d", i), "value": map[string]any{"cron": "* * * * *", "queue": "q", "user": "guest"},
			})
		}
		document, _ := json.Marshal(map[string]any{"candlemark_parameters": all})
		w := bubbleWeb(b)
		w.want(204, "", "POST", "/api/definitions", string(document))
		if err := trySchedule(b, "guest", "more", `{"every":1000,"queue":"q"}`); err == nil || !strings.Contains(err.Error(), "limit on schedules (10000) in vhost '/' is reached") {
			t.Errorf("one more: %v", err)
		}
		b.AdvanceTo(time.Minute + 2*time.Second)
		seen := map[string]int{}
		for d := ch.Fetch("q"); d != nil; d = ch.Fetch("q") {
			seen[d.MessageId]++
		}
		if len(seen) != parameters.MaxSchedules || seen["s09999@2000-01-01T00:01:00Z"] != 1 {
			t.Errorf("%d runs", len(seen))
		}
		body := bubbleWeb(b).ask("", "GET", "/metrics", "").Body.String()
		if !strings.Contains(body, `candlemark_schedules{state="running"} 10000`) || !strings.Contains(body, `candlemark_schedule_lateness_seconds_bucket{le="0.01"} 10000`) {
			t.Error("not all runs were in time")
		}
	})
}
