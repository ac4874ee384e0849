package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"

	amqp "github.com/rabbitmq/amqp091-go"
)

// answering are the arguments of a queue that answers requests.
func answering(more ...any) amqp.Table {
	t := amqp.Table{"x-expired-requests": "answer"}
	for i := 0; i < len(more); i += 2 {
		t[more[i].(string)] = more[i+1]
	}
	return t
}

// requestFor returns a request with a correlation-id.
func requestFor(id, replyTo, ttl string) amqp.Publishing {
	return amqp.Publishing{Body: []byte("body of " + id), CorrelationId: id, ReplyTo: replyTo, Expiration: ttl, DeliveryMode: 2}
}

// answers takes the answers in a queue, as "correlation-id error", and checks their form.
func answers(b *testkit.Bubble, ch *testkit.Channel, queue, from string) string {
	b.Helper()
	var list []string
	for d := ch.Fetch(queue); d != nil; d = ch.Fetch(queue) {
		var kind string
		_, _ = fmt.Sscanf(string(d.Body), `{"error":%q`, &kind)
		if d.Type != "candlemark.error" || d.ContentType != "application/json" || d.ReplyTo != "" || d.Expiration != "30000" || len(d.Headers) > 0 ||
			!strings.HasSuffix(string(d.Body), `,"queue":"`+from+`"}`) {
			b.Errorf("%+v", d)
		}
		list = append(list, d.CorrelationId+" "+kind)
	}
	return strings.Join(list, ", ")
}

// Requests that a queue would drop are answered, each once, with their correlation-ids and the reason; other messages are
// dropped (ANS-1).
func TestANS1Answers(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Confirms()
				durable(b, ch, "replies", nil)
				durable(b, ch, "q", answering("x-queue-type", kind, "x-max-length", int32(4)))
				for _, m := range []amqp.Publishing{
					requestFor("one", "replies", "1000"), requestFor("", "replies", "1000"), requestFor("two", "", "1000"), requestFor("gone", "nowhere", "1000"),
				} {
					ch.Publish("", "q", m)
				}
				b.Advance(500 * time.Millisecond)
				if got := answers(b, ch, "replies", "q"); got != "" {
					t.Errorf("early: %s", got)
				}
				b.Advance(500 * time.Millisecond)
				if got := answers(b, ch, "replies", "q"); got != "one expired" {
					t.Error(got)
				}
				for i := range 6 {
					ch.Publish("", "q", requestFor(fmt.Sprint(i), "replies", ""))
				}
				if got := answers(b, ch, "replies", "q"); got != "0 maxlen, 1 maxlen" {
					t.Error(got)
				}
				d, _, err := ch.Get("q", false)
				if err != nil || d.Reject(false) != nil {
					t.Fatal(err)
				}
				if got := answers(b, ch, "replies", "q"); got != "2 rejected" {
					t.Error(got)
				}
				b.Advance(time.Minute)
				if q := b.Describe("q"); q.Ready != 3 {
					t.Errorf("%d ready", q.Ready)
				}
				ch.Publish("", "q", requestFor("never kept", "replies", "0"))
				if got := answers(b, ch, "replies", "q"); got != "never kept expired" {
					t.Error(got)
				}
				m := requestFor("", "replies", "0") // a client that correlates by message-id
				m.MessageId = "id"
				ch.Publish("", "q", m)
				if got := answers(b, ch, "replies", "q"); got != "id expired" {
					t.Error(got)
				}
			})
		})
	}
}

// With a dead-letter exchange, requests are dead-lettered and not answered, except those that the queue would drop (ANS-1).
func TestANS1DeadLetters(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("replies", nil)
		ch.Declare("dead", nil)
		ch.Declare("q", answering("x-dead-letter-exchange", "", "x-dead-letter-routing-key", "dead"))
		ch.Declare("p", answering("x-dead-letter-exchange", "", "x-dead-letter-routing-key", "dead", "x-dead-letter-expired", false))
		ch.Publish("", "q", requestFor("a", "replies", "1000"))
		ch.Publish("", "p", requestFor("b", "replies", "1000"))
		ch.Publish("", "p", requestFor("c", "replies", ""))
		b.Advance(time.Second)
		if got := answers(b, ch, "replies", "p"); got != "b expired" {
			t.Error(got)
		}
		d, _, err := ch.Get("p", false)
		if err != nil || d.Reject(false) != nil {
			t.Fatal(err)
		}
		if got := ch.Drain("dead"); fmt.Sprint(got) != "[body of a body of c]" || answers(b, ch, "replies", "") != "" {
			t.Error(got)
		}
	})
}

