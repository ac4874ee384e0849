package broker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// waiting is a scheduled message as the API lists it.
type waiting struct {
	ID         string    `json:"id"`
	Due        time.Time `json:"due"`
	Enqueued   time.Time `json:"enqueued_at"`
	MessageID  *string   `json:"message_id"`
	RoutingKey string    `json:"routing_key"`
	Bytes      int       `json:"payload_bytes"`
	Persistent bool      `json:"persistent"`
}

type waitingPage struct {
	Messages []waiting `json:"messages"`
	Next     *string   `json:"next"`
}

type waitingCounts struct {
	Count     int            `json:"count"`
	Bytes     int            `json:"payload_bytes"`
	NextDue   *time.Time     `json:"next_due"`
	Overdue   int            `json:"overdue"`
	Histogram map[string]int `json:"histogram"`
}

// later returns a message with a delay.
func later(id string, delay time.Duration) amqp.Publishing {
	return amqp.Publishing{Body: []byte("body of " + id), MessageId: id, Headers: amqp.Table{"x-delay": delay.Milliseconds()}, DeliveryMode: 2}
}

// queueAndExchange runs a test on a queue with scheduled messages and on a delayed exchange: the subpaths are the same.
func queueAndExchange(t *testing.T, test func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing))) {
	for _, kind := range []string{"queue", "exchange"} {
		t.Run(kind, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Confirms()
				path, exchange := "/api/x/queues/%2F/q/scheduled", ""
				if kind == "queue" {
					ch.Declare("q", amqp.Table{"x-delayed-messages": true})
				} else {
					ch.Declare("q", nil)
					if err := ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "direct"}); err != nil {
						t.Fatal(err)
					}
					ch.Bind("q", "q", "later")
					path, exchange = "/api/x/exchanges/%2F/later/scheduled", "later"
				}
				test(b, bubbleWeb(b), path, func(m amqp.Publishing) {
					if !ch.Publish(exchange, "q", m) {
						t.Fatal("nack")
					}
				})
			})
		})
	}
}

// ids returns the message-ids of all pages.
func (w *web) ids(path string, limit int) string {
	w.Helper()
	var ids []string
	for after := ""; ; {
		page := get[waitingPage](w, fmt.Sprintf("%s?limit=%d%s", path, limit, after))
		for _, m := range page.Messages {
			ids = append(ids, *m.MessageID)
		}
		if page.Next == nil {
			return strings.Join(ids, " ")
		}
		after = "&after=" + *page.Next
	}
}

// Scheduled messages are listed by due time, page by page, and counted (DLY-11).
func TestHTTPScheduled_DLY11(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		w.want(200, `{"messages":[],"next":null}`, "GET", path, "")
		w.want(200, `{"count":0,"payload_bytes":0,"next_due":null,"overdue":0,"histogram":{"within_1s":0,"within_1m":0,"within_1h":0,"within_1d":0,"later":0}}`,
			"GET", path+"/counts", "")
		publish(later("hour", 50*time.Minute))
		publish(later("second", 500*time.Millisecond))
		publish(later("year", 365*24*time.Hour))
		publish(later("minute", 30*time.Second))
		publish(later("day", 20*time.Hour))
		for _, limit := range []int{1, 2, 5, 100} {
			if got := w.ids(path, limit); got != "second minute hour day year" {
				t.Errorf("by %d: %s", limit, got)
			}
		}
		m, stored := get[waitingPage](w, path).Messages[1], strings.Contains(path, "/exchanges/") // the queue is transient
		if m.RoutingKey != "q" || m.Bytes != len("body of minute") || m.Persistent != stored || after(&m.Due) != 30*time.Second || after(&m.Enqueued) != 0 {
			t.Errorf("%+v", m)
		}
		c := get[waitingCounts](w, path+"/counts")
		if c.Count != 5 || c.NextDue == nil || c.Histogram["within_1s"] != 1 || c.Histogram["within_1m"] != 1 || c.Histogram["within_1h"] != 1 ||
			c.Histogram["within_1d"] != 1 || c.Histogram["later"] != 1 || c.Bytes != len("body of secondbody of minutebody of hourbody of daybody of year") {
			t.Errorf("%+v", c)
		}
		b.Advance(500 * time.Millisecond)
		if got := w.ids(path, 10); got != "minute hour day year" {
			t.Error(got)
		}
		q := get[map[string]any](w, "/api/queues/%2F/q")
		switch histogram := q["scheduled_histogram"].(map[string]any); {
		case q["messages"] != 1.0:
			t.Errorf("%v messages", q["messages"])
		case strings.Contains(path, "queues") && (q["messages_scheduled"] != 4.0 || q["next_due"] == nil || histogram["later"] != 1.0):
			t.Errorf("%v", q)
		case strings.Contains(path, "exchanges"):
			if x := get[map[string]any](w, "/api/exchanges/%2F/later"); x["messages_delayed"] != 4.0 || q["messages_scheduled"] != 0.0 {
				t.Errorf("%v", x)
			}
		}
	})
}

