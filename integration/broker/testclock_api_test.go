package broker

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/supervision"
	"candlemark/supervision/testclock"

	amqp "github.com/rabbitmq/amqp091-go"
)

// at2027 gives a broker a test clock that stands at the beginning of 2027.
func at2027(cfg *supervision.Config) {
	cfg.Clock = clock.NewManual(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
}

// TestClockAPI_CLK5: the HTTP API shows the clock and changes it.
func TestClockAPI_CLK5(t *testing.T) {
	testkit.Run(t, at2027, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		w := bubbleWeb(b)
		const path = "/api/x/clock"
		const none = `"dead_lettered":0,"delivered":0,"expired":0,"leases_ended":0,"locks_returned":0,"released":0,"schedules_fired":0,"settled":0}}`
		w.want(200, `{"test_clock":true,"time":"2027-01-01T00:00:00.000Z","time_ms":1798761600000,"mode":"frozen","speed":0,"real_time":"2000-01-01T00:00:00.000Z","next":null}`, "GET", path, "")
		b.Connect().Open().Declare("q", amqp.Table{"x-expires": 60_000})
		w.want(200, `{"test_clock":true,"time":"2027-01-01T00:00:00.000Z","time_ms":1798761600000,"mode":"frozen","speed":0,"real_time":"2000-01-01T00:00:00.000Z","next":{"at":"2027-01-01T00:01:00.000Z","in_ms":60000,"fate":"queue_ends","vhost":"/","queue":"q"}}`, "GET", path, "")
		w.want(200, `{"time":"2027-01-01T00:00:30.000Z","time_ms":1798761630000,"moved_ms":30000,"steps":0,"done":true,"settled":true,"counts":{`+none, "POST", path, `{"advance":"30s"}`)
		w.want(200, strings.Replace(`{"time":"2027-01-01T00:01:00.000Z","time_ms":1798761660000,"moved_ms":30000,"steps":1,"done":true,"settled":true,"counts":{`+none, `ended":0`, `ended":1`, 1), "POST", path, `{"next":1}`)
		w.want(200, `{"time":"2027-01-01T00:02:00.000Z","time_ms":1798761720000,"moved_ms":60000,"steps":0,"done":true,"settled":true,"counts":{`+none, "POST", path, `{"set":"2027-01-01T00:02Z","grace":0,"timeout":"1m"}`)
		w.want(200, "-", "POST", path, `{"mode":"running","speed":60}`)
		if got := w.ask("", "GET", path, "").Body.String(); !strings.Contains(got, `"mode":"running","speed":60`) {
			t.Error(got)
		}
		w.want(400, reason("bad_request", "the clock runs: freeze it first"), "POST", path, `{"next":1}`)
		w.want(200, "-", "POST", path, `{"mode":"frozen"}`)
		for body, why := range map[string]string{
			`{"advance":"1x"}`:                   "'1x' is not a time such as 90s, 24h, 7d or 2w, or a number of ms",
			`{"advance":""}`:                     "'' is not a time such as 90s, 24h, 7d or 2w, or a number of ms",
			`{"advance":"-1d"}`:                  "the clock cannot go back: it shows 2027-01-01T00:02:00.000Z",
			`{"advance":9223372036854775807}`:    "a move is at most 10 years",
			`{"advance":"522w"}`:                 "a move is at most 10 years",
			`{"set":"2026-01-01T00:00:00Z"}`:     "the clock cannot go back: it shows 2027-01-01T00:02:00.000Z",
			`{"set":"tomorrow"}`:                 "'tomorrow' is not a time such as 2027-01-01T00:00:00Z, or a number of ms since 1970",
			`{"next":0}`:                         "'next' is a number of deadlines, 1 to 100000",
			`{"mode":"fast"}`:                    `'mode' is \"frozen\" or \"running\"`,
			`{"mode":"frozen","speed":2}`:        "a frozen clock has no speed",
			`{"mode":"running","speed":0}`:       "'speed' is a number from 0.001 to 1000000",
			`{"mode":"running","speed":1e7}`:     "'speed' is a number from 0.001 to 1000000",
			`{"advance":1,"speed":2}`:            `'speed' needs \"mode\":\"running\"`,
			`{"advance":1,"set":"x"}`:            "'advance' and 'set' exclude each other",
			`{"advance":1,"grace":"11s"}`:        "'grace' is a time such as 500ms or 2s, or a number of ms, at most 10s",
			`{"advance":1,"timeout":"11m"}`:      "'timeout' is a time such as 500ms or 2s, or a number of ms, at most 10m0s",
			`{"advance":1,"speeed":1}`:           "unknown key 'speeed': the keys are advance, set, next, mode, speed, grace, timeout",
			`{"grace":1}`:                        "one of 'advance', 'set', 'next' and 'mode' is needed",
			`{"advance":"1d2x"}`:                 "'1d2x' is not a time such as 90s, 24h, 7d or 2w, or a number of ms",
			`{"set":"9999-01-01T00:00:00Z"}`:     "the clock ends in 2262",
			`{"set":"2262-04-11T00:00:00Z"}`:     "a move is at most 10 years",
			`{"advance":"1w2d3h","timeout":"0"}`: "'timeout' is a time such as 500ms or 2s, or a number of ms, at most 10m0s",
		} {
			w.want(400, reason("bad_request", why), "POST", path, body)
		}
		before := w.ask("", "GET", path, "").Body.String()
		w.want(200, "-", "POST", path, `{"advance":0}`)
		if after := w.ask("", "GET", path, "").Body.String(); after != before || !strings.Contains(after, "00:02:00.000Z") {
			t.Errorf("refused changes move the clock: %s, %s", before, after)
		}
		w.want(200, "-", "POST", path, `{"advance":"1w2d3h4m5.006s"}`)
		if got := w.ask("", "GET", path, ""); !strings.Contains(got.Body.String(), `"2027-01-10T03:06:05.006Z"`) || got.Header().Get("Date") != "Sun, 10 Jan 2027 03:06:05 GMT" {
			t.Error(got.Body, got.Header())
		}
	})
}

