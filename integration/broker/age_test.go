package broker

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// aged is the part of a queue in the API about the age of its messages.
type aged struct {
	Name          string   `json:"name"`
	ReadyAt       *string  `json:"oldest_ready_at"`
	ReadyAge      float64  `json:"oldest_ready_age"`
	MessageAge    float64  `json:"oldest_message_age"`
	WaitP50       *float64 `json:"wait_p50"`
	ProcessingP99 *float64 `json:"processing_p99"`
	Wait          *struct {
		Bounds []float64 `json:"bounds_s"`
		Counts []uint64  `json:"counts"`
		Count  uint64    `json:"count"`
		Sum    float64   `json:"sum_s"`
	} `json:"wait_histogram"`
}

func (w *web) age(queue string) aged { return get[aged](w, "/api/queues/%2F/"+url.PathEscape(queue)) }

func (w *web) wantAge(when, queue string, ready, message float64) {
	w.Helper()
	if q := w.age(queue); q.ReadyAge != ready || q.MessageAge != message || (q.ReadyAt == nil) != (ready == 0) {
		w.Errorf("%s: %+v, want %v, %v", when, q, ready, message)
	}
}

// TestAges_AGE1: ages start at the publish, at the due time, and at the arrival of a dead letter, a forwarded message and a moved
// one; they continue while the broker is down.
func TestAges_AGE1(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		args := func(queue string) amqp.Table {
			return amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue, "x-delayed-messages": true}
		}
		for name, table := range map[string]amqp.Table{"a": args("dead"), "dead": nil, "moved": nil, "forwards": {"x-forward-to": "amq.fanout"}, "forwarded": nil} {
			if _, err := ch.QueueDeclare(name, true, false, false, false, table); err != nil {
				t.Fatal(err)
			}
		}
		if err := ch.QueueBind("forwarded", "", "amq.fanout", false, nil); err != nil {
			t.Fatal(err)
		}
		stored := func(p amqp.Publishing) amqp.Publishing {
			p.DeliveryMode = amqp.Persistent
			return p
		}
		ch.Publish("", "a", stored(amqp.Publishing{Headers: amqp.Table{"x-delay": int64(2000)}}))
		ch.Publish("", "a", stored(amqp.Publishing{Expiration: "3000"}))
		ch.Publish("", "forwards", stored(amqp.Publishing{}))
		b.AdvanceTo(time.Second + 500*time.Millisecond)
		published := w.age("a").ReadyAge
		if published < 1.49 || published > 1.5 {
			t.Errorf("published %v s ago", published)
		}
		b.AdvanceTo(10 * time.Second)
		released := w.age("a").ReadyAge
		if dead := w.age("dead").ReadyAge; released < 7.9 || released > 8 || dead < 6.9 || dead > 7 {
			t.Errorf("released %v s ago, dead-lettered %v s ago", released, dead)
		}
		if got := w.age("forwarded").ReadyAge; got < 9.9 || got > 10 {
			t.Errorf("forwarded %v s ago", got)
		}
		w.moves(b, "dead", `{"to":{"queue":"moved"}}`)
		b.Advance(2 * time.Second)
		w.wantAge("moved away", "dead", 0, 0)
		if got := w.age("moved").ReadyAge; got < 2 || got > 2.2 {
			t.Errorf("moved %v s ago", got)
		}
		before := w.age("a").ReadyAge
		b.Restart(time.Hour)
		if got := bubbleWeb(b).age("a").ReadyAge; got < before+3599 || got > before+3602 {
			t.Errorf("%v s before the restart, %v s after an hour", before, got)
		}
	})
}

// agingQueues runs a test with queues b, c and a, whose messages were published 60, 50 and 40 s ago, and an empty one.
func agingQueues(t *testing.T, test func(b *testkit.Bubble, w *web, ch *testkit.Channel)) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		for _, name := range []string{"a", "b", "c", "none"} {
			ch.Declare(name, nil)
		}
		for i, name := range []string{"b", "c", "a"} {
			b.AdvanceTo(time.Duration(i) * 10 * time.Second)
			ch.Publish("", name, amqp.Publishing{})
		}
		b.AdvanceTo(60 * time.Second)
		test(b, w, ch)
	})
}

