package broker

import (
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"
)

// TestPauseHTTP_PAUSE1_PAUSE4: over HTTP and AMQP a queue is paused for a time, until a date and without an end, and resumed; lists,
// metrics and events show it.
func TestPauseHTTP_PAUSE1_PAUSE4(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) { c.EventsIn = "/" }, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ask := asker(b, b.Connect().Open(), "answers")
		ch.Declare("q", nil)
		deliveries, err := ch.Consume("q", "c", true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		heard := listens(b)
		const path = "/api/x/queues/%2F/q/"
		stamp := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000-07:00") }
		none := func(when string) {
			t.Helper()
			if d, ok := testkit.TryReceive(deliveries, 0); ok {
				t.Fatalf("%s: %s", when, d.Body)
			}
		}
		w.want(200, `{"paused":true,"paused_until":null}`, "PUT", path+"pause", "")
		checkEvents(b, heard, "paused", "queue.paused name=q vhost=/")
		ch.Send("", "q", testkit.Text("1"))
		b.Advance(time.Hour)
		none("paused")
		if q := get[map[string]any](w, "/api/queues/%2F/q"); q["state"] != "paused" || q["paused"] != 1.0 || q["paused_until"] != nil || q["messages_ready"] != 1.0 {
			t.Errorf("%v", q)
		}
		w.want(200, `{"paused":false,"paused_until":null}`, "PUT", path+"resume", "")
		checkEvents(b, heard, "resumed", "queue.resumed name=q vhost=/")
		if d, ok := testkit.TryReceive(deliveries, 0); !ok || string(d.Body) != "1" {
			t.Fatal("not delivered after the resume")
		}
		if got, want := ask("queue.pause", `{"queue":"q","for":"1m"}`), `{"ok":true,"paused":true,"paused_until":"`+stamp(time.Minute)+`"}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		ch.Send("", "q", testkit.Text("2"))
		b.Advance(time.Minute - time.Millisecond)
		none("early")
		b.Advance(2 * time.Millisecond)
		if d, ok := testkit.TryReceive(deliveries, 0); !ok || string(d.Body) != "2" {
			t.Fatal("not delivered after the pause")
		}
		w.want(200, `{"paused":true,"paused_until":"`+stamp(time.Minute)+`"}`, "PUT", path+"pause", `{"until":"`+time.Now().Add(time.Minute).Truncate(time.Millisecond).UTC().Format(time.RFC3339Nano)+`"}`)
		if q := get[[]map[string]any](w, "/api/queues?sort=paused&sort_reverse=true&columns=name,state,paused_until")[0]; q["name"] != "q" || q["state"] != "paused" {
			t.Errorf("%v", q)
		}
		w.want(200, `{"paused":false,"paused_until":null}`, "PUT", path+"resume", "")
		for body, text := range map[string]string{
			`{"for":"1m","until":5}`:            "only one of until and for can be given",
			`{"untill":"2030-01-01T00:00:00Z"}`: "unknown parameter 'untill'",
			`{"for":""}`:                        "for must not be empty",
			`{"until":""}`:                      "until must not be empty",
			`{"for":"soon"}`:                    "for must be a duration such as 90s or 2h30m, or a number of milliseconds, 1 or more, not soon",
			`{"for":0}`:                         "for must be a duration such as 90s or 2h30m, or a number of milliseconds, 1 or more, not 0",
			`{"until":"tomorrow"}`:              "until must be an RFC 3339 time or milliseconds since 1970, not tomorrow",
			`{"until":1}`:                       "-",
			`{"for":315360000001}`:              "-",
			`{"until":"9999-01-01T00:00:00Z"}`:  "-",
		} {
			if text != "-" {
				text = reason("bad_request", text)
			}
			w.want(400, text, "PUT", path+"pause", body)
		}
		w.want(404, "-", "PUT", "/api/x/queues/%2F/none/pause", "")
		b.SetPolicy("p", `{"pattern":"^q$","definition":{"paused-until":"forever"}}`)
		w.want(200, `{"paused":true,"paused_until":null}`, "PUT", path+"resume", "")
	})
}
