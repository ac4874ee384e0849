package broker

import (
	"sync/atomic"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/asynkron/protoactor-go/actor"
)

// PUT declares a queue: 201, then 204, then 400 with RabbitMQ's text (DEC-1, DEC-4).
func TestHTTPDeclareQueue_DEC4(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		const q = "/api/queues/%2F/a%2Fb%20%25"
		b.Log.Allow("PRECONDITION_FAILED")
		b.Log.Allow("ACCESS_REFUSED")
		w.want(201, "", "PUT", q, `{"durable":"true","auto_delete":false,"arguments":{"x-message-ttl":1000,"x-dead-letter-exchange":"x"}}`)
		w.want(204, "", "PUT", q, `{"durable":true,"arguments":{"x-dead-letter-exchange":"x","x-message-ttl":1000}}`)
		w.want(400, reason("bad_request", "inequivalent arg 'x-message-ttl' for queue 'a/b %' in vhost '/': received '2000' but current is '1000'"),
			"PUT", q, `{"durable":true,"arguments":{"x-dead-letter-exchange":"x","x-message-ttl":2000}}`)
		w.want(400, reason("bad_request", "inequivalent arg 'durable' for queue 'a/b %' in vhost '/': received 'false' but current is 'true'"), "PUT", q, ``)
		w.want(400, reason("bad_request", `invalid arg 'x-expires' for queue 'n' in vhost '/': {value_zero,0}`), "PUT", "/api/queues/%2F/n", `{"arguments":{"x-expires":0}}`)
		w.want(400, reason("bad_request", "not_json"), "PUT", q, `{`)
		w.want(400, `{"error":"bad_request","reason":["not_boolean",7]}`, "PUT", q, `{"durable":7}`)
		w.want(400, reason("bad_request", "null_not_allowed"), "PUT", q, `{"arguments":{"x":null}}`)
		w.want(404, reason("not_found", "vhost_not_found"), "PUT", "/api/queues/none/q", `{}`)
		w.want(401, reason("not_authorised", "Access refused."), "PUT", "/api/queues/%2F/amq.q", `{}`)
		item := get[map[string]any](w, q)
		if args := item["arguments"].(map[string]any); item["durable"] != true || args["x-message-ttl"] != 1000.0 || item["name"] != "a/b %" {
			t.Errorf("%v", item)
		}
		w.want(204, "", "DELETE", q, "")
		w.want(404, notThere, "DELETE", q, "")
		w.want(404, notThere, "GET", q, "")
	})
}

func TestHTTPDeletePurge_DEC6(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("PRECONDITION_FAILED")
		b.Log.Allow("RESOURCE_LOCKED")
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Publish("", "q", testkit.Text("1"))
		w.want(400, reason("bad_request", "queue 'q' in vhost '/' not empty"), "DELETE", "/api/queues/%2F/q?if-empty=true", "")
		w.want(204, "", "DELETE", "/api/queues/%2F/q/contents", "")
		w.want(404, notThere, "DELETE", "/api/queues/%2F/none/contents", "")
		if n := get[map[string]any](w, "/api/queues/%2F/q")["messages"]; n != 0.0 {
			t.Errorf("%v messages after a purge", n)
		}
		ch.Subscribe("q", 1)
		w.want(400, reason("bad_request", "queue 'q' in vhost '/' in use"), "DELETE", "/api/queues/%2F/q?if-unused=true", "")
		w.want(204, "", "DELETE", "/api/queues/%2F/q", "")
		testkit.Receive(b, ch.Cancelled)
		if _, err := ch.QueueDeclare("mine", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		locked := "cannot obtain exclusive access to locked queue 'mine' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration."
		w.want(400, reason("bad_request", locked), "DELETE", "/api/queues/%2F/mine", "")
	})
}

type message struct {
	Payload     string         `json:"payload"`
	Encoding    string         `json:"payload_encoding"`
	Bytes       int            `json:"payload_bytes"`
	Redelivered bool           `json:"redelivered"`
	Exchange    string         `json:"exchange"`
	RoutingKey  string         `json:"routing_key"`
	Count       int            `json:"message_count"`
	Properties  map[string]any `json:"properties"`
}