// The policy key works as the argument does, from the next message on that ends (ANS-1).
func TestANS1Policy(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("replies", nil)
		ch.Declare("q", nil)
		w.want(201, "-", "PUT", "/api/policies/%2F/answer", `{"pattern":"^q$","apply-to":"queues","definition":{"expired-requests":"answer"}}`)
		synctest.Wait()
		ch.Publish("", "q", requestFor("a", "replies", "1000"))
		b.Advance(time.Second)
		if got := answers(b, ch, "replies", "q"); got != "a expired" {
			t.Error(got)
		}
		w.want(204, "", "DELETE", "/api/policies/%2F/answer", "")
		ch.Publish("", "q", requestFor("b", "replies", "1000"))
		b.Advance(time.Second)
		if got := answers(b, ch, "replies", "q"); got != "" {
			t.Error(got)
		}
	})
}

// A request over direct reply-to is answered on its channel, while that is open; also one that waits in a delayed exchange
// first (ANS-2).
func TestANS2DirectReplies(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch, other := b.Connect().Open(), b.Connect().Open()
		ch.Declare("q", answering())
		for _, c := range []*testkit.Channel{ch, other} {
			replies, err := c.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Confirms()
			c.Publish("", "q", requestFor("a", "amq.rabbitmq.reply-to", "1000"))
			if c == other {
				_ = c.Close()
				continue
			}
			b.Advance(time.Second)
			if d := <-replies; d.CorrelationId != "a" || d.Type != "candlemark.error" || string(d.Body) != `{"error":"expired","reason":"the request expired","queue":"q"}` {
				t.Errorf("%+v", d)
			}
		}
		b.Advance(time.Second)
		if q := b.Describe("q"); q.Ready != 0 {
			t.Errorf("%d ready", q.Ready)
		}
	})
}

// Answers go only to queues to which the publisher may publish, as it was when the request came; a request that comes through a
// delayed exchange, or dies on its way, keeps that (ANS-2).
func TestANS2Permissions(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		durable(b, ch, "replies", nil)
		durable(b, ch, "q", answering())
		durable(b, ch, "before", amqp.Table{"x-dead-letter-exchange": "requests", "x-message-ttl": int32(100), "x-expired-requests": "answer"})
		for name, kind := range map[string]string{"requests": "fanout", "later": "x-delayed-message", "first": "fanout"} {
			if err := ch.ExchangeDeclare(name, kind, true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
				t.Fatal(err)
			}
		}
		for exchange, queue := range map[string]string{"requests": "q", "later": "q", "first": "before"} {
			ch.Bind(queue, "", exchange)
		}
		for name, write := range map[string]string{"may": "^(requests|later|first|amq.default)$", "maynot": "^(requests|later|first)$"} {
			_, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name)})
			if err == nil {
				_, err = b.Users.PutGrant(auth.Grant{User: name, VHost: "/", Write: write, Configure: "^$", Read: "^$"})
			}
			if err != nil {
				t.Fatal(err)
			}
			c := b.ConnectAs(name, name).Open()
			c.Confirms()
			for _, exchange := range []string{"requests", "later", "first"} {
				m := requestFor(name+" by "+exchange, "replies", "1000")
				m.Headers = amqp.Table{"x-delay": 500}
				c.Publish(exchange, "", m)
			}
		}
		b.Restart(0) // what was permitted is stored
		ch = b.Connect().Open()
		b.Advance(3 * time.Second)
		if got := answers(b, ch, "replies", "q"); got != "may by requests expired, may by later expired" {
			t.Error(got)
		}
	})
}

// An answer is never answered, though its queue answers requests, and no longer waits than 30 s (ANS-3).
func TestANS3NoLoop(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", answering())
		ch.Publish("", "q", requestFor("a", "q", "1000"))
		b.Advance(time.Second)
		if q := b.Describe("q"); q.Ready != 1 {
			t.Errorf("%d ready", q.Ready)
		}
		b.Advance(30 * time.Second)
		if q := b.Describe("q"); q.Ready != 0 {
			t.Errorf("%d ready", q.Ready)
		}
	})
}

// Answers are counted by outcome, and their requests with those that died without a dead-letter exchange (ANS-1).
func TestAnswersAreCounted_ANS1(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		durable(b, ch, "replies", nil)
		durable(b, ch, "q", answering())
		for _, m := range []amqp.Publishing{requestFor("one", "replies", "1000"), requestFor("two", "nowhere", "1000"), requestFor("", "", "1000")} {
			ch.Publish("", "q", m)
		}
		b.Advance(time.Second)
		text := bubbleWeb(b).ask("", "GET", "/metrics", "").Body.String()
		for _, line := range []string{
			`candlemark_request_answers_total{outcome="routed"} 1`, `candlemark_request_answers_total{outcome="confirmed"} 1`,
			`candlemark_request_answers_total{outcome="unroutable"} 1`, `candlemark_dead_letters_total{reason="expired",strategy="disabled"} 3`,
		} {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %s", line)
			}
		}
	})
}