// A message is cancelled by its id, several by their message-id; a missing message is answered with 404 (DLY-11).
func TestHTTPCancelScheduled_DLY11(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		for _, id := range []string{"a", "twin", "b", "twin"} {
			publish(later(id, time.Minute))
		}
		first := get[waitingPage](w, path).Messages[0]
		w.want(200, `{"cancelled":1}`, "DELETE", path+"/"+first.ID, "")
		gone := reason("not_found", "no such scheduled message: it was released or cancelled, or never existed")
		w.want(404, gone, "DELETE", path+"/"+first.ID, "")
		w.want(200, `{"cancelled":2}`, "DELETE", path+"?message_id=twin", "")
		w.want(404, gone, "DELETE", path+"?message_id=twin", "")
		w.want(404, gone, "PUT", path+"?message_id=twin", `{"delay":1}`)
		if got := w.ids(path, 10); got != "b" {
			t.Error(got)
		}
		last := get[waitingPage](w, path).Messages[0]
		b.Advance(time.Minute)
		if n := get[map[string]any](w, "/api/queues/%2F/q")["messages_ready"]; n != 1.0 {
			t.Errorf("%v are ready", n)
		}
		w.want(404, gone, "DELETE", path+"/"+last.ID, "")
	})
}

// Messages are rescheduled: later, earlier, at once, as a date, as ms, or relative to now (DLY-11).
func TestHTTPReschedule_DLY11(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		for _, id := range []string{"a", "b", "c", "d"} {
			publish(later(id, time.Minute))
		}
		begun := time.Now()
		stamp := func(d time.Duration) string { return begun.Add(d).UTC().Format("2006-01-02T15:04:05.000-07:00") }
		list := get[waitingPage](w, path).Messages
		w.want(200, `{"rescheduled":1,"due":"`+stamp(3*time.Minute)+`"}`, "PUT", path+"/"+list[0].ID,
			`{"due":"`+begun.Add(3*time.Minute).UTC().Format(time.RFC3339Nano)+`"}`)
		w.want(200, `{"rescheduled":1,"due":"`+stamp(30*time.Second)+`"}`, "PUT", path+"/"+list[1].ID,
			fmt.Sprintf(`{"due":%d}`, begun.Add(30*time.Second).UnixMilli()))
		for _, change := range [][2]string{{path + "/" + list[2].ID, `{"delay":20000}`}, {path + "?message_id=d", `{"delay":"10000"}`}} {
			asked := time.Now()
			answer := decode[struct {
				Count int       `json:"rescheduled"`
				Due   time.Time `json:"due"`
			}](w, w.ask("", "PUT", change[0], change[1]))
			if by := answer.Due.Sub(asked).Round(time.Second); answer.Count != 1 || by != 20*time.Second && by != 10*time.Second {
				t.Errorf("%s: %+v", change, answer)
			}
		}
		if got := w.ids(path, 2); got != "d c b a" {
			t.Error(got)
		}
		w.want(400, "-", "PUT", path+"/"+list[0].ID, `{"delay":315360001000}`)
		b.Advance(30 * time.Second)
		if got := w.ids(path, 2); got != "a" {
			t.Error(got)
		}
		w.want(200, "-", "PUT", path+"/"+list[0].ID, `{"due":"2000-01-01T00:00:00Z"}`)
		b.Advance(0)
		if n := get[map[string]any](w, "/api/queues/%2F/q")["messages_ready"]; n != 4.0 {
			t.Errorf("%v are ready", n)
		}
	})
}

