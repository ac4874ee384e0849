package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/text/jsonencode"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// users: guest is an administrator, maker a policymaker without access to the virtual host dev, viewer has only the tag
// management, and plain has no tag.
var users = someUsers()

func someUsers() *auth.Users {
	u := auth.NewUsers(auth.Options{})
	_ = u.Found(auth.Guest())
	for _, a := range []auth.Account{
		{Name: "maker", Hash: auth.HashPassword("m"), Tags: []string{"policymaker"}},
		{Name: "viewer", Hash: auth.HashPassword("v"), Tags: []string{"management"}},
		{Name: "plain", Hash: auth.HashPassword("p")},
	} {
		_, errUser := u.PutAccount(a)
		_, errGrant := u.PutGrant(auth.Grant{User: a.Name, VHost: "/"})
		if err := errors.Join(errUser, errGrant); err != nil {
			panic(err)
		}
	}
	return u
}

// do makes a request as "user:password", or without a login if as is "".
func do(t *testing.T, h http.Handler, as, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if as != "" {
		name, password, _ := strings.Cut(as, ":")
		r.SetBasicAuth(name, password)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const guest = "guest:guest"

// JSON of these policies as returned by RabbitMQ 4.3.6.
const (
	ttlBody = `{"pattern":"^orders\\.","definition":{"message-ttl":500000,"expires":3600000},"priority":1,"apply-to":"queues"}`
	ttlItem = `{"vhost":"/","name":"ttl","pattern":"^orders\\.","apply-to":"queues",` +
		`"definition":{"expires":3600000,"message-ttl":500000},"priority":1}`
	opBody = `{"pattern":"^orders\\.q$","definition":{"message-ttl":400000},"priority":1,"apply-to":"queues"}`
	opItem = `{"vhost":"/","name":"op","pattern":"^orders\\.q$","apply-to":"queues","definition":{"message-ttl":400000},"priority":1}`
	absent = `{"error":"Object Not Found","reason":"Not Found"}`
)

func badRequest(reason ...any) string {
	if len(reason) == 1 {
		return string(jsonencode.Marshal(refusal{"bad_request", reason[0]}))
	}
	return string(jsonencode.Marshal(refusal{"bad_request", reason}))
}

// step is a request and its expected answer.
type step struct {
	method, path, body string
	status             int
	want               string
}

func run(t *testing.T, h http.Handler, steps []step) {
	t.Helper()
	for _, s := range steps {
		w := do(t, h, guest, s.method, s.path, s.body)
		if w.Code != s.status || w.Body.String() != s.want {
			t.Errorf("%s %s %s\n got %d %s\nwant %d %s", s.method, s.path, s.body, w.Code, w.Body, s.status, s.want)
		}
	}
}

func TestPolicies_POL12_POL13(t *testing.T) {
	h := NewHandler(newFake("/", "dev", "a/b%c"), users, zerolog.Nop())
	run(t, h, []step{
		{"GET", "/api/policies", "", 200, `[]`},
		{"PUT", "/api/policies/%2F/ttl", ttlBody, 201, ``},
		{"PUT", "/api/policies/%2f/ttl", ttlBody, 204, ``},
		{"GET", "/api/policies/%2F/ttl", "", 200, ttlItem},
		{"GET", "/api/policies/%2F/ttl/", "", 200, ttlItem},
		{"GET", "/api/policies", "", 200, `[` + ttlItem + `]`},
		{"GET", "/api/policies/%2F", "", 200, `[` + ttlItem + `]`},
		{"GET", "/api/policies/dev", "", 200, `[]`},
		{"GET", "/api/policies/nowhere", "", 404, absent},
		{"GET", "/api/policies/%2F/op", "", 404, absent},
		{"GET", "/api/policies/nowhere/ttl", "", 404, absent},
		{"PUT", "/api/policies/nowhere/ttl", ttlBody, 404, `{"error":"not_found","reason":"vhost_not_found"}`},
		{"PUT", "/api/operator-policies/%2F/op", opBody, 201, ``},
		{"GET", "/api/operator-policies", "", 200, `[` + opItem + `]`},
		{"GET", "/api/operator-policies/%2F", "", 200, `[` + opItem + `]`},
		{"GET", "/api/operator-policies/%2F/op", "", 200, opItem},
		{"GET", "/api/operator-policies/%2F/ttl", "", 404, absent},
		{"DELETE", "/api/policies/%2F/op", "", 404, absent},
		{"DELETE", "/api/operator-policies/%2F/op", "", 204, ``},
		{"DELETE", "/api/policies/%2F/ttl", "", 204, ``},
		{"DELETE", "/api/policies/%2F/ttl", "", 404, absent},
		{"DELETE", "/api/policies/nowhere/ttl", "", 404, absent},
		{"GET", "/api/policies", "", 200, `[]`},

		{"PUT", "/api/policies/a%2Fb%25c/x%2F%3Cy%3E%20z", `{"pattern":"<&>","definition":{"expires":1}}`, 201, ``},
		{
			"GET", "/api/policies/a%2Fb%25c/x%2F%3Cy%3E%20z", "", 200,
			`{"vhost":"a/b%c","name":"x/<y> z","pattern":"<&>","apply-to":"all","definition":{"expires":1},"priority":0}`,
		},
		{"PUT", "/api/policies/dev/first", `{"pattern":"","definition":{"expires":1},"priority":-1}`, 201, ``},
		{
			"GET", "/api/policies", "", 200,
			`[{"vhost":"dev","name":"first","pattern":"","apply-to":"all","definition":{"expires":1},"priority":-1},` +
				`{"vhost":"a/b%c","name":"x/<y> z","pattern":"<&>","apply-to":"all","definition":{"expires":1},"priority":0}]`,
		},
	})
}

func TestRefusals_POL14(t *testing.T) {
	h := NewHandler(newFake("/"), users, zerolog.Nop())
	invalid := func(texts ...string) string {
		return badRequest("Validation failed\n\n" + strings.Join(texts, "\n") + "\n")
	}
	put := func(path, body, want string) step { return step{"PUT", path, body, 400, want} }
	run(t, h, []step{
		put("/api/policies/%2F/p", `{"definition":{}}`, badRequest("[{key_missing,pattern}]")),
		put("/api/policies/%2F/p", ``, badRequest("[{key_missing,pattern},{key_missing,definition}]")),
		put("/api/policies/%2F/p", `{`, badRequest("not_json")),
		put("/api/policies/%2F/p", `{"pattern":"","definition":{}}`, invalid("no policy provided")),
		put("/api/policies/%2F/p", `{"pattern":"(","definition":{"expires":1}}`,
			invalid(`pattern should be regular expression but is invalid: {"missing )",1}`)),
		put("/api/policies/%2F/p", `{"pattern":"","definition":{"foo":1}}`,
			invalid("[{<<\"foo\">>,1}] are not recognised policy settings")),
		put("/api/policies/%2F/p", `{"pattern":1,"definition":{"message-ttl":"x"},"priority":"high","apply-to":"foo"}`,
			invalid(`<<"x">> is not a valid message TTL`,
				`apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'`,
				`pattern should be a binary but was 1`,
				`priority should be a number, actually was <<"high">>`)),
		put("/api/operator-policies/%2F/p", `{"pattern":"","definition":{"dead-letter-exchange":"x"}}`,
			invalid("[{<<\"dead-letter-exchange\">>,<<\"x\">>}] are not recognised policy settings")),
		put("/api/policies/%2F/p", `{"pattern":"`+strings.Repeat("x", 1<<20)+`"}`,
			badRequest("Exceeded HTTP request body size limit")),
	})
}

func TestAccess_POL15(t *testing.T) {
	h := NewHandler(newFake("/", "dev"), users, zerolog.Nop())
	const login = `{"error":"not_authorized","reason":"Not_Authorized"}`
	refused := func(reason string) string { return string(jsonencode.Marshal(refusal{"not_authorised", reason})) }
	object := refused("User not authorised to access object")
	vhost := refused("User not authorised to access virtual host")
	for _, test := range []struct {
		as, method, path string
		status           int
		want             string
	}{
		{"", "GET", "/api/overview", 401, login},
		{"guest:wrong", "GET", "/api/overview", 401, login},
		{"nobody:x", "PUT", "/api/policies/%2F/p", 401, login},
		{"gu\x00est:x", "GET", "/api/whoami", 401, login},
		{"plain:p", "GET", "/api/whoami", 401, refused("Not management user")},
		{"maker:m", "PUT", "/api/policies/%2F/p", 201, ``},
		{"maker:m", "PUT", "/api/policies/dev/p", 401, object},
		{"maker:m", "PUT", "/api/operator-policies/%2F/p", 401, refused("Not administrator user")},
		{"maker:m", "GET", "/api/policies/dev", 401, vhost},
		{"viewer:v", "PUT", "/api/policies/%2F/p", 401, object},
		{"viewer:v", "DELETE", "/api/policies/%2F/p", 401, object},
		{"viewer:v", "GET", "/api/queues/dev", 401, vhost},
		{"viewer:v", "GET", "/api/queues/dev/q", 401, vhost},
		{"viewer:v", "GET", "/api/operator-policies/%2F", 200, `[]`},
		{"viewer:v", "GET", "/api/queues", 200, `[]`},
	} {
		w := do(t, h, test.as, test.method, test.path, `{"pattern":"","definition":{"expires":1}}`)
		if w.Code != test.status || w.Body.String() != test.want {
			t.Errorf("%s: %s %s\n got %d %s\nwant %d %s", test.as, test.method, test.path, w.Code, w.Body, test.status, test.want)
		}
		challenge := w.Header().Get("WWW-Authenticate")
		if (test.want == login) != (challenge == `Basic realm="RabbitMQ Management"`) {
			t.Errorf("%s: %s %s: challenge %q", test.as, test.method, test.path, challenge)
		}
	}
}

func TestListsShowWhatOneMaySee_POL15(t *testing.T) {
	f := newFake("/", "dev")
	f.queues = []management.Queue{{VHost: "/", Name: "a"}, {VHost: "dev", Name: "b"}}
	h := NewHandler(f, users, zerolog.Nop())
	for _, path := range []string{"/api/policies/%2F/p", "/api/policies/dev/p"} {
		do(t, h, guest, "PUT", path, `{"pattern":"","definition":{"expires":1}}`)
	}
	for _, path := range []string{"/api/policies", "/api/queues", "/api/vhosts"} {
		for as, want := range map[string]int{guest: 2, "viewer:v": 1} {
			var list []any
			if err := json.Unmarshal(do(t, h, as, "GET", path, "").Body.Bytes(), &list); err != nil || len(list) != want {
				t.Errorf("%s %s: %d items, %v; want %d", as, path, len(list), err, want)
			}
		}
	}
}

// Guest may log in from loopback addresses only.
func TestGuestFromAfar(t *testing.T) {
	h := NewHandler(newFake("/"), auth.NewGuest(), zerolog.Nop())
	for peer, want := range map[string]int{
		"127.0.0.1:1": 200, "[::1]:1": 200, "192.0.2.1:1": 401, "": 401, "pipe": 401, "[::ffff:127.0.0.1]:1": 200,
	} {
		r := httptest.NewRequest("GET", "/api/whoami", nil)
		r.SetBasicAuth("guest", "guest")
		r.RemoteAddr = peer
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("from %q: %d, want %d", peer, w.Code, want)
		}
	}
}

func TestMethodsAndHeaders(t *testing.T) {
	h := NewHandler(newFake("/"), users, zerolog.Nop())
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/api/policies", 405, "HEAD, GET, OPTIONS"},
		{"POST", "/api/policies/%2F/p", 405, "HEAD, GET, PUT, DELETE, OPTIONS"},
		{"OPTIONS", "/api/queues/%2F/q", 200, "HEAD, GET, PUT, DELETE, OPTIONS"},
		{"GET", "/api/queues/%2F/q/get", 405, "POST, OPTIONS"},
		{"HEAD", "/api/queues", 200, ""},
		{"GET", "/api/nothing", 404, ""},
		{"GET", "/api/queues/%2F/q/nothing", 404, ""},
	} {
		w := do(t, h, guest, test.method, test.path, "")
		if w.Code != test.status || w.Header().Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, allow %q", test.method, test.path, w.Code, w.Header().Get("Allow"))
		}
	}
	w := do(t, h, guest, "GET", "/api/policies", "")
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-cache", "Content-Length": "2",
		"Vary": "accept, accept-encoding, origin",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestQueues_POL11(t *testing.T) {
	user, err := policies.Parse("/", "ttl", false, []byte(ttlBody))
	if err != nil {
		t.Fatal(err)
	}
	operator, err := policies.Parse("/", "op", true, []byte(opBody))
	if err != nil {
		t.Fatal(err)
	}
	set := policies.NewSet("/").With(user).With(operator)
	f := newFake("/")
	f.queues = []management.Queue{{
		VHost: "/", Name: "dead", Type: "classic", Durable: true, Figures: queuestats.Figures{Ready: 24, ReadyBytes: 48}, State: "running",
	}, {
		VHost: "/", Name: "orders.q", Type: "classic", AutoDelete: true, Exclusive: true, Figures: queuestats.Figures{Ready: 5, Unacked: 2, Consumers: 1}, State: "running",
		Arguments: protocol.Table{{Key: "x-message-ttl", Value: int32(600000)}, {Key: "x-dead-letter-exchange", Value: "dlx<"}},
		Effective: set.Effective(policies.KindClassicQueue, "orders.q"),
	}}
	const dead = `{"arguments":{},"auto_delete":false,"consumers":0,"durable":true,"effective_policy_definition":{},` +
		`"exclusive":false,"message_bytes_ready":48,"messages":24,"messages_ready":24,"messages_unacknowledged":0,` +
		`"name":"dead","operator_policy":null,"policy":null,"state":"running","type":"classic","vhost":"/"}`
	const orders = `{"arguments":{"x-dead-letter-exchange":"dlx<","x-message-ttl":600000},"auto_delete":true,"consumers":1,` +
		`"durable":false,"effective_policy_definition":{"expires":3600000,"message-ttl":400000},"exclusive":true,` +
		`"message_bytes_ready":0,"messages":7,"messages_ready":5,"messages_unacknowledged":2,"name":"orders.q",` +
		`"operator_policy":"op","policy":"ttl","state":"running","type":"classic","vhost":"/"}`
	const columns = "?columns=arguments,auto_delete,consumers,durable,effective_policy_definition,exclusive," +
		"message_bytes_ready,messages,messages_ready,messages_unacknowledged,name,operator_policy,policy,state,type,vhost"
	run(t, NewHandler(f, users, zerolog.Nop()), []step{
		{"GET", "/api/queues" + columns, "", 200, `[` + dead + `,` + orders + `]`},
		{"GET", "/api/queues/%2F" + columns, "", 200, `[` + dead + `,` + orders + `]`},
		{"GET", "/api/queues/%2F/dead" + columns, "", 200, dead},
		{"GET", "/api/queues/%2F/gone", "", 404, absent},
		{"GET", "/api/queues/nowhere", "", 404, absent},
		{"GET", "/api/vhosts/nowhere", "", 404, absent},
		{"GET", "/api/vhosts/%2F", "", 200, `{"name":"/","description":"Default virtual host","tags":[],"default_queue_type":"classic",` +
			`"metadata":{"description":"Default virtual host","tags":[],"default_queue_type":"classic"},` +
			`"protected_from_deletion":false,` + noTraffic(29, 2) + `"tracing":false,"cluster_state":{"candlemark@here":"running"}}`},
	})
}

