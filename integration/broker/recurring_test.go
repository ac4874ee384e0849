package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
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
		body := bubbleWeb(b).ask("", "GET", "/metrics", "").Body.String()
		for _, line := range []string{`candlemark_schedules{state="running"} 1`, `candlemark_schedule_runs_total{result="stored"} 2`, "candlemark_schedule_lateness_seconds_count 2"} {
			if !strings.Contains(body, line) {
				t.Errorf("no %s", line)
			}
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

// durables declares durable queues.
func durables(b *testkit.Bubble, ch *testkit.Channel, names ...string) {
	b.Helper()
	for _, name := range names {
		if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestScheduleMissed_REC9: after a time in which the broker was down, the latest run is published, or all, or none, within the window;
// the schedule then goes on.
func TestScheduleMissed_REC9(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "one", "all", "skip", "window", "short")
		for name, keys := range map[string]string{"one": "", "all": `,"missed":"all"`, "skip": `,"missed":"skip"`, "window": `,"missed":"all","missed_window":"65s"`, "short": `,"missed":"one","missed_window":1000`} {
			putSchedule(b, name, `{"every":"20s","queue":"`+name+`"`+keys+`}`)
		}
		b.AdvanceTo(45 * time.Second)
		b.Restart(110 * time.Second) // until 155 s and a little
		ch = b.Connect().Open()
		b.AdvanceTo(170 * time.Second)
		for name, want := range map[string]string{
			"one": "[20 40 140 160]", "all": "[20 40 60 80 100 120 140 160]", "skip": "[20 40 160]", "window": "[20 40 100 120 140 160]", "short": "[20 40 160]",
		} {
			if got := fmt.Sprint(drain(b, ch, name)); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if x := scheduleNamed(b, "one"); x.Missed != 4 || x.Runs != 4 || x.History[0].By != "catch-up" {
			t.Errorf("%+v", x)
		}
		b.Restart(5 * time.Second) // until 176 s and a little: nothing is missed
		b.Restart(8 * time.Second) // over 180 s: late by less than 10 s
		ch = b.Connect().Open()
		b.AdvanceTo(195 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "skip")); got != "[180]" {
			t.Errorf("late by some seconds: %s", got)
		}
	})
}

// TestSchedulePause_REC11: times of a pause are not missed, also over a restart; a trigger publishes at once, and again if it is repeated.
func TestSchedulePause_REC11(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "tick", `{"every":"10s","queue":"q","missed":"all"}`)
		guest, _ := b.Users.Account("guest")
		by := auth.User{Name: "guest", Tags: guest.Tags}
		change := func(paused string) {
			if _, err := b.Node.API().ChangeSchedule(context.Background(), by, "/", "tick", func(f map[string]json.RawMessage) { f["paused"] = json.RawMessage(paused) }); err != nil {
				t.Fatal(err)
			}
		}
		b.AdvanceTo(15 * time.Second)
		change("true")
		b.AdvanceTo(35 * time.Second)
		for range 2 {
			run, found, err := b.Node.API().TriggerSchedule(context.Background(), by, "/", "tick", 0)
			if err != nil || !found || run.Result != "stored" {
				t.Fatal(run, found, err)
			}
		}
		if x := scheduleNamed(b, "tick"); x.State != "paused" || x.Next != 0 || x.Runs != 1 {
			t.Errorf("%+v", x)
		}
		b.Restart(10 * time.Second)
		b.AdvanceTo(56 * time.Second)
		change("false")
		b.Crash(0)
		ch = b.Connect().Open()
		b.AdvanceTo(75 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[10 35 35 60 70]" {
			t.Errorf("published: %s", got)
		}
	})
}

