package broker

import (
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestHTTPExchanges(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("PRECONDITION_FAILED")
		b.Log.Allow("ACCESS_REFUSED")
		w := bubbleWeb(b)
		const x = "/api/exchanges/%2F/x%2Fy"
		w.want(201, "", "PUT", x, `{"type":"topic","durable":true,"arguments":{"alternate-exchange":"amq.fanout"}}`)
		w.want(204, "", "PUT", x, `{"type":"topic","durable":"true","arguments":{"alternate-exchange":"amq.fanout"}}`)
		w.want(400, reason("bad_request", "inequivalent arg 'type' for exchange 'x/y' in vhost '/': received 'fanout' but current is 'topic'"), "PUT", x, `{"type":"fanout"}`)
		w.want(400, reason("bad_request", "unknown exchange type 'odd'"), "PUT", "/api/exchanges/%2F/odd", `{"type":"odd"}`)
		w.want(401, reason("not_authorised", "Access refused."), "PUT", "/api/exchanges/%2F/amq.mine", `{"type":"direct"}`)
		w.want(401, reason("not_authorised", "Access refused."), "DELETE", "/api/exchanges/%2F/amq.direct", ``)
		item := get[map[string]any](w, x)
		if item["type"] != "topic" || item["durable"] != true || item["arguments"].(map[string]any)["alternate-exchange"] != "amq.fanout" {
			t.Errorf("%v", item)
		}
		if d := get[map[string]any](w, "/api/exchanges/%2F/amq.default"); d["name"] != "" || d["type"] != "direct" {
			t.Errorf("%v", d)
		}
		w.want(201, "", "POST", "/api/bindings/%2F/e/x%2Fy/e/amq.topic", `{"routing_key":"a.#"}`)
		w.want(400, reason("bad_request", "exchange 'x/y' in vhost '/' in use"), "DELETE", x+"?if-unused=true", "")
		w.want(204, "", "DELETE", x, "")
		w.want(404, notThere, "GET", x, "")
		w.want(404, notThere, "DELETE", x, "")
		var names []string
		for _, x := range get[[]map[string]any](w, "/api/exchanges/%2F?columns=name") {
			names = append(names, x["name"].(string))
		}
		if got := strings.Join(names, ","); !strings.HasPrefix(got, ",amq.direct,amq.fanout,amq.headers,amq.match,amq.rabbitmq.trace,amq.topic") {
			t.Error(got)
		}
	})
}

type binding struct {
	Source, VHost, Destination string
	Type                       string `json:"destination_type"`
	Key                        string `json:"routing_key"`
	Arguments                  map[string]any
	PropertiesKey              string `json:"properties_key"`
}