// TestClockRights_CLK12: administrators change the clock; anybody with a login sees it, and the queue of the next deadline only who sees
// the virtual host. Without a test clock all changes are refused.
func TestClockRights_CLK12(t *testing.T) {
	testkit.Run(t, at2027, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		for name, tag := range map[string]string{"watch": "monitoring", "user": "management"} {
			if _, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: []string{tag}}); err != nil {
				t.Fatal(err)
			}
		}
		b.Connect().Open().Declare("secret", amqp.Table{"x-expires": 60_000})
		if got := w.ask("watch:watch", "GET", "/api/x/clock", ""); !strings.Contains(got.Body.String(), "secret") {
			t.Error(got.Body)
		}
		if got := w.ask("user:user", "GET", "/api/x/clock", ""); got.Code != 200 || strings.Contains(got.Body.String(), "secret") {
			t.Error(got.Code, got.Body)
		}
		if got := w.ask("watch:watch", "POST", "/api/x/clock", `{"advance":1}`); got.Code != 401 {
			t.Error(got.Code, got.Body)
		}
	})
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		w.want(409, reason("conflict", "this broker has no test clock: start it with --test-clock"), "POST", "/api/x/clock", `{"advance":1}`)
		w.want(200, `{"test_clock":false,"time":"2000-01-01T00:00:00.000Z","time_ms":946684800000,"mode":"running","speed":1,"real_time":"2000-01-01T00:00:00.000Z","next":null}`, "GET", "/api/x/clock", "")
		for _, path := range []string{"/api/overview", "/api/nodes"} {
			if got := w.ask("", "GET", path, "").Body.String(); strings.Contains(got, "test_clock") {
				t.Error(path, got)
			}
		}
	})
}

