package broker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"

	amqp "github.com/rabbitmq/amqp091-go"
)

// sight is a message as the API shows it without consuming it.
type sight struct {
	ID            string         `json:"id"`
	State         string         `json:"state"`
	Enqueued      time.Time      `json:"enqueued_at"`
	Expires       *time.Time     `json:"expires_at"`
	Due           *time.Time     `json:"due"`
	Locked        *time.Time     `json:"lock_expires_at"`
	Redelivered   bool           `json:"redelivered"`
	DeliveryCount int            `json:"delivery_count"`
	Exchange      string         `json:"exchange"`
	RoutingKey    string         `json:"routing_key"`
	Properties    map[string]any `json:"properties"`
	Bytes         int            `json:"payload_bytes"`
	Payload       string         `json:"payload"`
	Encoding      string         `json:"payload_encoding"`
}

type sights struct {
	Messages []sight `json:"messages"`
	Next     *string `json:"next"`
}

func (s sights) payloads() (list []string) {
	for _, m := range s.Messages {
		list = append(list, m.Payload)
	}
	return list
}

type lockedDelivery struct {
	ID          string     `json:"id"`
	ConsumerTag string     `json:"consumer_tag"`
	Channel     *string    `json:"channel"`
	DeliveryTag *uint64    `json:"delivery_tag"`
	Delivered   time.Time  `json:"delivered_at"`
	Locked      *time.Time `json:"lock_expires_at"`
	Expires     *time.Time `json:"expires_at"`
	Bytes       int        `json:"payload_bytes"`
}

type holdings struct {
	Deliveries []lockedDelivery `json:"deliveries"`
	Next       *string          `json:"next"`
}

const messagesOfQ = "/api/x/queues/%2F/q/messages"

// after returns the time from now until t, or -1 if there is none.
func after(t *time.Time) time.Duration {
	if t == nil {
		return -1
	}
	return time.Until(*t).Round(time.Second)
}

// A peek shows deadlines, consumes nothing, marks nothing as redelivered and renews no lease (LEASE-4, TTL-9).
func TestHTTPPeek_LEASE4_TTL9(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-expires": int64(100_000)})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("héllo"), Headers: amqp.Table{"n": int32(7)}, ContentType: "text/plain", Expiration: "60000"})
		ch.Publish("", "q", amqp.Publishing{Body: []byte{0xff, 0xfe}})
		ch.Publish("", "q", testkit.Text("third"))
		b.Advance(20 * time.Second)
		for range 2 {
			got := get[sights](w, messagesOfQ)
			if len(got.Messages) != 3 || got.Next != nil {
				t.Fatalf("%+v", got)
			}
			m := got.Messages[0]
			if m.State != "ready" || m.Payload != "héllo" || m.Encoding != "string" || m.Bytes != 6 || m.Redelivered || m.RoutingKey != "q" ||
				after(m.Expires) != 40*time.Second || after(&m.Enqueued) != -20*time.Second || m.Due != nil || m.Locked != nil ||
				m.Properties["content_type"] != "text/plain" || m.Properties["headers"].(map[string]any)["n"] != 7.0 {
				t.Errorf("%+v", m)
			}
			if m := got.Messages[1]; m.Payload != "//4=" || m.Encoding != "base64" || m.Expires != nil {
				t.Errorf("%+v", m)
			}
		}
		if got := get[sights](w, messagesOfQ+"?truncate=2").Messages; got[0].Payload != "h" || got[0].Bytes != 6 || got[2].Payload != "th" {
			t.Errorf("%+v", got)
		}
		if got := get[sights](w, messagesOfQ+"?limit=1&encoding=base64&truncate=1").Messages; len(got) != 1 || got[0].Payload != "aA==" {
			t.Errorf("%+v", got)
		}
		if first, ok, err := ch.Get("q", false); err != nil || !ok || first.Redelivered {
			t.Fatalf("%+v", first)
		}
		if got := get[sights](w, messagesOfQ+"?state=unacked,ready&limit=2"); strings.Join(got.payloads(), " ") != "héllo //4=" || got.Messages[0].State != "unacked" {
			t.Errorf("%+v", got)
		} else if got := get[sights](w, messagesOfQ+"?after="+*got.Next); strings.Join(got.payloads(), " ") != "third" || got.Next != nil {
			t.Errorf("%+v", got)
		}
		if got := get[sights](w, messagesOfQ+"?state=unacked"); len(got.Messages) != 1 {
			t.Errorf("%+v", got)
		}
		b.Advance(99 * time.Second) // the get renewed the lease; later requests did not
		get[sights](w, messagesOfQ)
		b.Advance(2 * time.Second)
		if b.Queue("q") != nil {
			t.Error("looking renewed the lease")
		}
		w.want(404, "-", "GET", messagesOfQ, "")
	})
}