// The same over AMQP, for users who may read the queue (DLY-11).
func TestScheduledOverAMQP_DLY11(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		ask := asker(b, b.Connect().Open(), "answers")
		at := `"queue":"q"`
		if strings.Contains(path, "exchanges") {
			at = `"exchange":"later"`
		}
		publish(later("a", time.Minute))
		publish(later("b", 2*time.Minute))
		id := get[waitingPage](w, path).Messages[0].ID
		if got := ask("scheduled.list", `{`+at+`,"limit":1}`); !strings.HasPrefix(got, `{"ok":true,"messages":[{"id":"`+id+`","due":"`) || strings.Contains(got, `"next":null`) {
			t.Error(got)
		}
		if got := ask("scheduled.count", `{`+at+`}`); !strings.HasPrefix(got, `{"ok":true,"count":2,`) {
			t.Error(got)
		}
		if got := ask("scheduled.reschedule", `{`+at+`,"id":"`+id+`","delay":180000}`); !strings.HasPrefix(got, `{"ok":true,"rescheduled":1,"due":"`) {
			t.Error(got)
		}
		if got := w.ids(path, 10); got != "b a" {
			t.Error(got)
		}
		if got := ask("scheduled.cancel", `{`+at+`,"message_id":"b"}`); got != `{"ok":true,"cancelled":1}` {
			t.Error(got)
		}
		if got := ask("scheduled.cancel", `{`+at+`,"message_id":"b"}`); got != reason("not_found", "no such scheduled message: it was released or cancelled, or never existed") {
			t.Error(got)
		}
	})
}

// answered returns the answer to a request that succeeds.
func answered(w *web, method, path, body string) string {
	w.Helper()
	got := w.ask("guest:guest", method, path, body)
	if got.Code != 200 {
		w.Errorf("%s %s: %d %s", method, path, got.Code, got.Body)
	}
	return strings.TrimSpace(got.Body.String())
}

// Messages that a filter selects are counted, rescheduled and cancelled over HTTP and AMQP (DLY-17).
func TestHTTPFilter_DLY17(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		for i, id := range []string{"a", "b", "c", "d"} {
			m := later(id, time.Duration(i+1)*time.Minute)
			m.CorrelationId, m.Headers["tenant"], m.Headers["n"] = fmt.Sprint("c", i%2), "t", int32(i)
			publish(m)
		}
		filter := func(query string) string { return path + "?" + query }
		w.want(200, `{"matched":2,"dry_run":true}`, "DELETE", filter("correlation_id=c0&dry_run=true"), "")
		w.want(200, `{"matched":4,"dry_run":true}`, "DELETE", filter(`headers={"tenant":"t"}&dry_run=true`), "")
		if got := answered(w, "PUT", path, `{"headers":{"tenant":"t","n":3},"delay":1000,"dry_run":true}`); !strings.HasPrefix(got, `{"matched":1,"due":"`) {
			t.Error(got)
		}
		if got := w.ids(path, 10); got != "a b c d" {
			t.Errorf("changed by a look: %s", got)
		}
		if got := answered(w, "PUT", path, `{"correlation_id":"c1","due_after":"`+inFuture(3*time.Minute)+`","delay":1000}`); !strings.HasPrefix(got, `{"rescheduled":1,"due":"`) {
			t.Error(got)
		}
		if got := w.ids(path, 10); got != "d a b c" {
			t.Error(got)
		}
		w.want(200, `{"cancelled":2}`, "DELETE", filter("due_before="+inFuture(90*time.Second)), "")
		ask := asker(b, b.Connect().Open(), "answers")
		at := `"queue":"q",`
		if strings.Contains(path, "exchanges") {
			at = `"exchange":"later",`
		}
		if got := ask("scheduled.reschedule", `{`+at+`"headers":{"n":1},"delay":600000}`); !strings.HasPrefix(got, `{"ok":true,"rescheduled":1,"due":"`) {
			t.Error(got)
		}
		if got := ask("scheduled.cancel", `{`+at+`"headers":{"tenant":"t"},"dry_run":true}`); got != `{"ok":true,"matched":2,"dry_run":true}` {
			t.Error(got)
		}
		if got := w.ids(path, 10); got != "c b" {
			t.Error(got)
		}
		w.want(200, `{"cancelled":0}`, "DELETE", filter("correlation_id=c1&due_before=2000"), "")
		for query, reason := range map[string]string{
			"dry_run=true":                                   "a condition is required: message_id, correlation_id, headers, due_after, due_before",
			"correlation_id=":                                "correlation_id must not be empty",
			"message_id=a&correlation_id=":                   "correlation_id must not be empty",
			"message_id=a&dueafter=1":                        "unknown parameter 'dueafter'",
			"message_id=a&retries=yes":                       "retries must be true or false, not yes",
			"id=1&due_after=1":                               "an id cannot be combined with conditions",
			"due_after=tomorrow":                             "due_after must be an RFC 3339 time or milliseconds since 1970, not tomorrow",
			"headers=[]":                                     "headers must be a JSON object with 1 to 16 headers and their values",
			`headers={"a":null}`:                             "headers must be a JSON object with 1 to 16 headers and their values",
			`headers={"` + strings.Repeat("k", 256) + `":1}`: "the name of a header has at most 255 bytes",
			"message_id=a&delay=1":                           "unknown parameter 'delay'",
			"due_before=1&due_before=2":                      "the parameter due_before is given more than once",
		} {
			w.want(400, fmt.Sprintf(`{"error":"bad_request","reason":%q}`, reason), "DELETE", filter(query), "")
		}
		w.want(400, `{"error":"bad_request","reason":"correlation_id must not be empty"}`, "PUT", path, `{"message_id":"b","correlation_id":null,"delay":1}`)
		w.want(400, `{"error":"bad_request","reason":"either due or delay is required"}`, "PUT", path, `{"due_after":1}`)
		w.want(200, `{"cancelled":2}`, "DELETE", filter("due_after=1"), "")
	})
}