// TestAges_AGE4: lists sort and select by age, and a queue shows its histograms.
func TestAges_AGE4(t *testing.T) {
	agingQueues(t, func(b *testkit.Bubble, w *web, ch *testkit.Channel) {
		names := func(query string) string {
			var list []string
			for _, q := range get[struct{ Items []aged }](w, "/api/queues?page=1&"+query).Items {
				list = append(list, q.Name)
			}
			return strings.Join(list, " ")
		}
		for query, want := range map[string]string{
			"sort=oldest_ready_at":                      "none b c a",
			"sort=oldest_ready_age&sort_reverse=true":   "b c a none",
			"oldest_over=45000":                         "b c",
			"oldest_over=45000&unacked_longer_than=0":   "",
			"oldest_over=0&sort=name&sort_reverse=true": "c b a",
			"oldest_over=60000":                         "",
		} {
			if got := names(query); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		w.want(400, reason("bad_request", "oldest_over must be a number of milliseconds"), "GET", "/api/queues?oldest_over=5m", "")
		if got := w.age("b"); got.ReadyAge != 60 && got.ReadyAge != 59.999 || got.Wait != nil || got.WaitP50 != nil {
			t.Errorf("%+v", got)
		}
		d, ok, err := ch.Get("b", false)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := w.age("b"); got.ReadyAge != 0 || got.MessageAge < 59.9 || got.Wait == nil || got.Wait.Count != 1 || got.Wait.Counts[10]+got.Wait.Counts[11] != 1 || got.Wait.Bounds[10] != 60 ||
			got.Wait.Sum < 59.9 || got.WaitP50 == nil || *got.WaitP50 < 30 || got.ProcessingP99 != nil {
			t.Errorf("%+v %+v", got, got.Wait)
		}
		if err := d.Ack(false); err != nil {
			t.Fatal(err)
		}
		b.Advance(0)
		if got := w.age("b"); got.MessageAge != 0 || got.ProcessingP99 == nil {
			t.Errorf("%+v", got)
		}
	})
}

// TestOldestMessage_AGE5: the check fails for queues with older messages that the user may see.
func TestOldestMessage_AGE5(t *testing.T) {
	agingQueues(t, func(_ *testkit.Bubble, w *web, ch *testkit.Channel) {
		if _, _, err := ch.Get("b", false); err != nil {
			t.Fatal(err)
		}
		const check = "/api/x/health/oldest-message?over="
		failed := func(over string, queues ...string) string {
			return `{"status":"failed","reason":"queues with messages older than ` + over + `","queues":[` + strings.Join(queues, ",") + `]}`
		}
		item := func(name string, ready int) string {
			q := w.age(name)
			return fmt.Sprintf(`{"vhost":"/","name":"%s","age_s":%v,"messages_ready":%d}`, name, q.MessageAge, ready)
		}
		w.want(200, `{"status":"ok"}`, "GET", check+"1m", "")
		w.want(200, `{"status":"ok"}`, "GET", check+"50s&vhost=/", "")
		w.want(200, `{"status":"ok"}`, "GET", check+"45000&name=^[ab]$", "")
		w.want(503, failed("45s", item("c", 1)), "GET", check+"45000", "")
		w.want(503, failed("45s", item("b", 0), item("c", 1)), "GET", check+"45s&unacked=true", "")
		w.want(503, failed("30s", item("c", 1), item("a", 1)), "GET", check+"30s", "")
		for path, reply := range map[string]string{
			"":               reason("bad_request", "over must be a time such as 90s, 5m, 7d, or a number of ms"),
			"-1s":            reason("bad_request", "over must be a time such as 90s, 5m, 7d, or a number of ms"),
			"99999999999999": reason("bad_request", "over must be a time such as 90s, 5m, 7d, or a number of ms"),
			"1m&name=(":      "-",
		} {
			w.want(400, reply, "GET", check+path, "")
		}
		w.want(404, reason("not_found", "no vhost 'nope'"), "GET", check+"1m&vhost=nope", "")
		w.want(201, "", "PUT", "/api/users/looker", `{"password":"pw","tags":"management"}`)
		if got := w.ask("looker:pw", "GET", check+"1s", ""); got.Code != 200 {
			t.Errorf("a user without access: %d %s", got.Code, got.Body)
		}
		if got := w.ask("looker:pw", "GET", check+"1s&vhost=/", ""); got.Code != 404 {
			t.Errorf("a user without access: %d %s", got.Code, got.Body)
		}
	})
}