func TestHTTPBindings(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("NOT_FOUND")
		b.Log.Allow("ACCESS_REFUSED")
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q/1", nil)
		ch.Exchange("x", "topic")
		const between = "/api/bindings/%2F/e/x/q/q%2F1"
		for _, test := range []struct{ body, key string }{
			{`{}`, "~"},
			{`{"routing_key":"order.#"}`, "order.%23"},
			{`{"routing_key":"a ~b"}`, "a+%7Eb"},
			{`{"routing_key":"order.#","arguments":{"k":"v"}}`, "order.%23~"},
			{`{"arguments":{"k":1}}`, "~"},
		} {
			answer := w.ask("", "POST", between, test.body)
			location := answer.Header().Get("Location")
			if answer.Code != 201 || !strings.HasPrefix(location, "q%2F1/"+strings.ReplaceAll(test.key, "%", "%25")) {
				t.Fatalf("%s: %d %s at %q", test.body, answer.Code, answer.Body, location)
			}
			// The location, resolved as clients resolve it.
			at := strings.TrimSuffix(between, "q%2F1") + location
			one := get[binding](w, at)
			if !strings.HasPrefix(one.PropertiesKey, test.key) || one.Destination != "q/1" || one.Type != "queue" || one.Source != "x" {
				t.Errorf("%+v", one)
			}
		}
		if list := get[[]binding](w, between); len(list) != 5 {
			t.Errorf("%d bindings between them", len(list))
		}
		if list := get[[]binding](w, "/api/queues/%2F/q%2F1/bindings"); len(list) != 6 || list[0].Source != "" || list[0].Key != "q/1" || list[0].PropertiesKey != "q%2F1" {
			t.Errorf("%+v", list)
		}
		w.want(204, "", "DELETE", between+"/order.%2523", "") // escaped twice, as by clients that escape the properties key
		w.want(404, notThere, "DELETE", between+"/order.%2523", "")
		w.want(204, "", "DELETE", between+"/a%20~b", "")
		w.want(204, "", "DELETE", between+"/~", "")
		if list := get[[]binding](w, between); len(list) != 2 {
			t.Errorf("%d bindings left", len(list))
		}
		w.want(404, reason("not_found", "no queue 'none' in vhost '/'"), "POST", "/api/bindings/%2F/e/x/q/none", `{}`)
		w.want(404, reason("not_found", "no exchange 'none' in vhost '/'"), "POST", "/api/bindings/%2F/e/none/q/q%2F1", `{}`)
		w.want(401, reason("not_authorised", "Access refused."), "POST", "/api/bindings/%2F/e/amq.default/q/q%2F1", `{}`)
		w.want(404, notThere, "POST", "/api/bindings/%2F/e/x/z/q%2F1", `{}`)
		w.want(201, "", "POST", "/api/bindings/%2F/e/x/e/amq.fanout", `{"routing_key":"f"}`)
		if list := get[[]binding](w, "/api/exchanges/%2F/amq.fanout/bindings/destination"); len(list) != 1 || list[0].Type != "exchange" || list[0].Key != "f" {
			t.Errorf("%+v", list)
		}
		if list := get[[]binding](w, "/api/exchanges/%2F/x/bindings/source"); len(list) != 3 || list[0].Type != "exchange" {
			t.Errorf("%+v", list)
		}
		if list := get[[]binding](w, "/api/bindings"); len(list) != 4 {
			t.Errorf("%+v", list)
		}
	})
}

func TestHTTPPublish(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("PRECONDITION_FAILED")
		b.Log.Allow("ACCESS_REFUSED")
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("full", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
		const x = "/api/exchanges/%2F/amq.default/publish"
		w.want(200, `{"routed":true}`, "POST", x,
			`{"routing_key":"q","payload":"aGk=","payload_encoding":"base64","properties":{"message_id":"7","headers":{"n":1,"f":0.5,"l":["a"]},"delivery_mode":2,"timestamp":5}}`)
		d := ch.Fetch("q")
		if d == nil || string(d.Body) != "hi" || d.MessageId != "7" || d.Headers["n"] != int64(1) || d.Headers["f"] != 0.5 || d.DeliveryMode != 2 || d.Timestamp.Unix() != 5 {
			t.Errorf("%+v", d)
		}
		plain := func(key, properties string) string {
			return `{"routing_key":"` + key + `","properties":` + properties + `,"payload":"x","payload_encoding":"string"}`
		}
		w.want(200, `{"routed":false}`, "POST", x, plain("nowhere", `[]`))
		w.want(200, `{"routed":true}`, "POST", "/api/exchanges/%2f//publish", plain("q", `{}`)) // the default exchange under its own name
		if d := ch.Fetch("q"); d == nil || string(d.Body) != "x" {
			t.Error("a publish to an empty segment did not arrive")
		}
		w.want(400, reason("bad_request", "rejected Unable to publish message. Check queue limits."), "POST", x, plain("full", `{}`))
		w.want(400, reason("bad_request", "406 PRECONDITION_FAILED - user_id property set to 'me' but authenticated user was 'guest'"), "POST", x, plain("q", `{"user_id":"me"}`))
		w.want(400, `{"error":"bad_request","reason":["not_int","priority"]}`, "POST", x, plain("q", `{"priority":"high"}`))
		w.want(400, reason("bad_request", "[{key_missing,properties}]"), "POST", x, `{"routing_key":"q","payload":"x","payload_encoding":"string"}`)
		w.want(400, reason("bad_request", "payload_not_string"), "POST", x, `{"routing_key":"q","properties":{},"payload":{},"payload_encoding":"string"}`)
		w.want(400, `{"error":"bad_request","reason":["unsupported_encoding","x"]}`, "POST", x, `{"routing_key":"q","properties":{},"payload":"","payload_encoding":"x"}`)
		w.want(404, reason("Object Not Found", "exchange_not_found"), "POST", "/api/exchanges/%2F/none/publish", `{}`)
		w.want(401, reason("not_authorised", "ACCESS_REFUSED - cannot publish to internal exchange 'amq.rabbitmq.trace' in vhost '/'"),
			"POST", "/api/exchanges/%2F/amq.rabbitmq.trace/publish", plain("q", `{}`))
		large := strings.Repeat("x", 3<<20)
		w.want(200, `{"routed":true}`, "POST", x, `{"routing_key":"q","properties":{},"payload":"`+large+`","payload_encoding":"string"}`)
		if d := ch.Fetch("q"); d == nil || len(d.Body) != len(large) {
			t.Error("the large message is another one")
		}
	})
}