// Errors have RabbitMQ's format.
func TestHTTPMessagesRefusals(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q", nil)
		if _, err := ch.QueueDeclare("mine", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Exchange("x", "fanout")
		const q, none = "/api/x/queues/%2F/q", "/api/x/queues/%2F/none"
		notFound := reason("not_found", "NOT_FOUND - no queue 'none' in vhost '/'")
		for _, path := range []string{"/messages", "/unacked", "/scheduled", "/scheduled/counts"} {
			w.want(404, notFound, "GET", none+path, "")
			w.want(405, "", "POST", q+path, "")
			w.want(404, "-", "GET", "/api/x/queues/nowhere/q"+path, "")
		}
		w.want(404, notFound, "POST", none+"/unacked/1/renew", "")
		w.want(404, notFound, "POST", none+"/unacked/1/return", "")
		w.want(404, reason("not_found", "no such locked delivery: it was settled, or its lock has expired"), "POST", q+"/unacked/1/return", "")
		w.want(405, "", "GET", q+"/unacked/1/return", "")
		w.want(404, notFound, "DELETE", none+"/scheduled/1", "")
		w.want(404, notFound, "PUT", none+"/scheduled/1", `{"delay":1}`)
		w.want(404, reason("not_found", "no such locked delivery: it was settled, or its lock has expired"), "POST", q+"/unacked/1/renew", "")
		w.want(404, reason("not_found", "NOT_FOUND - no exchange 'none' in vhost '/'"), "GET", "/api/x/exchanges/%2F/none/scheduled", "")
		w.want(400, reason("bad_request", "406 PRECONDITION_FAILED - exchange 'x' in vhost '/' does not delay messages"), "GET", "/api/x/exchanges/%2F/x/scheduled", "")
		w.want(400, "-", "GET", "/api/x/queues/%2F/mine/messages", "") // exclusive, refused as for basic.get
		for _, test := range []struct{ method, path, body, reason string }{
			{"GET", "/messages?limit=0", "", "limit must be a number from 1 to 1000, not 0"},
			{"GET", "/unacked?limit=1001", "", "limit must be a number from 1 to 1000, not 1001"},
			{"GET", "/messages?truncate=-1", "", "truncate must be a number from 0 to 2147483647, not -1"},
			{"GET", "/messages?after=x", "", "after must be the value of next in an earlier answer, not x"},
			{"GET", "/messages?state=dead", "", "state must be ready, unacked, scheduled or deferred, or several of them separated by commas, not dead"},
			{"GET", "/messages?encoding=x", "", "Unsupported encoding. Please use auto or base64."},
			{"POST", "/unacked/0/renew", "", "id must be a number, 1 or more, not 0"},
			{"POST", "/unacked/x/return", "", "id must be a number, 1 or more, not x"},
			{"DELETE", "/scheduled", "", "either id or message_id is required"},
			{"DELETE", "/scheduled/7?message_id=a", "", "either id or message_id is required"},
			{"DELETE", "/scheduled/x", "", "id must be a number, 1 or more, not x"},
			{"PUT", "/scheduled/7", "", "either due or delay is required"},
			{"PUT", "/scheduled/7", `{"due":1,"delay":1}`, "either due or delay is required"},
			{"PUT", "/scheduled/7", `{"due":"tomorrow"}`, "due must be an RFC 3339 time or milliseconds since 1970, not tomorrow"},
			{"PUT", "/scheduled/7", `{"delay":-1}`, "delay must be a number of milliseconds, 0 or more, not -1"},
			{"PUT", "/scheduled/7", `{`, "not_json"},
		} {
			w.want(400, reason("bad_request", test.reason), test.method, q+test.path, test.body)
		}
	})
}