func TestHTTPGet(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Declare("dead", nil)
		ch.Declare("d", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		ch.Publish("", "q", amqp.Publishing{Body: []byte("héllo"), Headers: amqp.Table{"n": int32(7)}, ContentType: "text/plain", DeliveryMode: 2, Priority: 3})
		ch.Publish("", "q", amqp.Publishing{Body: []byte{0xff, 0xfe}})
		ch.Publish("", "d", testkit.Text("x"))
		fetch := func(queue, body string) []message {
			t.Helper()
			return decode[[]message](w, w.ask("", "POST", "/api/queues/%2F/"+queue+"/get", body))
		}
		for round := range 2 {
			got := fetch("q", `{"count":5,"ackmode":"ack_requeue_true","encoding":"auto","truncate":50000}`)
			if len(got) != 2 || got[0].Payload != "héllo" || got[0].Encoding != "string" || got[0].Bytes != 6 || got[0].Redelivered != (round > 0) ||
				got[0].RoutingKey != "q" || got[0].Count != 1 || got[1].Payload != "//4=" || got[1].Encoding != "base64" {
				t.Errorf("round %d: %+v", round, got)
			}
			p := got[0].Properties
			if p["content_type"] != "text/plain" || p["delivery_mode"] != 2.0 || p["priority"] != 3.0 || p["headers"].(map[string]any)["n"] != 7.0 {
				t.Errorf("%v", p)
			}
		}
		got := fetch("q", `{"count":"1","ackmode":"ack_requeue_false","encoding":"base64","truncate":1}`)
		if len(got) != 1 || got[0].Payload != "aA==" || got[0].Bytes != 6 {
			t.Errorf("%+v", got)
		}
		if got := fetch("d", `{"count":1,"ackmode":"reject_requeue_false","encoding":"auto"}`); len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if d := ch.Fetch("dead"); d == nil || string(d.Body) != "x" {
			t.Errorf("what was rejected: %v", d)
		}
		if left := ch.Drain("q"); len(left) != 1 {
			t.Errorf("%q left", left)
		}
		if got := fetch("q", `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`); got == nil || len(got) != 0 {
			t.Errorf("%+v from an empty queue", got)
		}
		const get = "/api/queues/%2F/q/get"
		w.want(400, reason("bad_request", "[{key_missing,ackmode},{key_missing,encoding}]"), "POST", get, `{"count":1}`)
		w.want(400, reason("bad_request", "Unsupported encoding. Please use auto or base64."), "POST", get, `{"count":1,"ackmode":"ack_requeue_true","encoding":"x"}`)
		w.want(400, reason("bad_request", "Invalid ackmode value: x. Valid values are: ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false"),
			"POST", get, `{"count":1,"ackmode":"x","encoding":"auto"}`)
		w.want(404, reason("Object Not Found", "queue_not_found"), "POST", "/api/queues/%2F/none/get", `{}`)
	})
}

// Declare and get over HTTP renew a lease like the AMQP methods; read-only requests do not (LEASE-4).
func TestHTTPRenewal_LEASE4(t *testing.T) {
	const get = `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`
	for _, test := range []struct {
		name, method, path, body string
		renews                   bool
	}{
		{"declare", "PUT", "/api/queues/%2F/q", `{"arguments":{"x-expires":900}}`, true},
		{"get of an empty queue", "POST", "/api/queues/%2F/q/get", get, true},
		{"question", "GET", "/api/queues/%2F/q", "", false},
		{"list", "GET", "/api/queues", "", false},
		{"list of consumers", "GET", "/api/consumers", "", false},
		{"overview", "GET", "/api/overview", "", false},
		{"bindings", "GET", "/api/queues/%2F/q/bindings", "", false},
		{"purge", "DELETE", "/api/queues/%2F/q/contents", "", false},
		{"publish", "POST", "/api/exchanges/%2F/amq.default/publish", `{"routing_key":"q","properties":{},"payload":"x","payload_encoding":"string"}`, false},
		{"bind", "POST", "/api/bindings/%2F/e/amq.direct/q/q", `{"routing_key":"k"}`, false},
		{"inequivalent declare", "PUT", "/api/queues/%2F/q", `{}`, false},
	} {
		t.Run("LEASE-4 "+test.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				b.Log.Allow("PRECONDITION_FAILED")
				w := bubbleWeb(b)
				w.want(201, "", "PUT", "/api/queues/%2F/q", `{"arguments":{"x-expires":900}}`)
				b.Advance(600 * time.Millisecond)
				w.ask("", test.method, test.path, test.body)
				b.Advance(600 * time.Millisecond)
				if lives := b.Queue("q") != nil; lives != test.renews {
					t.Errorf("lives on: %v", lives)
				}
			})
		})
	}
}

// A channel that panics in a command fails only that command.
func TestHTTPCommandPanics(t *testing.T) {
	var broken atomic.Bool
	fault := func(c *supervision.Config) {
		c.Fault = func(who *actor.PID, what any) bool {
			_, input := what.(*mail.Inbound)
			return broken.Load() && supervision.KindOf(who) == supervision.KindChannel && input
		}
	}
	testkit.Run(t, fault, func(b *testkit.Bubble) {
		b.Log.Allow("actor panicked")
		w := bubbleWeb(b)
		broken.Store(true)
		w.want(500, "-", "PUT", "/api/queues/%2F/q", `{}`)
		broken.Store(false)
		w.want(201, "", "PUT", "/api/queues/%2F/q", `{}`)
	})
}