// TestScheduleEnds_REC13: a schedule ends after its last run, and deletes itself if it is to; its progress is gone from the journal with
// it, also with its virtual host.
func TestScheduleEnds_REC13(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "three", `{"every":1000,"queue":"q","count":3}`)
		putSchedule(b, "dates", `{"at":["2000-01-01T00:00:02Z","2000-01-01T00:00:05Z"],"queue":"q","delete_at_end":true}`)
		putSchedule(b, "end", `{"every":1000,"queue":"q","start":"2000-01-01T00:00:06Z","end":946684807000}`)
		b.AdvanceTo(20 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[1 2 2 3 5 6 7]" {
			t.Error(got)
		}
		b.Restart(time.Second)
		ch = b.Connect().Open()
		b.Advance(10 * time.Second)
		if got := drain(b, ch, "q"); got != nil {
			t.Errorf("after the end: %v", got)
		}
		list, _ := b.Node.API().ListSchedules(context.Background(), "", "")
		if len(list) != 2 || list[0].State != "ended" || list[1].State != "ended" || list[1].Runs != 3 {
			t.Errorf("%+v", list)
		}
		for _, name := range []string{"three", "end"} {
			if found, err := b.Node.API().DeleteParameter(context.Background(), parameters.Parameter{Component: parameters.Schedule, VHost: "/", Name: name}); !found || err != nil {
				t.Error(found, err)
			}
		}
		b.Advance(time.Second)
		for id, name := range b.Journal.Names() {
			if strings.HasPrefix(name.Queue, "amq.candlemark") {
				t.Errorf("the journal still has %s (%d)", name, id)
			}
		}
	})
}

// TestSchedulePermissions_REC12: permissions are checked when a schedule is set, and again at each run.
func TestSchedulePermissions_REC12(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		put := func(user string, tags []string, configure, write string) {
			if _, err := b.Users.PutAccount(auth.Account{Name: user, Tags: tags}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Users.PutGrant(auth.Grant{User: user, VHost: "/", Configure: configure, Write: write}); err != nil {
				t.Fatal(err)
			}
		}
		put("app", nil, "^app-", ".*")
		put("maker", []string{"policymaker"}, ".*", "^x$")
		for i, c := range []struct{ by, name, value, want string }{
			{"app", "other", `{"every":1000,"queue":"q"}`, "configure access to queue 'other' in vhost '/' refused for user 'app'"},
			{"maker", "a", `{"every":1000,"queue":"q"}`, "write access to exchange 'amq.default'"},
			{"maker", "a", `{"every":1000,"exchange":"x","user":"app"}`, "only administrators set schedules of other users"},
			{"app", "app-a", `{"every":1000,"exchange":"candlemark.admin"}`, "schedules cannot send admin commands"},
			{"app", "app-a", `{"every":1000,"queue":"q"}`, ""},
			{"guest", "app-b", `{"every":1000,"queue":"q","user":"app"}`, ""},
		} {
			if err := trySchedule(b, c.by, c.name, c.value); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%d: %v", i, err)
			}
		}
		b.AdvanceTo(1500 * time.Millisecond)
		put("app", nil, "^app-", "")
		b.AdvanceTo(2500 * time.Millisecond)
		if x := scheduleNamed(b, "app-a"); x.Stored != 1 || x.Refused != 1 || x.State != "running" || !strings.Contains(x.Last.Reason, "write access") {
			t.Errorf("%+v", x.Last)
		}
		if err := b.Users.DeleteAccount("app"); err != nil {
			t.Fatal(err)
		}
		b.AdvanceTo(3500 * time.Millisecond)
		if x := scheduleNamed(b, "app-b"); x.Refused != 2 || x.State != "no_user" {
			t.Errorf("%+v", x)
		}
		put("app", nil, "^app-", ".*")
		b.AdvanceTo(4500 * time.Millisecond)
		if x := scheduleNamed(b, "app-b"); x.Stored != 2 || x.State != "running" {
			t.Errorf("%+v", x)
		}
	})
}

// TestScheduleTargets_REC5_REC10: a target that is missing, refuses or ends is counted, and the schedule goes on.
func TestScheduleTargets_REC5_REC10(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		putSchedule(b, "none", `{"every":1000,"queue":"later"}`)
		putSchedule(b, "exchange", `{"every":1000,"exchange":"amq.topic","routing_key":"a.b"}`)
		b.AdvanceTo(1500 * time.Millisecond)
		if x := scheduleNamed(b, "none"); x.State != "no_target" || x.Unroutable != 1 {
			t.Errorf("%+v", x)
		}
		if x := scheduleNamed(b, "exchange"); x.State != "running" || x.Unroutable != 1 || x.Last.Result != "unroutable" {
			t.Errorf("%+v", x)
		}
		ch := b.Connect().Open()
		ch.Declare("later", map[string]any{"x-max-length": 1, "x-overflow": "reject-publish"})
		b.AdvanceTo(3500 * time.Millisecond)
		if x := scheduleNamed(b, "none"); x.State != "running" || x.Stored != 1 || x.Refused != 1 {
			t.Errorf("%+v", x)
		}
		if _, err := ch.QueueDelete("later", false, false, false); err != nil {
			t.Fatal(err)
		}
		b.AdvanceTo(4500 * time.Millisecond)
		if x := scheduleNamed(b, "none"); x.State != "no_target" || x.Unroutable != 2 {
			t.Errorf("%+v", x)
		}
	})
}