// Users with read permission on the queue and access to the API may peek; others may not (POL-15).
func TestHTTPMessagesPermissions(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("other", nil)
		for name, tags := range map[string][]string{"reader": {"management"}, "stranger": {"monitoring"}, "client": nil} {
			if _, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: tags}); err != nil {
				t.Fatal(err)
			}
			if name == "stranger" {
				continue
			}
			if _, err := b.Users.PutGrant(auth.Grant{User: name, VHost: "/", Configure: "", Write: "", Read: "^q$"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range []struct {
			as, path string
			status   int
			reason   string
		}{
			{"reader:reader", "q/messages", 200, ""},
			{"reader:reader", "q/unacked", 200, ""},
			{"reader:reader", "other/messages", 401, "ACCESS_REFUSED - read access to queue 'other' in vhost '/' refused for user 'reader'"},
			{"reader:reader", "other/unacked", 401, "ACCESS_REFUSED - read access to queue 'other' in vhost '/' refused for user 'reader'"},
			{"client:client", "q/messages", 401, "Not management user"},
			{"stranger:stranger", "q/messages", 401, "Access refused."},
			{"nobody:x", "q/messages", 401, "Not_Authorized"},
		} {
			got := w.ask(test.as, "GET", "/api/x/queues/%2F/"+test.path, "")
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.reason) {
				t.Errorf("%s %s: %d %s", test.as, test.path, got.Code, got.Body)
			}
		}
	})
}

// Locks are listed with their owners, and can be renewed (ADR 10).
func TestHTTPLocks_ADR10(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("were not acknowledged in time")
		w, client := bubbleWeb(b), b.Connect()
		ch, other := client.Open(), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", amqp.Table{"x-consumer-timeout": int64(60_000)})
		for _, body := range []string{"1", "22", "333"} {
			ch.Publish("", "q", testkit.Expiring(body, "600000"))
		}
		deliveries := ch.Subscribe("q", 2)
		first := testkit.Receive(b, deliveries)
		testkit.Receive(b, deliveries)
		b.Advance(10 * time.Second)
		if d, ok, err := other.Get("q", false); err != nil || !ok {
			t.Fatal(d, err)
		}
		const unacked = "/api/x/queues/%2F/q/unacked"
		got := get[holdings](w, unacked).Deliveries
		if len(got) != 3 {
			t.Fatalf("%+v", got)
		}
		if m := got[0]; m.ConsumerTag != first.ConsumerTag || m.DeliveryTag == nil || *m.DeliveryTag != first.DeliveryTag || m.Channel == nil ||
			!strings.HasSuffix(*m.Channel, " (1)") || after(m.Locked) != 50*time.Second || after(&m.Delivered) != -10*time.Second ||
			after(m.Expires) != 590*time.Second || m.Bytes != 1 {
			t.Errorf("%+v", m)
		}
		if m := got[2]; m.ConsumerTag != "" || *m.DeliveryTag != 1 || after(m.Locked) != 60*time.Second || m.Bytes != 3 {
			t.Errorf("%+v", m)
		}
		if page := get[holdings](w, unacked+"?limit=2"); len(page.Deliveries) != 2 || page.Next == nil || *page.Next != got[1].ID {
			t.Errorf("%+v", page)
		} else if page := get[holdings](w, unacked+"?after="+*page.Next); len(page.Deliveries) != 1 || page.Next != nil || page.Deliveries[0].ID != got[2].ID {
			t.Errorf("%+v", page)
		}
		renewed := decode[struct {
			Renewed int        `json:"renewed"`
			Locked  *time.Time `json:"lock_expires_at"`
		}](w, w.ask("", "POST", unacked+"/"+got[0].ID+"/renew", ""))
		if renewed.Renewed != 1 || after(renewed.Locked) != 60*time.Second {
			t.Errorf("%+v", renewed)
		}
		b.Advance(51 * time.Second) // the second lock has expired, the consumer is cancelled
		if got := get[holdings](w, unacked).Deliveries; len(got) != 2 || *got[0].DeliveryTag != 1 {
			t.Errorf("%+v", got)
		}
		if err := ch.Ack(2, false); err != nil {
			t.Fatal(err)
		}
		b.Advance(0)
		q := get[map[string]any](w, "/api/queues/%2F/q")
		if q["deliveries_timed_out"] != 1.0 || q["settled_late"] != 1.0 || q["messages_ready"] != 1.0 || q["messages_unacknowledged"] != 2.0 ||
			q["messages_scheduled"] != 0.0 || q["next_due"] != nil {
			t.Errorf("%v", q)
		}
		w.want(404, "-", "POST", unacked+"/"+got[1].ID+"/renew", "")
	})
}

