package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// host is a broker with a given machine state.
type host struct {
	*fake
	machine management.Machine
}

func (h *host) Machine(context.Context) (management.Machine, error) { return h.machine, nil }

// answers runs steps as guest and checks the status and a part of each answer.
func answers(t *testing.T, h http.Handler, steps []step) {
	t.Helper()
	for _, s := range steps {
		if w := do(t, h, guest, s.method, s.path, s.body); w.Code != s.status || !strings.Contains(w.Body.String(), s.want) {
			t.Errorf("%s %s %s\n got %d %s\nwant %d %s", s.method, s.path, s.body, w.Code, w.Body, s.status, s.want)
		}
	}
}

// Rarely used paths have the answers of a RabbitMQ cluster with one node.
func TestOperations(t *testing.T) {
	f := &host{fake: newFixture(t)}
	f.machine.Memory = management.Memory{Resident: 1000, Objects: 500, Messages: 300, Arriving: 1, Free: 200, Runtime: 100}
	f.queues = []management.Queue{{VHost: "/", Name: "q", Type: "quorum", State: "running"}}
	h := NewHandler(f, f.users, zerolog.Nop())
	const node = "candlemark@here"
	answers(t, h, []step{
		{"PUT", "/api/feature-flags/stream_queue/enable", `{"name":"stream_queue"}`, 204, ``},
		{"PUT", "/api/feature-flags/none/enable", ``, 400, badRequest("unsupported")},
		{"GET", "/api/auth", ``, 200, `{"oauth_enabled":false}`},
		{"POST", "/api/queues/%2F/q/actions", `{"action":"sync"}`, 400, badRequest("unknown", "sync")},
		{"POST", "/api/queues/%2F/q/actions", `{}`, 400, badRequest("[{key_missing,action}]")},
		{"POST", "/api/queues/%2F/none/actions", `{"action":"sync"}`, 404, `{"error":"not_found","reason":"queue_not_found"}`},
		{"POST", "/api/rebalance/queues", ``, 204, ``},
		{"DELETE", "/api/reset", ``, 204, ``},
		{"DELETE", "/api/reset/" + node, ``, 204, ``},
		{"DELETE", "/api/reset/other@here", ``, 404, absent},
		{"POST", "/api/vhosts/%2F/start/" + node, ``, 204, ``},
		{"POST", "/api/vhosts/%2F/start/other", ``, 400, badRequest("Unknown node: other")},
		{"POST", "/api/vhosts/none/start/" + node, ``, 404, absent},
		{"GET", "/api/nodes/" + node + "/memory/relative", ``, 200, `"other_proc":20,`},
		{"GET", "/api/nodes/" + node + "/memory/ets", ``, 200, `{"ets_tables_memory":"no_tables"}`},
		{"GET", "/api/nodes/" + node + "/memory/ets/relative", ``, 200, `{"ets_tables_memory":"no_tables"}`},
		{"GET", "/api/nodes/other/memory", ``, 404, absent},
		{"GET", "/cli/rabbitmqadmin", ``, 200, `use rabbitmqadmin 2 of the RabbitMQ project`},
		{"GET", "/api/healthchecks/node", ``, 200, `{"status":"ok"}`},
		{"GET", "/api/x/events?" + strings.Repeat("pattern=a&", 17), ``, 400, badRequest("at most 16 patterns")},
		{"GET", "/api/x/events?pattern=" + strings.Repeat("a", 256), ``, 400, badRequest("a pattern has at most 255 bytes")},
		{"GET", "/api/healthchecks/node/" + node, ``, 200, `{"status":"ok"}`},
		{"GET", "/api/healthchecks/node/other", ``, 404, absent},
		{"GET", "/api/health/checks/node-is-mirror-sync-critical", ``, 200, `"status":"ok"`},
		{"GET", "/api/health/checks/reached-target-cluster-size", ``, 200, `{"status":"ok"}`},
		{"GET", "/api/health/checks/quorum-queues-without-elected-leaders/all-vhosts/", ``, 200, `{"status":"ok"}`},
		{"GET", "/api/health/checks/quorum-queues-without-elected-leaders/vhost/none", ``, 404, absent},
	})
	w := do(t, h, guest, "GET", "/api/nodes/"+node+"/memory", "")
	for _, want := range []string{`"connection_other":1,`, `"queue_procs":300,`, `"other_proc":199,`, `"other_system":100,`, `"allocated_unused":200,`, `"reserved_unallocated":200,`, `"total":{"erlang":600,"rss":1000,"allocated":800}`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
	f.queues[0].State, f.machine.DiskAlarm = "down", true
	const down = `{"status":"failed","reason":"Detected quorum queues without an elected leader","queues":[{"readable_name":"queue 'q' in vhost '/'","name":"q","virtual_host":"/","type":"rabbit_quorum_queue"}]}`
	const leaders = "/api/health/checks/quorum-queues-without-elected-leaders/"
	answers(t, h, []step{
		{"GET", "/api/healthchecks/node", ``, 503, `{"status":"failed","reason":"resource alarm(s) in effect:[disk]"}`},
		{"GET", leaders + "all-vhosts", ``, 503, down},
		{"GET", leaders + "vhost/%2F/", ``, 503, down},
		{"GET", leaders + "vhost/%2F/pattern/%5Eq", ``, 503, down},
		{"GET", leaders + "all-vhosts/pattern/%5Ex", ``, 200, `{"status":"ok"}`},
		{"GET", leaders + "all-vhosts/pattern/%28", ``, 400, `{"error":"bad_request"`},
	})
}

// A protected virtual host can be deleted only after the protection is removed.
func TestProtectedVHost(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	answers(t, h, []step{
		{"PUT", "/api/vhosts/v", `{"description":"d"}`, 201, ``},
		{"POST", "/api/vhosts/v/deletion/protection", ``, 204, ``},
		{"POST", "/api/vhosts/none/deletion/protection", ``, 404, absent},
		{"DELETE", "/api/vhosts/v", ``, 412, `{"error":"precondition_failed","reason":"Refusing to delete virtual host 'v' because it is protected from deletion"}`},
		{"PUT", "/api/vhosts/v", `{"description":"d","tracing":true}`, 204, ``},
		{"GET", "/api/vhosts/v", ``, 200, `"metadata":{"description":"d","tags":[],"default_queue_type":"classic","protected_from_deletion":true},"protected_from_deletion":true,`},
		{"DELETE", "/api/vhosts/v/deletion/protection", ``, 204, ``},
		{"DELETE", "/api/vhosts/none/deletion/protection", ``, 404, absent},
		{"DELETE", "/api/vhosts/v", ``, 204, ``},
	})
}

// A login by form has the same requirements as any other, and sets no cookie.
func TestLoginForm(t *testing.T) {
	f := newFixture(t)
	if _, err := f.users.PutAccount(auth.Account{Name: "app", Hash: auth.HashPassword("a")}); err != nil {
		t.Fatal(err)
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	for _, c := range []struct {
		form   string
		status int
		want   string
	}{
		{"username=guest&password=guest", 200, `"ok"`},
		{"username=guest&password=wrong", 401, `"not_authorized"`},
		{"username=app&password=a", 401, "Not management user"},
		{"", 401, `"not_authorized"`},
		{"%zz", 401, `"not_authorized"`},
		{"username=guest&password=" + strings.Repeat("x", 5000), 400, "size limit"},
	} {
		r := httptest.NewRequest("POST", "/api/login", strings.NewReader(c.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth("guest", "guest") // ignored by this path
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%.60s: %d %s", c.form, w.Code, w.Body)
		}
	}
}

// Login attempts are counted, and administrators can reset the counts.
func TestLoginAttempts(t *testing.T) {
	f := newFixture(t)
	if _, err := f.users.PutAccount(auth.Account{Name: "mon", Hash: auth.HashPassword("m"), Tags: []string{"monitoring"}}); err != nil {
		t.Fatal(err)
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	const path = "/api/auth/attempts/candlemark@here"
	_ = do(t, h, "guest:wrong", "GET", path, "")
	for _, c := range []struct {
		as, method, path string
		status           int
		want             string
	}{
		{"mon:m", "GET", path, 200, `[{"protocol":"http","auth_attempts":2,"auth_attempts_failed":1,"auth_attempts_succeeded":1}]`},
		{"mon:m", "GET", path + "/source", 200, `"username":"guest","protocol":"http","auth_attempts":1,"auth_attempts_failed":1,"auth_attempts_succeeded":0},`},
		{"mon:m", "DELETE", path, 401, ``},
		{"mon:m", "GET", "/api/auth/attempts/other", 404, ``},
		{guest, "DELETE", path + "/source", 204, ``},
		{guest, "GET", path, 200, `[{"protocol":"http","auth_attempts":1,"auth_attempts_failed":0,"auth_attempts_succeeded":1}]`},
	} {
		if w := do(t, h, c.as, c.method, c.path, ""); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}