// TestScheduleExpires_REC7: a message never waits beside that of the next run.
func TestScheduleExpires_REC7(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "next", `{"every":"10s","queue":"q","expires":"next"}`)
		for at := 15; at < 60; at += 10 {
			b.AdvanceTo(time.Duration(at) * time.Second)
			if got := fmt.Sprint(drain(b, ch, "q")); at == 15 && got != "[10]" {
				t.Error(got)
			}
			b.AdvanceTo(time.Duration(at+9) * time.Second)
		}
		b.AdvanceTo(95 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[90]" {
			t.Error(got)
		}
	})
}

// TestScheduleTexts_REC6: templates have the values of their run; ends of the clock's changes have their reasons.
func TestScheduleTexts_REC6(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Bind("q", "run.2", "amq.topic")
		putSchedule(b, "t", `{"cron":"*/10 * * * * *","zone":"Asia/Tokyo","exchange":"amq.topic","routing_key":"run.${run}","templates":true,
			"body":"${name} ${time} ${date} ${unix_ms} ${previous} ${next} $$x ${run}"}`)
		b.AdvanceTo(25 * time.Second)
		d := ch.Fetch("q")
		if d == nil || string(d.Body) != "t 2000-01-01T09:00:20+09:00 2000-01-01 946684820000 2000-01-01T09:00:10+09:00 2000-01-01T09:00:30+09:00 $x 2" {
			t.Errorf("%+v", d)
		}
	})
}

// TestScheduleRefused_REC2_REC5: each refusal says why.
func TestScheduleRefused_REC2_REC5(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		for _, c := range []struct{ value, want string }{
			{`{"queue":"q"}`, "a schedule needs exactly one of cron, every and at"},
			{`{"every":999,"queue":"q"}`, "the interval is below one second"},
			{`{"every":1000}`, "a schedule needs a queue or an exchange as its target"},
			{`{"every":1000,"queue":"q","overlap":"skip","exchange":"x"}`, "a schedule needs a queue or an exchange as its target"},
			{`{"every":1000,"exchange":"x","overlap":"skip"}`, "overlap needs a queue as its target"},
			{`{"cron":"0 0 30 2 *","queue":"q"}`, "this expression has no time within 30 years"},
			{`{"cron":"0 0 L * *","queue":"q"}`, `day of the month: "L" is not supported`},
			{`{"cron":"0 0 * * *","zone":"Europe/Berlim","queue":"q"}`, "unknown time zone 'Europe/Berlim'"},
			{`{"every":1000,"queue":"q","start":"2001-01-01T00:00:00Z","end":"2000-01-01T00:00:00Z"}`, "end is not after start"},
			{`{"every":1000,"queue":"q","body":"${x}","templates":true}`, "unknown template '${x}'"},
			{`{"every":1000,"queue":"q","jitter":501}`, "jitter is more than half of the interval"},
			{`{"every":1000,"queue":"q","headers":{"CC":["a"]}}`, "schedules do not support the header CC"},
			{`{"every":1000,"queue":"q","colour":"red"}`, "unknown key 'colour'"},
			{`{"every":1000,"queue":"q","backfill":{}}`, "unknown key 'backfill'"},
			{`{"every":1000,"queue":"q","properties":{"expiration":"5"}}`, "use the key expires of the schedule instead of the property expiration"},
		} {
			if err := trySchedule(b, "guest", "x", c.value); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.value, err)
			}
		}
	})
}