// A delivery can be requeued on behalf of its consumer, whose delivery tag stays valid but no longer settles anything; that needs
// more than read permission (ADR 26).
func TestHTTPReturn_ADR10(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Publish("", "q", amqp.Publishing{Body: []byte("1")})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("2")})
		deliveries := ch.Subscribe("q", 1)
		first := testkit.Receive(b, deliveries)
		if _, err := b.Users.PutAccount(auth.Account{Name: "reader", Hash: auth.HashPassword("reader"), Tags: []string{"management"}}); err != nil {
			t.Fatal(err)
		}
		grant := auth.Grant{User: "reader", VHost: "/", Configure: "", Write: "", Read: "^q$"}
		if _, err := b.Users.PutGrant(grant); err != nil {
			t.Fatal(err)
		}
		held := func() string { return get[holdings](w, "/api/x/queues/%2F/q/unacked").Deliveries[0].ID }
		back := func(id string) string { return "/api/x/queues/%2F/q/unacked/" + id + "/return" }
		id := held()
		if got := w.ask("reader:reader", "POST", back(id), ""); got.Code != 401 {
			t.Errorf("who may read only: %d %s", got.Code, got.Body)
		}
		grant.Write = "^(q|amq\\.default)$"
		if _, err := b.Users.PutGrant(grant); err != nil {
			t.Fatal(err)
		}
		if got := w.ask("reader:reader", "POST", back(id), ""); got.Code != 200 || strings.TrimSpace(got.Body.String()) != `{"returned":1}` {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		again := testkit.Receive(b, deliveries) // the only consumer
		if string(again.Body) != "1" || !again.Redelivered || again.DeliveryTag != first.DeliveryTag+1 || held() != id {
			t.Errorf("%+v", again)
		}
		for _, settle := range []func(uint64) error{
			func(tag uint64) error { return ch.Ack(tag, false) }, func(tag uint64) error { return ch.Ack(tag, false) },
		} {
			if err := settle(first.DeliveryTag); err != nil { // too late, but not an error
				t.Fatal(err)
			}
			first = again
		}
		if second := testkit.Receive(b, deliveries); string(second.Body) != "2" || second.Redelivered {
			t.Errorf("%+v", second)
		}
		if q := get[map[string]any](w, "/api/queues/%2F/q"); q["settled_late"] != 1.0 || q["deliveries_timed_out"] != 0.0 || q["messages"] != 1.0 {
			t.Errorf("%v", q)
		}
		w.want(404, "-", "POST", back(id), "")
	})
}

// A message that expires while it is locked is dead-lettered the moment its lock ends (TTL-16), and not delivered again.
func TestExpiredGoesWhenItsLockEnds_TTL16(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("were not acknowledged in time")
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		ch.Declare("q", amqp.Table{"x-consumer-timeout": int64(60_000), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		ch.Publish("", "q", testkit.Expiring("1", "30000"))
		deliveries := ch.Subscribe("q", 1)
		testkit.Receive(b, deliveries)
		waiting := b.Connect().Open().Subscribe("q", 1)
		b.Advance(59_999 * time.Millisecond)
		if got := get[sights](w, messagesOfQ).Messages; len(got) != 1 || after(got[0].Expires) != -30*time.Second {
			t.Errorf("%+v", got)
		}
		if b.Describe("dead").Ready != 0 {
			t.Error("it went while it was locked")
		}
		b.Advance(time.Millisecond)
		if dead := ch.Fetch("dead"); dead == nil || string(dead.Body) != "1" {
			t.Errorf("%v", dead)
		}
		testkit.Silent(b, waiting, time.Second)
	})
}

// asker returns a function that sends a command to the admin exchange and waits for the answer.
func asker(b *testkit.Bubble, ch *testkit.Channel, queue string) func(key, body string) string {
	ch.Declare(queue, nil)
	answers := b.Connect().Open().Tail(queue)
	return func(key, body string) string {
		b.Helper()
		ch.Send(topology.AdminExchange, key, amqp.Publishing{Body: []byte(body), ReplyTo: queue, CorrelationId: key})
		d := testkit.Receive(b, answers)
		if d.CorrelationId != key || d.ContentType != "application/json" {
			b.Errorf("%+v", d)
		}
		return string(d.Body)
	}
}

