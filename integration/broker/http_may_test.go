package broker

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// mayProbe is the request that represents an action in an object's field "may": it changes as little as possible. status is the
// answer if it is allowed.
type mayProbe struct {
	object, word, method, path, body string
	status                           int
}

// mayProbes are the probes for the objects of mayObjects.
var mayProbes = func() (all []mayProbe) {
	for _, q := range []string{"q", "own"} {
		at, x := "/api/queues/%2F/"+q, "/api/x/queues/%2F/"+q
		all = append(all,
			mayProbe{at, "read", "GET", x + "/messages", "", 200},
			mayProbe{at, "move", "POST", x + "/move", `{"to":{"exchange":"there","routing_key":"k"},"dry_run":true}`, 200},
			mayProbe{at, "alter", "POST", x + "/unacked/999/return", "", 404},
			mayProbe{at, "policy", "GET", x + "/policy", "", 200},
			mayProbe{at, "publish", "POST", "/api/exchanges/%2F/amq.default/publish", `{"routing_key":"` + q + `","properties":{},"payload":"x","payload_encoding":"string"}`, 200},
			mayProbe{at, "purge", "DELETE", at + "/contents", "", 204})
	}
	for _, name := range []string{"there", "amq.topic", "amq.default", "candlemark.admin"} {
		at := "/api/exchanges/%2F/" + name
		all = append(all,
			mayProbe{at, "bind", "POST", "/api/bindings/%2F/e/" + name + "/q/q", `{"routing_key":"other"}`, 201},
			mayProbe{at, "policy", "GET", strings.Replace(at, "/api", "/api/x", 1) + "/policy", "", 200})
	}
	for _, name := range []string{"there", "later"} {
		at, x := "/api/exchanges/%2F/"+name, "/api/x/exchanges/%2F/"+name+"/scheduled"
		all = append(all, mayProbe{at, "read", "GET", x, "", 200}, mayProbe{at, "alter", "DELETE", x + "/999", "", 404})
	}
	for _, ends := range []string{"there/q/q/k", "amq.topic/q/q/k", "amq.topic/q/q/secret", "there/e/amq.fanout/k"} {
		at := "/api/bindings/%2F/e/" + ends
		all = append(all, mayProbe{at, "unbind", "DELETE", at, "", 204})
	}
	for _, at := range []string{"exchanges/%2F/there", "exchanges/%2F/amq.topic", "exchanges/%2F/amq.default", "exchanges/%2F/candlemark.admin", "queues/%2F/own", "queues/%2F/q"} {
		all = append(all, mayProbe{"/api/" + at, "delete", "DELETE", "/api/" + at, "", 204})
	}
	return all
}()

// mayObjects declares the objects to probe.
func mayObjects(b *testkit.Bubble) {
	ch := b.Connect().Open()
	ch.Confirms()
	ch.Declare("q", nil)
	for _, text := range []string{"a", "b"} {
		ch.Publish("", "q", amqp.Publishing{Body: []byte(text)})
	}
	if _, err := ch.QueueDeclare("own", false, false, true, false, nil); err != nil {
		b.Fatal(err)
	}
	ch.Publish("", "own", amqp.Publishing{Body: []byte("c")})
	ch.Exchange("there", "direct")
	if err := ch.ExchangeDeclare("later", "x-delayed-message", false, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
		b.Fatal(err)
	}
	ch.Bind("q", "k", "there")
	ch.Bind("q", "k", "amq.topic")
	ch.Bind("q", "secret", "amq.topic")
	if err := ch.ExchangeBind("amq.fanout", "k", "there", false, nil); err != nil {
		b.Fatal(err)
	}
}