// TestClockCommands_CLK5: the same over AMQP; users other than administrators only see the clock.
func TestClockCommands_CLK5(t *testing.T) {
	testkit.Run(t, at2027, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		for name, tag := range map[string]string{"pol": "policymaker", "user": "management"} {
			if _, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: []string{tag}}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Users.PutGrant(auth.Grant{User: name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
				t.Fatal(err)
			}
		}
		ch := b.Connect().Open()
		ch.Declare("answers", nil)
		ask := func(ch *testkit.Channel, key, body string) string {
			b.Helper()
			ch.Send(adminName, key, amqp.Publishing{ReplyTo: "answers", Body: []byte(body)})
			b.Advance(time.Second)
			got := ch.Drain("answers")
			if len(got) != 1 {
				b.Fatalf("%s: %d answers", key, len(got))
			}
			return got[0]
		}
		for _, c := range []struct{ key, body, want string }{
			{"clock.get", "", `{"ok":true,"test_clock":true,"time":"2027-01-01T00:00:00.000Z"`},
			{"clock.advance", `{"advance":"1d"}`, `{"ok":true,"time":"2027-01-02T00:00:00.000Z"`},
			{"clock.set", `{"set":"2027-02-01T00:00:00Z"}`, `{"ok":true,"time":"2027-02-01T00:00:00.000Z"`},
			{"clock.next", "", `{"ok":true,"time":"2027-02-01T00:00:00.000Z"`},
			{"clock.run", `{"speed":0.001}`, `{"ok":true,"time":"2027-02-01T00:00:00.000Z"`},
			{"clock.freeze", "", `{"ok":true,"time":"2027-02-01T00:00:00.001Z"`},
			{"clock.advance", "", `{"error":"bad_request","reason":"[{key_missing,advance}]"}`},
			{"clock.advance", "x", `{"error":"bad_request","reason":"not_json"}`},
			{"clock.advance", `{"set":"2027-02-01T00:00:00Z"}`, `{"error":"bad_request","reason":"[{key_missing,advance}]"}`},
			{"clock.stop", "", `{"error":"Object Not Found"`},
		} {
			if got := ask(ch, c.key, c.body); !strings.HasPrefix(got, c.want) && !(c.key == "clock.stop" && strings.Contains(got, "unknown command 'clock.stop'")) {
				t.Errorf("%s %s: %s", c.key, c.body, got)
			}
		}
		for _, user := range []string{"pol", "user"} {
			ch := b.ConnectAs(user, user).Open()
			if got := ask(ch, "clock.get", ""); !strings.Contains(got, `"test_clock":true`) {
				t.Errorf("%s: %s", user, got)
			}
			if user == "pol" {
				if got := ask(ch, "clock.advance", `{"advance":1}`); got != `{"error":"not_authorised","reason":"Not administrator user"}` {
					t.Errorf("%s: %s", user, got)
				}
			}
		}
	})
}

// TestClockIsLoud_CLK11: clients, the API and metrics show that the clock is not real, and changes are audited.
func TestClockIsLoud_CLK11(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { at2027(cfg); cfg.EventsIn = "/" }, func(b *testkit.Bubble) {
		b.Log.Allow(testclock.Warning)
		w, c := bubbleWeb(b), b.Connect()
		if c.Properties["test_clock"] != true {
			t.Error(c.Properties)
		}
		for path, want := range map[string]string{
			"/api/overview": `"test_clock":true`, "/api/nodes": `"test_clock":true`,
			"/metrics": "candlemark_test_clock 1\n", "/metrics/per-object": "candlemark_clock_timestamp_seconds 1.7987616e+09\n",
		} {
			if got := w.ask("", "GET", path, "").Body.String(); !strings.Contains(got, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
		ch := c.Open()
		ch.Declare("events", nil)
		ch.Bind("events", "clock.moved", "amq.rabbitmq.event")
		w.want(200, "-", "POST", "/api/x/clock", `{"advance":"1h"}`)
		b.Advance(time.Second)
		d := ch.Fetch("events")
		if d == nil || d.Headers["moved_ms"] != int64(3_600_000) || d.Headers["time"] != "2027-01-01T01:00:00.000Z" || d.Headers["user_who_performed_action"] != "guest" || !d.Timestamp.Equal(time.Date(2027, 1, 1, 1, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", d)
		}
		if b.Log.Count(testclock.Warning) != 2 { // at the start and with the move
			t.Error("the log does not warn")
		}
	})
}