// A client renews the lock of a delivery by its delivery tag, on the channel that received it (ADR 10).
func TestLockRenewalOverAMQP_ADR10(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("were not acknowledged in time")
		ch := b.Connect().Open()
		ask := asker(b, ch, "answers")
		ch.Declare("q", amqp.Table{"x-consumer-timeout": int64(60_000)})
		ch.Send("", "q", testkit.Text("1"))
		d := testkit.Receive(b, ch.Subscribe("q", 1))
		renewed := func(by string) {
			b.Helper()
			b.Advance(50 * time.Second)
			want := fmt.Sprintf(`{"ok":true,"renewed":1,"lock_expires_at":"%s"}`, time.Now().Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000-07:00"))
			if got := ask("lock.renew", by); got != want {
				t.Errorf("%s:\n%s\n%s", by, got, want)
			}
		}
		renewed(fmt.Sprintf(`{"delivery_tag":%d}`, d.DeliveryTag))
		renewed(`{"queue":"q","consumer_tag":"` + d.ConsumerTag + `"}`)
		renewed(fmt.Sprintf(`{"delivery_tag":"%d","vhost":"/"}`, d.DeliveryTag))
		lost := `{"error":"not_found","reason":"no such locked delivery: it was settled, or its lock has expired"}`
		if got := ask("lock.renew", `{"delivery_tag":7}`); got != lost {
			t.Error(got)
		}
		other := asker(b, b.Connect().Open(), "others") // the tag is invalid on this channel
		if got := other("lock.renew", fmt.Sprintf(`{"delivery_tag":%d}`, d.DeliveryTag)); got != lost {
			t.Error(got)
		}
		b.Advance(60 * time.Second)
		if got := ask("lock.renew", fmt.Sprintf(`{"delivery_tag":%d}`, d.DeliveryTag)); got != lost {
			t.Error(got)
		}
		for body, want := range map[string]string{
			`{`:             "not_json",
			`{}`:            "[{key_missing,queue}]",
			`{"queue":"q"}`: "exactly one of id, consumer_tag and delivery_tag is required",
			`{"queue":"q","id":1,"consumer_tag":"a"}`: "exactly one of id, consumer_tag and delivery_tag is required",
			`{"queue":"q","id":"x"}`:                  "id must be a number, 1 or more, not x",
		} {
			if got := ask("lock.renew", body); got != reason("bad_request", want) {
				t.Errorf("%s: %s", body, got)
			}
		}
	})
}

// A peek over AMQP needs no user tag, but read permission on the queue. Policies still need a tag (POL-15).
func TestPeekOverAMQP_POL15(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("ACCESS_REFUSED")
		if _, err := b.Users.PutAccount(auth.Account{Name: "reader", Hash: auth.HashPassword("reader")}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "reader", VHost: "/", Configure: ".*", Write: ".*", Read: "^(q|answers)$"}); err != nil {
			t.Fatal(err)
		}
		ch := b.ConnectAs("reader", "reader").Open()
		ask := asker(b, ch, "answers")
		ch.Declare("q", nil)
		ch.Declare("other", nil)
		ch.Send("", "q", testkit.Text("1"))
		ch.Send("", "q", testkit.Text("2"))
		got := ask("queue.peek", `{"queue":"q","limit":1}`)
		if !strings.HasPrefix(got, `{"ok":true,"messages":[{"id":"`) || !strings.Contains(got, `"payload":"1"`) || strings.Contains(got, `"next":null`) {
			t.Error(got)
		}
		if got := ask("queue.unacked", `{"queue":"q"}`); got != `{"ok":true,"deliveries":[],"next":null}` {
			t.Error(got)
		}
		if got := ask("queue.peek", `{"queue":"other"}`); got != reason("not_authorised", "ACCESS_REFUSED - read access to queue 'other' in vhost '/' refused for user 'reader'") {
			t.Error(got)
		}
		if got := ask("queue.peek", `{"queue":"none"}`); !strings.Contains(got, "ACCESS_REFUSED") {
			t.Error(got)
		}
		if got := ask("queue.dig", `{"queue":"q"}`); got != reason("not_found", "unknown command 'queue.dig'") {
			t.Error(got)
		}
		if got := ask("queue.peek", `{"queue":"q","vhost":"b"}`); got != reason("not_authorised", "this exchange accepts only commands about vhost '/'") {
			t.Error(got)
		}
		if _, err := ch.QueueDeclare("q2", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "reader", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
		if got := ask("queue.peek", `{"queue":"q2"}`); got != `{"ok":true,"messages":[],"next":null}` { // the user's own queue
			t.Error(got)
		}
		ch.Send(topology.AdminExchange, "policy.list", amqp.Publishing{})
		if err := testkit.Receive(b, ch.Closed); err == nil || err.Code != http.StatusForbidden {
			t.Errorf("%v", err)
		}
	})
}