// TestScheduleMoves_REC1_CLK5: a move of a test clock over weeks fires each schedule step by step: it leads to the same end as a thousand small moves, in
// memory and in the journal.
func TestScheduleMoves_REC1_CLK5(t *testing.T) {
	const span = 40 * 24 * time.Hour
	end := func(persistent bool, pieces int) (text string) {
		testkit.RunStored(t, withTestClock, func(b *testkit.Bubble) {
			ch := b.Connect().Open()
			mode := fmt.Sprintf(`,"properties":{"delivery_mode":%d}`, map[bool]int{true: 2, false: 1}[persistent])
			values := map[string]string{
				"nightly": `{"cron":"30 2 * * *","zone":"America/New_York"`, "hours": `{"every":"7h","jitter":"1h"`, "weekly": `{"cron":"0 12 * * FRI","templates":true,"body":"${run} ${previous}"`,
				"dates": `{"at":["2000-01-05T00:00:00Z","2000-02-01T10:00:00Z"],"delete_at_end":true`, "next": `{"every":"1d","expires":"next"`, "skip": `{"every":"5h","overlap":"skip"`, "few": `{"every":"3h","count":5`,
			}
			for name, value := range values {
				durables(b, ch, name)
				putSchedule(b, name, value+`,"queue":"`+name+`"`+mode+`}`)
			}
			b.Advance(calm)
			for range pieces {
				move(b, span/time.Duration(pieces))
			}
			b.Advance(calm)
			for _, name := range slices.Sorted(maps.Keys(values)) {
				text += name
				for d := ch.Fetch(name); d != nil; d = ch.Fetch(name) {
					text += fmt.Sprintf(" %s/%s/%v", d.MessageId, d.Body, d.Headers["x-schedule-run"])
				}
				text += "\n"
			}
			list, err := b.Node.API().ListSchedules(context.Background(), "/", "")
			if err != nil || len(list) != len(values)-1 {
				t.Errorf("%d schedules, %v", len(list), err)
			}
			for _, x := range list {
				text += fmt.Sprintln(x.Name, x.State, x.Next, x.Runs, x.Stored, x.Skipped, x.Missed)
			}
		})
		return text
	}
	one := end(false, 1)
	if strings.Count(one, "nightly@") != 40 || strings.Count(one, "next@") != 1 || strings.Count(one, "few@") != 5 || strings.Count(one, "skip@") != 1 || !strings.Contains(one, "weekly@2000-02-04T12:00:00Z/5 2000-01-28T12:00:00Z/5") {
		t.Error(one)
	}
	for name, other := range map[string]string{"a thousand moves": end(false, 1000), "one move, persistent": end(true, 1), "a hundred moves, persistent": end(true, 100)} {
		if other != one {
			t.Errorf("one move:\n%s\n%s:\n%s", one, name, other)
		}
	}
}

// TestScheduleExport_REC1: schedules are exported in a section that RabbitMQ does not read, and imported; those that exist stay the same.
func TestScheduleExport_REC1(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		putSchedule(b, "a", `{"every":"1h","queue":"q"}`)
		b.Advance(time.Minute)
		type export struct {
			Parameters []any `json:"parameters"`
			Own        []struct {
				Component, Name string
				Value           json.RawMessage
			} `json:"candlemark_parameters"`
		}
		d := get[export](w, "/api/definitions")
		if len(d.Parameters) != 0 || len(d.Own) != 1 || d.Own[0].Component != "schedule" {
			t.Fatalf("%+v", d)
		}
		before := scheduleNamed(b, "a")
		document, err := json.Marshal(map[string]any{"candlemark_parameters": []any{
			map[string]any{"component": "schedule", "vhost": "/", "name": "a", "value": d.Own[0].Value}, map[string]any{"component": "schedule", "vhost": "/", "name": "b", "value": d.Own[0].Value},
		}})
		if err != nil {
			t.Fatal(err)
		}
		w.want(204, "", "POST", "/api/definitions", string(document))
		b.Advance(calm)
		a, c := scheduleNamed(b, "a"), scheduleNamed(b, "b")
		if a.Next != before.Next || c.Spec.Created != epoch2000.UnixMilli()+60_000 || c.Next != epoch2000.UnixMilli()+3660_000 || c.Spec.Incarnation == a.Spec.Incarnation {
			t.Errorf("%+v\n%+v", a, c)
		}
	})
}