// Actions that the API reports as allowed for a user work, and all others are refused.
func TestHTTPMay(t *testing.T) {
	for name, user := range map[string]struct {
		tags  string
		grant *auth.Grant
	}{
		"everything":        {"management", &auth.Grant{Configure: ".*", Write: ".*", Read: ".*"}},
		"nothing":           {"management", &auth.Grant{}},
		"no access":         {"monitoring", nil},
		"administrator":     {"administrator", nil},
		"policymaker":       {"policymaker", &auth.Grant{Read: "^q$"}},
		"foreign policies":  {"policymaker,monitoring", nil},
		"configures queues": {"management", &auth.Grant{Configure: "^(q|own)$"}},
		"reads the queue":   {"management", &auth.Grant{Read: "^q"}},
		"reads exchanges":   {"management", &auth.Grant{Read: "^(there|amq.topic)$", Write: "^q$"}},
		"writes to queues":  {"management", &auth.Grant{Read: ".*", Write: "^(q|own|there)$"}},
		"publishes":         {"management", &auth.Grant{Write: "^amq.default$"}},
		"changes":           {"management", &auth.Grant{Write: "^(amq.default|q|own|there|later)$", Read: "."}},
	} {
		t.Run(name, func(t *testing.T) {
			users := auth.NewGuest()
			if _, err := users.PutAccount(auth.Account{Name: "lim", Hash: auth.HashPassword("l"), Tags: strings.Split(user.tags, ",")}); err != nil {
				t.Fatal(err)
			}
			if g := user.grant; g != nil {
				g.User, g.VHost = "lim", "/"
				if _, err := users.PutGrant(*g); err != nil {
					t.Fatal(err)
				}
				if _, err := users.PutTopicGrant(auth.TopicGrant{User: "lim", VHost: "/", Exchange: "amq.topic", Write: ".*", Read: "^[^s]"}); err != nil {
					t.Fatal(err)
				}
			}
			testkit.Run(t, func(c *supervision.Config) { c.Users = users }, func(b *testkit.Bubble) {
				b.Log.Allow("ACCESS_REFUSED")
				b.Log.Allow("RESOURCE_LOCKED")
				b.Log.Allow("PRECONDITION_FAILED")
				mayObjects(b)
				mayAsProbed(newWeb(t, b.Node.API(), users))
			})
		})
	}
}

// mayAsProbed reads the user's permitted actions before each request, and makes the request.
func mayAsProbed(w *web) {
	w.Helper()
	for _, p := range mayProbes {
		shown := w.ask("lim:l", "GET", p.object+"?may=true", "")
		offered := shown.Code == 200 && slices.Contains(decode[struct{ May []string }](w, shown).May, p.word)
		if got := w.ask("lim:l", p.method, p.path, p.body); offered != (got.Code == p.status) {
			w.Errorf("%s of %s is offered: %v, but %d %s", p.word, p.object, offered, got.Code, got.Body)
		}
	}
}

// Lists have the same field "may" as single objects, and only on request; the parameter columns selects it like others.
func TestHTTPMayInLists(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("ACCESS_REFUSED")
		mayObjects(b)
		w := bubbleWeb(b)
		const queue = `["publish","read","purge","move","alter","delete","policy"]`
		w.want(200, `[{"may":["publish","policy"],"name":"own"},{"may":`+queue+`,"name":"q"}]`, "GET", "/api/queues/%2F?may=true&columns=name,may", "")
		w.want(200, `{"may":`+queue+`}`, "GET", "/api/queues/%2F/q?may=true&columns=may", "")
		w.want(200, `[{"may":["unbind"],"source":"there"}]`, "GET", "/api/exchanges/%2F/amq.fanout/bindings/destination?may=true&columns=source,may", "")
		w.want(200, `[{"name":"/","may":["configure","write","read","policy"]}]`, "GET", "/api/x/vhosts", "")
		for _, path := range []string{"/api/queues", "/api/queues/%2F/q", "/api/exchanges", "/api/exchanges/%2F/there", "/api/bindings"} {
			if got := w.ask("", "GET", path, ""); got.Code != 200 || hasMay(got) {
				t.Errorf("%s: %d %s", path, got.Code, got.Body)
			}
			if got := w.ask("", "GET", path+"?may=true", ""); got.Code != 200 || !hasMay(got) {
				t.Errorf("%s: %d %s", path, got.Code, got.Body)
			}
		}
	})
}

func hasMay(answer *httptest.ResponseRecorder) bool {
	return strings.Contains(answer.Body.String(), `"may":`)
}