func TestOverviewAndWhoAmI(t *testing.T) {
	h := NewHandler(newFake("/"), users, zerolog.Nop())
	run(t, h, []step{{"GET", "/api/whoami", "", 200, `{"name":"guest","tags":["administrator"],"is_internal_user":true}`}})
	w := do(t, h, guest, "GET", "/api/overview", "")
	for _, want := range []string{
		`"rabbitmq_version":"4.3.6"`, `"management_version":"4.3.6"`, `"product_name":"Candlemark"`, `"product_version":"0.1.0"`,
		`"cluster_name":"candle"`, `"node":"candlemark@here"`,
		`"object_totals":{"channels":2,"consumers":3,"exchanges":8,"queues":5,"connections":1}`,
		`"queue_totals":{"messages":17,"messages_ready":7,"messages_unacknowledged":10,`,
		`{"name":"topic","description":"AMQP topic exchange, as per the AMQP specification","enabled":true}`,
		`"listeners":[{"node":"candlemark@here","protocol":"amqp","ip_address":"127.0.0.1","port":5672,"tls":false}]`,
	} {
		if !bytes.Contains(w.Body.Bytes(), []byte(want)) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
}

func TestBrokerFails(t *testing.T) {
	for err, want := range map[error]int{errBroken: 500, context.DeadlineExceeded: 503} {
		f := newFake("/")
		f.err = err
		h := NewHandler(f, users, zerolog.Nop())
		for _, path := range []string{
			"/api/overview", "/api/vhosts", "/api/vhosts/%2F", "/api/queues", "/api/queues/%2F", "/api/queues/%2F/q",
			"/api/policies", "/api/policies/%2F", "/api/policies/%2F/p",
		} {
			if w := do(t, h, guest, "GET", path, ""); w.Code != want {
				t.Errorf("GET %s with %v: %d", path, err, w.Code)
			}
		}
		for _, method := range []string{"PUT", "DELETE"} {
			if w := do(t, h, guest, method, "/api/policies/%2F/p", ttlBody); w.Code != want {
				t.Errorf("%s with %v: %d", method, err, w.Code)
			}
		}
	}
}