// Messages that wait for a delayed retry are cancelled by a filter, and brought forward (DLY-17).
func TestHTTPRetries_DLY17(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-delayed-retry-min": 60_000, "x-delayed-messages": true})
		for _, id := range []string{"a", "b", "c"} {
			ch.Publish("", "q", amqp.Publishing{MessageId: id, Body: []byte(id)})
			if d, ok, err := ch.Get("q", false); err != nil || !ok || d.Nack(false, true) != nil {
				t.Fatal("not returned")
			}
		}
		const path = "/api/x/queues/%2F/q/scheduled"
		w.want(200, `{"cancelled":0}`, "DELETE", path+"?due_after=1", "")
		w.want(200, `{"matched":3,"dry_run":true}`, "DELETE", path+"?due_after=1&retries=true&dry_run=true", "")
		w.want(200, `{"cancelled":1}`, "DELETE", path+"?message_id=b&retries=true", "")
		answered(w, "PUT", path, `{"message_id":"c","retries":true,"delay":0}`)
		if d, ok, err := ch.Get("q", true); err != nil || !ok || string(d.Body) != "c" {
			t.Errorf("%q", d.Body)
		}
		b.Advance(time.Minute)
		if d, ok, err := ch.Get("q", true); err != nil || !ok || string(d.Body) != "a" {
			t.Errorf("%q", d.Body)
		}
	})
}

// Peeking shows scheduled messages after the others (DLY-11).
func TestHTTPPeekScheduled_DLY11(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-delayed-messages": true})
		ch.Publish("", "q", later("b", time.Hour))
		ch.Publish("", "q", later("a", time.Minute))
		ch.Publish("", "q", testkit.Text("now"))
		page := get[sights](w, messagesOfQ+"?limit=2")
		if got := strings.Join(page.payloads(), ","); got != "now,body of a" || page.Messages[1].State != "scheduled" || after(page.Messages[1].Due) != time.Minute {
			t.Errorf("%+v", page)
		}
		page = get[sights](w, messagesOfQ+"?after="+*page.Next)
		if got := strings.Join(page.payloads(), ","); got != "body of b" || page.Next != nil {
			t.Errorf("%+v", page)
		}
		if page := get[sights](w, messagesOfQ+"?state=scheduled"); len(page.Messages) != 2 {
			t.Errorf("%+v", page)
		}
	})
}
