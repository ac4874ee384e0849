package broker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
)

var administrator = auth.User{Name: "guest", Tags: []string{"administrator"}}

// span returns a backfill from one time of the bubble to another, in s.
func span(from, to int64, rate int) parameters.Backfill {
	return parameters.Backfill{From: epoch2000.UnixMilli() + from*1000, To: epoch2000.UnixMilli() + to*1000, Rate: rate, Overlap: parameters.OverlapAllow}
}

// TestBackfill_REC14: the runs of a past span are published, oldest first, at a rate, while the schedule goes on; with the headers of a backfill.
func TestBackfill_REC14(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "s", `{"cron":"*/10 * * * * *","queue":"q","body":"${run} ${next}","templates":true,"expires":"next"}`)
		b.AdvanceTo(100 * time.Second)
		_ = drain(b, ch, "q")
		runs, found, err := b.Node.API().Backfill(b.Context(), administrator, "/", "s", span(-3600, 90, 2), true)
		if runs != 370 || !found || err != nil {
			t.Fatal(runs, found, err)
		}
		if x := scheduleNamed(b, "s"); x.Spec.Backfill != nil {
			t.Errorf("a preview: %+v", x.Spec.Backfill)
		}
		if _, _, err := b.Node.API().Backfill(b.Context(), administrator, "/", "s", span(0, 40, 2), false); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Node.API().Backfill(b.Context(), administrator, "/", "s", span(0, 40, 2), false); err == nil || !strings.Contains(err.Error(), "is under way") {
			t.Errorf("a second one: %v", err)
		}
		b.AdvanceTo(101700 * time.Millisecond)
		if x := scheduleNamed(b, "s"); x.Spec.Backfill == nil || x.Filled != 4 {
			t.Errorf("%d runs of %+v", x.Filled, x.Spec.Backfill)
		}
		d, _, _ := ch.Get("q", true)
		if got := fmt.Sprint(string(d.Body), "!", d.MessageId, d.Headers["x-schedule-by"], d.Headers["x-schedule-run"], d.Expiration); got != " 2000-01-01T00:00:10Z!s@2000-01-01T00:00:00Zbackfill<nil>10000" {
			t.Error(got)
		}
		b.AdvanceTo(105 * time.Second)
		if got := fmt.Sprint(drain(b, ch, "q")); got != "[10 20 30 40]" {
			t.Error(got)
		}
		if x := scheduleNamed(b, "s"); x.Spec.Backfill != nil || x.Runs != 10 || x.Stored != 15 {
			t.Errorf("%+v", x)
		}
		for id, name := range b.Journal.Names() {
			if strings.HasPrefix(name.Queue, parameters.ProgressPrefix) && uint64(id) != scheduleNamed(b, "s").Spec.Incarnation {
				t.Errorf("the journal still has %s (%d)", name.Queue, id)
			}
		}
	})
}

// TestBackfillCrashes_REC14: a backfill goes on after kills; each run is there once, in order, and it can be cancelled. It survives a change of the schedule.
func TestBackfillCrashes_REC14(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durables(b, ch, "q")
		putSchedule(b, "s", `{"cron":"* * * * *","queue":"q","paused":true}`)
		b.AdvanceTo(10 * time.Second)
		if _, _, err := b.Node.API().Backfill(b.Context(), administrator, "/", "s", span(-59940, 0, 100), false); err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			b.Advance(time.Duration(300+7*i) * time.Millisecond)
			b.Crash(time.Duration(i) * time.Second)
			if i == 5 {
				putSchedule(b, "s", `{"cron":"* * * * *","queue":"q","paused":true,"body":"new"}`)
			}
		}
		b.Advance(20 * time.Second)
		ch = b.Connect().Open()
		got := drain(b, ch, "q")
		for i, at := range got {
			if at != int64(i*60-59940) {
				t.Fatalf("run %d is at %d: %v", i, at, got)
			}
		}
		if len(got) != 1000 {
			t.Errorf("%d runs", len(got))
		}
		if _, _, err := b.Node.API().Backfill(b.Context(), administrator, "/", "s", span(-59940, 0, 10), false); err != nil {
			t.Fatal(err)
		}
		b.Advance(time.Second)
		if found, err := b.Node.API().CancelBackfill(b.Context(), administrator, "/", "s"); !found || err != nil {
			t.Error(found, err)
		}
		b.Advance(time.Minute)
		if n := len(drain(b, ch, "q")); n < 10 || n > 12 {
			t.Errorf("%d runs before the cancel", n)
		}
		if _, err := b.Node.API().CancelBackfill(b.Context(), administrator, "/", "s"); err == nil || err.Error() != "the schedule has no backfill" {
			t.Error(err)
		}
	})
}