// HTTP refuses a user's requests like a channel of that user.
func TestHTTPPermissions(t *testing.T) {
	queue := func(p auth.Permission) users.Refusal {
		return users.Refusal{User: "lim", Resource: auth.Resource{Kind: auth.Queue, Name: "q"}, Permission: p}
	}
	exchange := func(name string, p auth.Permission) users.Refusal {
		return users.Refusal{User: "lim", Resource: auth.Resource{Kind: auth.Exchange, Name: name}, Permission: p}
	}
	const refused = `{"error":"not_authorised","reason":"Access refused."}`
	for _, test := range []struct {
		name               string
		refusal            users.Refusal
		method, path, body string
		want               string
	}{
		{"declare queue", queue(auth.Configure), "PUT", "/api/queues/%2F/q", `{}`, refused},
		{"delete queue", queue(auth.Configure), "DELETE", "/api/queues/%2F/q", ``, refused},
		{"purge", queue(auth.Read), "DELETE", "/api/queues/%2F/q/contents", ``, refused},
		{
			"get", queue(auth.Read), "POST", "/api/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`,
			reason("not_authorised", "ACCESS_REFUSED - read access to queue 'q' in vhost '/' refused for user 'lim'"),
		},
		{"bind queue", queue(auth.Write), "POST", "/api/bindings/%2F/e/amq.direct/q/q", `{}`, refused},
		{"bind source", exchange("amq.direct", auth.Read), "POST", "/api/bindings/%2F/e/amq.direct/q/q", `{}`, refused},
		{"unbind", exchange("amq.topic", auth.Read), "DELETE", "/api/bindings/%2F/e/amq.topic/q/q/k", ``, refused},
		{"declare exchange", exchange("x", auth.Configure), "PUT", "/api/exchanges/%2F/x", `{"type":"direct"}`, refused},
		{"delete exchange", exchange("there", auth.Configure), "DELETE", "/api/exchanges/%2F/there", ``, refused},
		{"DL-3", exchange("dlx", auth.Write), "PUT", "/api/queues/%2F/new", `{"arguments":{"x-dead-letter-exchange":"dlx"}}`, refused},
		{"DEC-14", exchange("ae", auth.Write), "PUT", "/api/exchanges/%2F/x", `{"type":"direct","arguments":{"alternate-exchange":"ae"}}`, refused},
		{
			"publish", exchange("", auth.Write), "POST", "/api/exchanges/%2F/amq.default/publish",
			`{"routing_key":"q","properties":{},"payload":"x","payload_encoding":"string"}`,
			reason("not_authorised", "ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'lim'"),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			users := lacking("lim", "l", test.refusal)
			testkit.Run(t, func(c *supervision.Config) { c.Users = users }, func(b *testkit.Bubble) {
				b.Log.Allow("ACCESS_REFUSED")
				ch, w := b.Connect().Open(), newWeb(t, b.Node.API(), users)
				ch.Declare("q", nil)
				ch.Exchange("there", "direct")
				ch.Bind("q", "k", "amq.topic")
				got := w.ask("lim:l", test.method, test.path, test.body)
				if got.Code != 401 || got.Body.String() != test.want {
					t.Errorf("%d %s", got.Code, got.Body)
				}
				if got := w.ask("guest:guest", test.method, test.path, test.body); got.Code >= 300 {
					t.Errorf("guest: %d %s", got.Code, got.Body)
				}
			})
		})
	}
}