// A request that reaches a queue after its end is answered with an error.
func TestHTTPPeekOfAQueueThatEnds(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		q := b.Queue("q")
		if _, err := ch.QueueDelete("q", false, false, false); err != nil {
			t.Fatal(err)
		}
		for _, question := range []func(r mail.Request) any{
			func(r mail.Request) any { return &mail.Peek{Request: r, Queue: "q", VHost: "/"} },
		} {
			if r := testkit.Ask[*mail.PeekReply](b, q.PID, question); r.Err == nil {
				t.Error("no error")
			}
		}
		if r := testkit.Ask[*mail.UnackedPage](b, q.PID, func(r mail.Request) any { return &mail.ListUnacked{Request: r} }); r.Err == nil {
			t.Error("no error")
		}
		if r := testkit.Ask[*mail.RenewLockReply](b, q.PID, func(r mail.Request) any { return &mail.RenewLock{Request: r} }); r.Err == nil {
			t.Error("no error")
		}
	})
}

// The example of docs/peek-and-locks.md: the answer arrives on the same channel, without a queue for it.
func TestLockRenewalWithDirectReplyTo_ADR10(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		answers := ch.Tail(topology.ReplyName)
		ch.Declare("q", amqp.Table{"x-consumer-timeout": int64(60_000)})
		ch.Send("", "q", testkit.Text("1"))
		d := testkit.Receive(b, ch.Subscribe("q", 1))
		for range 5 {
			b.Advance(50 * time.Second)
			ch.Send(topology.AdminExchange, "lock.renew", amqp.Publishing{
				Body: fmt.Appendf(nil, `{"delivery_tag":%d}`, d.DeliveryTag), ReplyTo: topology.ReplyName,
			})
			if a := testkit.Receive(b, answers); !strings.HasPrefix(string(a.Body), `{"ok":true,"renewed":1,"lock_expires_at":"`) {
				t.Errorf("%s", a.Body)
			}
		}
		if err := d.Ack(false); err != nil {
			t.Fatal(err)
		}
		b.Advance(0)
		if info := b.Describe("q"); info.Unacked != 0 || info.Ready != 0 || info.Counts.TimedOut != 0 || info.Counts.Late != 0 {
			t.Errorf("%+v", info)
		}
	})
}

// Commands published in a transaction take effect when it is committed.
func TestLockRenewalInATransaction_ADR10(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("were not acknowledged in time")
		ch := b.Connect().Open()
		ch.Declare("q", amqp.Table{"x-consumer-timeout": int64(60_000)})
		ch.Send("", "q", testkit.Text("1"))
		d := testkit.Receive(b, ch.Subscribe("q", 1))
		if err := ch.Tx(); err != nil {
			t.Fatal(err)
		}
		renew := func() {
			ch.Send(topology.AdminExchange, "lock.renew", amqp.Publishing{Body: fmt.Appendf(nil, `{"delivery_tag":%d}`, d.DeliveryTag)})
		}
		b.Advance(50 * time.Second)
		renew()
		if err := ch.TxCommit(); err != nil {
			t.Fatal(err)
		}
		b.Advance(50 * time.Second)
		if info := b.Describe("q"); info.Counts.TimedOut != 0 {
			t.Error("it was not renewed")
		}
		renew()
		b.Advance(10 * time.Second)
		if info := b.Describe("q"); info.Counts.TimedOut != 1 {
			t.Error("it was renewed without a commit")
		}
	})
}