// TestBackfillRefused_REC14: each refusal says why; a backfill is neither set with the schedule nor exported.
func TestBackfillRefused_REC14(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		b.AdvanceTo(100 * time.Second)
		putSchedule(b, "each", `{"cron":"* * * * * *","exchange":"amq.fanout","routing_key":""}`)
		putSchedule(b, "yearly", `{"cron":"@yearly","queue":"q"}`)
		w := bubbleWeb(b)
		for _, c := range []struct{ name, body, want string }{
			{"each", `{}`, "a backfill needs from, a date"},
			{"each", `{"from":"yesterday"}`, "from: \\\"yesterday\\\" is not a date"},
			{"each", `{"from":"2000-01-01T00:00:00Z","to":"1999-01-01T00:00:00Z"}`, "to is before from"},
			{"each", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-01T00:02:00Z"}`, "to is in the future: a backfill is of past times"},
			{"each", `{"from":"1999-12-31T00:00:00Z"}`, "the schedule has more than 10000 times in this span"},
			{"yearly", `{"from":"2000-01-01T00:00:01Z"}`, "the schedule has no time in this span"},
			{"each", `{"from":"2000-01-01T00:00:01Z","rate":0}`, "rate is not in 1-1000"},
			{"each", `{"from":"2000-01-01T00:00:01Z","rate":1001}`, "rate is not in 1-1000"},
			{"each", `{"from":"2000-01-01T00:00:01Z","overlap":"never"}`, "overlap is not one of allow, skip, replace"},
			{"each", `{"from":"2000-01-01T00:00:01Z","overlap":"skip"}`, "overlap needs a queue as its target"},
			{"each", `{"from":"2000-01-01T00:00:01Z","speed":1}`, "unknown key 'speed'"},
		} {
			if body := w.ask("", "POST", "/api/x/schedules/%2F/"+c.name+"/backfill", c.body); body.Code != 400 || !strings.Contains(body.Body.String(), c.want) {
				t.Errorf("%s: %d %s", c.body, body.Code, body.Body)
			}
		}
		if answer := w.ask("", "POST", "/api/x/schedules/%2F/none/backfill", `{"from":1}`); answer.Code != 404 {
			t.Error(answer.Code, answer.Body)
		}
		w.want(201, "", "PUT", "/api/users/app", `{"password":"secret","tags":"management"}`)
		w.want(201, "", "PUT", "/api/permissions/%2F/app", `{"configure":"^app","write":".*","read":".*"}`)
		if _, _, err := b.Node.API().Backfill(b.Context(), auth.User{Name: "app"}, "/", "each", span(1, 50, 1), false); err == nil || !strings.Contains(err.Error(), "refused for user 'app'") {
			t.Error(err)
		}
		w.want(200, "-", "POST", "/api/x/schedules/%2F/each/backfill", `{"from":"2000-01-01T00:00:01Z","rate":1}`)
		if body := w.ask("", "GET", "/api/definitions", "").Body.String(); strings.Contains(body, "backfill") || !strings.Contains(body, `"name":"each"`) {
			t.Error("the export has the backfill, or no schedule")
		}
		if body := w.ask("", "GET", "/api/x/schedules/%2F/each", "").Body.String(); !strings.Contains(body, `"backfill":{"from":"2000-01-01T00:00:01Z","to":"2000-01-01T00:01:40Z","rate":1,"overlap":"allow","runs":`) {
			t.Error(body)
		}
		if err := trySchedule(b, "guest", "each", `{"every":1000,"queue":"q","backfill":{"from":1,"to":2,"rate":1}}`); err == nil || err.Error() != "unknown key 'backfill'" {
			t.Error(err)
		}
		w.want(204, "", "DELETE", "/api/x/schedules/%2F/each/backfill", "")
	})
}

// TestImportPaused_REC1: an import with pause_schedules pauses the schedules that do not exist yet.
func TestImportPaused_REC1(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		putSchedule(b, "old", `{"every":"1h","queue":"q"}`)
		one := func(name string) any {
			return map[string]any{"component": "schedule", "vhost": "/", "name": name, "value": map[string]any{"every": "1h", "queue": "q"}}
		}
		document, _ := json.Marshal(map[string]any{"candlemark_parameters": []any{one("old"), one("new")}})
		w := bubbleWeb(b)
		if body := w.ask("", "POST", "/api/definitions?dry_run=true&pause_schedules=true", string(document)).Body.String(); strings.Count(body, "it is paused") != 1 {
			t.Error(body)
		}
		w.want(204, "", "POST", "/api/definitions?pause_schedules=true", string(document))
		if a, c := scheduleNamed(b, "old"), scheduleNamed(b, "new"); a.State != "running" || c.State != "paused" {
			t.Errorf("%s, %s", a.State, c.State)
		}
	})
}

// TestScheduleUserDeleted_REC12: the answer and the log warn when a user is deleted as whom schedules publish.
func TestScheduleUserDeleted_REC12(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		for _, user := range []string{"app", "idle"} {
			w.want(201, "", "PUT", "/api/users/"+user, `{"password":"secret","tags":""}`)
		}
		for _, name := range []string{"a", "b"} {
			putSchedule(b, name, `{"every":"1h","queue":"q","user":"app"}`)
		}
		w.want(204, "", "DELETE", "/api/users/idle", "")
		const deleted = `{"warnings":["schedules that publish as user 'app': 2; their runs are refused until there is such a user again"]}`
		w.want(200, deleted, "DELETE", "/api/users/app", "")
		w.want(404, "-", "DELETE", "/api/users/app", "")
		w.want(201, "", "PUT", "/api/users/app", `{"password":"secret","tags":""}`)
		w.want(200, deleted, "POST", "/api/users/bulk-delete", `{"users":["app"]}`)
		const warning = `"user":"app","schedules":2,"message":"a user was deleted as whom schedules publish`
		if b.Log.Count("as whom schedules publish") != 2 || b.Log.Count(warning) != 2 {
			t.Error("no warning, or another")
		}
	})
}
