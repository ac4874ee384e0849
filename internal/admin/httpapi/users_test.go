package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/text/jsonencode"
	"candlemark/policies"

	"github.com/rs/zerolog"
)

// newFixture returns a broker with its own users, at first only guest.
func newFixture(t *testing.T) *fake {
	t.Helper()
	f := newFake("/")
	f.users = auth.NewUsers(auth.Options{})
	_ = f.users.Found(auth.Guest())
	return f
}

// Exchange finds every exchange but "none".
func (*fake) Exchange(_ context.Context, _, name string) (*management.Exchange, error) {
	if name == "none" {
		return nil, nil
	}
	return &management.Exchange{Name: name}, nil
}

// The answers are RabbitMQ's, except that its messages about invalid strings and expressions are lists of numbers.
func TestAccounts(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	const hash = "WE97NPrtXbUOiRP5mvwlzaflG3Se4qqIHi6BO7TbLvi8ehVr"
	item := func(name, hash, algorithm, tags string) string {
		return `{"name":"` + name + `","password_hash":"` + hash + `","hashing_algorithm":"rabbit_password_hashing_` + algorithm +
			`","tags":[` + tags + `],"limits":{}}`
	}
	run(t, h, []step{
		{"PUT", "/api/users/t1", `{"password":"p","tags":"management"}`, 201, ``},
		{"PUT", "/api/users/t1", `{"password_hash":"` + hash + `","tags":["monitoring"," x "]}`, 204, ``},
		{"GET", "/api/users/t1", ``, 200, item("t1", hash, "sha256", `"monitoring","x"`)},
		{"PUT", "/api/users/t2", `{"password":"p"}`, 400, badRequest("tags_not_present")},
		{"PUT", "/api/users/t2", ``, 400, badRequest("tags_not_present")},
		{"PUT", "/api/users/t2", `{"tags":""}`, 201, ``},
		{"GET", "/api/users/t2", ``, 200, item("t2", "", "sha256", ``)},
		{"PUT", "/api/users/t3", `{"password":"a","password_hash":"x","tags":""}`, 400, badRequest("both_password_and_password_hash_are_provided")},
		{"PUT", "/api/users/t3", `{"password_hash":"!!","tags":""}`, 400, badRequest("not_base64", "***")},
		{"PUT", "/api/users/t3", `{"password_hash":"abcd","hashing_algorithm":"rabbit_password_hashing_sha512","tags":"a, b,,c"}`, 201, ``},
		{"GET", "/api/users/t3", ``, 200, item("t3", "abcd", "sha512", `"a","b","c"`)},
		{"PUT", "/api/users/t3", `{"password_hash":"abcd","hashing_algorithm":"rot13","tags":""}`, 400, badRequest("the password hashing algorithm 'rot13' is not known")},
		{"PUT", "/api/users/t4", `{"administrator":"true","password":"x","limits":[]}`, 201, ``},
		{"PUT", "/api/users/t4", `{"administrator":"true","password":"x","limits":{"max-connections":1}}`, 204, ``},
		{"PUT", "/api/users/t4", `{"tags":[],"limits":{"max-queues":1}}`, 400, badRequest(`Unrecognised terms [{<<"max-queues">>,1}] in user-limits`)},
		{"PUT", "/api/users/t4", `{"administrator":1,"password":"x"}`, 400, badRequest("not_boolean", 1)},
		{"PUT", "/api/users/t4", `{"tags":7}`, 400, badRequest("not_string", "tags")},
		{"PUT", "/api/users/t4", `{"tags":"","password":7}`, 400, badRequest("not_string", "password")},
		{"PUT", "/api/users/t4", `{bad`, 400, badRequest("not_json")},
		{"GET", "/api/users/nobody", ``, 404, absent},
		{"DELETE", "/api/users/nobody", ``, 404, absent},
		{"PUT", "/api/users/a%2Fb%20c", `{"tags":"","permissions":{"/":{"configure":"a","write":"b","read":"c"}}}`, 201, ``},
		{"GET", "/api/users/a%2Fb%20c/permissions", ``, 200, `[{"user":"a/b c","vhost":"/","configure":"a","write":"b","read":"c"}]`},
		{"DELETE", "/api/users/a%2Fb%20c", ``, 204, ``},
		{"GET", "/api/users/a%2Fb%20c", ``, 404, absent},
		{"GET", "/api/users/without-permissions?columns=name", ``, 200, `[{"name":"t1"},{"name":"t2"},{"name":"t3"},{"name":"t4"}]`},
		{"GET", "/api/users?columns=name,tags&sort=name&sort_reverse=true&page=1&page_size=2", ``, 200, `{"filtered_count":5,"item_count":2,` +
			`"items":[{"name":"t4","tags":["administrator"]},{"name":"t3","tags":["a","b","c"]}],"page":1,"page_count":3,"page_size":2,"total_count":5}`},
		{"POST", "/api/users/bulk-delete", `{"users":["t2","nobody","t3"]}`, 204, ``},
		{"POST", "/api/users/bulk-delete", `{}`, 400, badRequest("[{key_missing,users}]")},
		{"POST", "/api/users/bulk-delete", `{"users":"t1"}`, 400, badRequest("not_a_list", "users")},
		{"GET", "/api/users/bulk-delete", ``, 405, ``},
		{"POST", "/api/users/t1", ``, 405, ``},
		{"GET", "/api/users?columns=name", ``, 200, `[{"name":"guest"},{"name":"t1"},{"name":"t4"}]`},
	})
	if who, err := f.users.Authenticate("PLAIN", []byte("\x00t4\x00x"), auth.Peer{}); err != nil || !who.HasTag("administrator") {
		t.Errorf("%+v %v", who, err)
	}
	var hashed struct{ OK []byte }
	answer := do(t, h, guest, "GET", "/api/auth/hash_password/a%2Fb", "").Body.Bytes()
	if err := json.Unmarshal(answer, &hashed); err != nil || len(hashed.OK) != 36 {
		t.Errorf("%s %v", answer, err)
	}
	if _, err := f.users.PutAccount(auth.Account{Name: "hashed", Hash: hashed.OK}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.users.Authenticate("PLAIN", []byte("\x00hashed\x00a/b"), auth.Peer{}); err != nil {
		t.Error(err)
	}
}

func TestPermissions(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"t1", "t3"} {
		if _, err := f.users.PutAccount(auth.Account{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	const own = `{"user":"t1","vhost":"/","configure":"^a","write":".*","read":""}`
	const guests = `{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}`
	there := badRequest("vhost_or_user_not_found")
	run(t, NewHandler(f, f.users, zerolog.Nop()), []step{
		{"GET", "/api/users/t1/permissions", ``, 200, `[]`},
		{"PUT", "/api/permissions/%2F/t1", `{"configure":"^a","write":".*","read":""}`, 201, ``},
		{"PUT", "/api/permissions/%2F/t1", `{"configure":"^a","write":".*","read":""}`, 204, ``},
		{"GET", "/api/permissions/%2F/t1", ``, 200, own},
		{"PUT", "/api/permissions/%2F/nobody", `{"configure":"^a","write":".*","read":""}`, 400, there},
		{"PUT", "/api/permissions/nowhere/t1", `{"configure":"^a","write":".*","read":""}`, 400, there},
		{"PUT", "/api/permissions/%2F/t1", `{"configure":"^a"}`, 400, badRequest("[{key_missing,write},{key_missing,read}]")},
		{"PUT", "/api/permissions/%2F/t1", `{"configure":"(","write":"","read":""}`, 400, badRequest("invalid_regexp", "(", []any{"missing )", 1})},
		{"PUT", "/api/permissions/%2F/t1", `{"configure":1,"write":"","read":""}`, 400, badRequest("not_string", "configure")},
		{"GET", "/api/permissions/%2F/nobody", ``, 404, absent},
		{"GET", "/api/permissions/nowhere/t1", ``, 404, absent},
		{"GET", "/api/permissions/%2F/t3", ``, 404, absent},
		{"DELETE", "/api/permissions/%2F/t3", ``, 404, absent},
		{"GET", "/api/permissions", ``, 200, `[` + guests + `,` + own + `]`},
		{"GET", "/api/vhosts/%2F/permissions", ``, 200, `[` + guests + `,` + own + `]`},
		{"GET", "/api/users/t1/permissions", ``, 200, `[` + own + `]`},
		{"GET", "/api/users/nobody/permissions", ``, 404, absent},
		{"GET", "/api/vhosts/nowhere/permissions", ``, 404, absent},
		{"DELETE", "/api/permissions/%2F/t1", ``, 204, ``},
		{"DELETE", "/api/permissions/%2F/t1", ``, 404, absent},
	})
}

func TestTopicPermissions(t *testing.T) {
	f := newFixture(t)
	if _, err := f.users.PutAccount(auth.Account{Name: "t1"}); err != nil {
		t.Fatal(err)
	}
	const some = `{"user":"t1","vhost":"/","exchange":"amq.topic","write":"^a","read":"b"}`
	const first = `{"user":"t1","vhost":"/","exchange":"","write":"^a","read":"b"}`
	both := `[` + first + `,` + some + `]`
	run(t, NewHandler(f, f.users, zerolog.Nop()), []step{
		{"GET", "/api/topic-permissions/%2F/t1", ``, 404, absent},
		{"PUT", "/api/topic-permissions/%2F/t1", `{"exchange":"amq.topic","write":"^a","read":"b"}`, 201, ``},
		{"PUT", "/api/topic-permissions/%2F/t1", `{"exchange":"","write":"^a","read":"b"}`, 204, ``},
		{"PUT", "/api/topic-permissions/%2F/t1", `{"exchange":"none","write":"(","read":"b"}`, 400, badRequest("invalid_regexp", "(", []any{"missing )", 1})},
		{"PUT", "/api/topic-permissions/%2F/t1", `{"exchange":"none","write":"a","read":"b"}`, 400, badRequest("no_such_exchange", "none")},
		{"PUT", "/api/topic-permissions/%2F/t1", `{"write":"x","read":"b"}`, 400, badRequest("[{key_missing,exchange}]")},
		{"PUT", "/api/topic-permissions/nowhere/t1", `{"exchange":"","write":"^a","read":"b"}`, 400, badRequest("vhost_or_user_not_found")},
		{"GET", "/api/topic-permissions", ``, 200, both},
		{"GET", "/api/topic-permissions/%2F/t1", ``, 200, both},
		{"GET", "/api/topic-permissions/%2F/t1/amq.topic", ``, 200, both},
		{"GET", "/api/vhosts/%2F/topic-permissions", ``, 200, both},
		{"GET", "/api/users/t1/topic-permissions", ``, 200, both},
		{"DELETE", "/api/topic-permissions/%2F/t1/none", ``, 204, ``},
		{"DELETE", "/api/topic-permissions/%2F/t1/amq.default", ``, 204, ``},
		{"GET", "/api/topic-permissions/%2F/t1", ``, 200, `[` + some + `]`},
		{"DELETE", "/api/topic-permissions/%2F/t1", ``, 204, ``},
		{"DELETE", "/api/topic-permissions/%2F/t1", ``, 404, absent},
	})
}

// A valid change that cannot be stored gets 500 and has no effect.
func TestNotStored(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	f.users.Observe(func(auth.Change) error { return errors.New("disk") })
	failed := string(jsonencode.Marshal(refusal{"internal_error", "the change could not be stored: disk"}))
	run(t, h, []step{
		{"PUT", "/api/users/t1", `{"tags":""}`, 500, failed},
		{"GET", "/api/users/t1", ``, 404, absent},
		{"PUT", "/api/vhosts/v", ``, 500, failed},
		{"PUT", "/api/permissions/%2F/guest", `{"configure":"","write":"","read":""}`, 500, failed},
		{"DELETE", "/api/permissions/%2F/guest", ``, 500, failed},
		{"GET", "/api/permissions/%2F/guest", ``, 200, `{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}`},
	})
}

// noTraffic returns the figures of a virtual host without clients.
func noTraffic(ready, unacked int) string {
	none := ""
	for _, what := range []string{"ack", "confirm", "deliver", "deliver_get", "deliver_no_ack", "drop_unroutable", "get", "get_empty", "get_no_ack", "publish", "redeliver", "return_unroutable"} {
		none += fmt.Sprintf(`"%s":0,"%s_details":{"rate":0},`, what, what)
	}
	return `"message_stats":{` + strings.TrimSuffix(none, ",") + `},` +
		fmt.Sprintf(`"messages":%d,"messages_details":{"rate":0},"messages_ready":%d,"messages_ready_details":{"rate":0},"messages_unacknowledged":%d,`, ready+unacked, ready, unacked) +
		`"messages_unacknowledged_details":{"rate":0},"messages_scheduled":0,"recv_oct":0,"recv_oct_details":{"rate":0},"send_oct":0,"send_oct_details":{"rate":0},`
}

func TestVHosts(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	item := func(name, description, tags, kind, tracing string) string {
		about := `"description":"` + description + `","tags":[` + tags + `],"default_queue_type":"` + kind + `"`
		return `{"name":"` + name + `",` + about + `,"metadata":{` + about + `},"protected_from_deletion":false,` + noTraffic(0, 0) + `"tracing":` + tracing + `,"cluster_state":{"candlemark@here":"running"}}`
	}
	run(t, h, []step{
		{"PUT", "/api/vhosts/h1", ``, 201, ``},
		{"PUT", "/api/vhosts/h1", `{"description":"d","tags":"a,b","default_queue_type":"quorum","tracing":"true"}`, 204, ``},
		{"GET", "/api/vhosts/h1", ``, 200, item("h1", "d", `"a","b"`, "quorum", "true")},
		{"PUT", "/api/vhosts/h1", `{"description":"e"}`, 204, ``},
		{"GET", "/api/vhosts/h1", ``, 200, item("h1", "e", "", "quorum", "true")},
		{"PUT", "/api/vhosts/h1", `{"tags":["c"],"tracing":false}`, 204, ``},
		{"GET", "/api/vhosts/h1", ``, 200, item("h1", "", `"c"`, "quorum", "false")},
		{"PUT", "/api/vhosts/h1", `{"defaultqueuetype":"classic"}`, 204, ``},
		{"GET", "/api/vhosts", ``, 200, `[` + item("/", "Default virtual host", "", "classic", "false") + `,` + item("h1", "", "", "classic", "false") + `]`},
		{"PUT", "/api/vhosts/h2", `{"default_queue_type":"foo"}`, 400, badRequest("foo is not a valid queue type")},
		{"PUT", "/api/vhosts/h2", `{"tracing":"yes"}`, 400, badRequest("not_boolean", "yes")},
		{"PUT", "/api/vhosts/h2", `{"tags":{}}`, 400, badRequest("not_string", "tags")},
		{"GET", "/api/vhosts/h2", ``, 404, absent},
		{"GET", "/api/permissions/h1/guest", ``, 200, `{"user":"guest","vhost":"h1","configure":".*","write":".*","read":".*"}`},
		{"DELETE", "/api/vhosts/h1", ``, 204, ``},
		{"DELETE", "/api/vhosts/h1", ``, 404, absent},
		{"GET", "/api/permissions", ``, 200, `[{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}]`},
	})
}

// Only administrators may read and change users and virtual hosts. The exception is the list of virtual hosts, of which
// users with the tag monitoring see all.
func TestDefinitionsAreTheAdministrators(t *testing.T) {
	f := newFixture(t)
	f.sets["dev"] = policies.NewSet("dev")
	for name, tag := range map[string]string{"watcher": "monitoring", "maker": "policymaker", "viewer": "management"} {
		if _, err := f.users.PutAccount(auth.Account{Name: name, Tags: []string{tag}, Hash: auth.HashPassword("x")}); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	refused := string(jsonencode.Marshal(refusal{"not_authorised", "Not administrator user"}))
	for _, path := range []string{
		"GET /api/users", "GET /api/users/guest", "PUT /api/users/x", "DELETE /api/users/guest", "POST /api/users/bulk-delete",
		"GET /api/users/without-permissions", "GET /api/users/guest/permissions", "GET /api/users/guest/topic-permissions",
		"GET /api/permissions", "GET /api/permissions/%2F/guest", "PUT /api/permissions/%2F/viewer", "DELETE /api/permissions/%2F/guest",
		"GET /api/topic-permissions", "PUT /api/topic-permissions/%2F/viewer", "DELETE /api/topic-permissions/%2F/viewer/x",
		"GET /api/vhosts/%2F", "PUT /api/vhosts/x", "DELETE /api/vhosts/%2F", "GET /api/vhosts/%2F/permissions",
		"GET /api/auth/hash_password/x",
	} {
		method, path, _ := strings.Cut(path, " ")
		for _, as := range []string{"watcher:x", "maker:x", "viewer:x"} {
			if w := do(t, h, as, method, path, `{}`); w.Code != 401 || w.Body.String() != refused {
				t.Errorf("%s %s as %s: %d %s", method, path, as, w.Code, w.Body)
			}
		}
	}
	for as, want := range map[string]string{
		"watcher:x": `[{"name":"/"},{"name":"dev"}]`, "viewer:x": `[]`, "guest:guest": `[{"name":"/"},{"name":"dev"}]`,
	} {
		if got := do(t, h, as, "GET", "/api/vhosts?columns=name", "").Body.String(); got != want {
			t.Errorf("%s sees %s", as, got)
		}
	}
	if got := do(t, h, "watcher:x", "GET", "/api/whoami", "").Body.String(); got != `{"name":"watcher","tags":["monitoring"],"is_internal_user":true}` {
		t.Error(got)
	}
}

// The bodies equal RabbitMQ 4.0.5's for the same users and permissions.
func TestDefinitionsAsRabbitMQ(t *testing.T) {
	f := newFixture(t)
	run(t, NewHandler(f, f.users, zerolog.Nop()), []step{
		{"PUT", "/api/users/app", `{"password_hash":"WE97NPrtXbUOiRP5mvwlzaflG3Se4qqIHi6BO7TbLvi8ehVr","tags":"management"}`, 201, ``},
		{"PUT", "/api/users/guest", `{"password_hash":"HaXGQ5HDcMCS8tvpgiyHdrVxSAHaKtd5I28ZOjaChFLBhJA1","tags":["administrator"]}`, 204, ``},
		{"PUT", "/api/vhosts/dev", `{"description":"dev vhost","tags":"a","default_queue_type":"quorum"}`, 201, ``},
		{"PUT", "/api/permissions/%2F/app", `{"configure":".*","write":".*","read":".*"}`, 201, ``},
		{"PUT", "/api/topic-permissions/%2F/app", `{"exchange":"orders","write":"^a","read":".*"}`, 201, ``},
	})
	h := NewHandler(f, f.users, zerolog.Nop())
	for path, want := range map[string]string{
		"users": `[{"hashing_algorithm":"rabbit_password_hashing_sha256","limits":{},"name":"app",
			"password_hash":"WE97NPrtXbUOiRP5mvwlzaflG3Se4qqIHi6BO7TbLvi8ehVr","tags":["management"]},
			{"hashing_algorithm":"rabbit_password_hashing_sha256","limits":{},"name":"guest",
			"password_hash":"HaXGQ5HDcMCS8tvpgiyHdrVxSAHaKtd5I28ZOjaChFLBhJA1","tags":["administrator"]}]`,
		"permissions": `[{"user":"app","vhost":"/","configure":".*","write":".*","read":".*"},
			{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"},
			{"user":"guest","vhost":"dev","configure":".*","write":".*","read":".*"}]`,
		"topic-permissions": `[{"user":"app","vhost":"/","exchange":"orders","write":"^a","read":".*"}]`,
		"whoami":            `{"name":"guest","tags":["administrator"],"is_internal_user":true}`,
		"vhosts?columns=name,description,metadata,tags,default_queue_type,tracing": `[{"name":"/","description":"Default virtual host",
			"metadata":{"description":"Default virtual host","tags":[],"default_queue_type":"classic"},"tags":[],"default_queue_type":"classic","tracing":false},
			{"name":"dev","description":"dev vhost","metadata":{"description":"dev vhost","tags":["a"],"default_queue_type":"quorum"},
			"tags":["a"],"default_queue_type":"quorum","tracing":false}]`,
	} {
		got := do(t, h, guest, "GET", "/api/"+path, "").Body.Bytes()
		if !reflect.DeepEqual(rest.Generic(json.RawMessage(got)), rest.Generic(json.RawMessage(want))) {
			t.Errorf("%s:\n got %s\nwant %s", path, got, want)
		}
	}
}

// TestGuessingIsRefusedOverHTTP asserts that throttled logins get 429 with Retry-After, not 401.
func TestGuessingIsRefusedOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(newFake("/"), someUsers(), zerolog.Nop())
		var mu sync.Mutex
		codes := map[int]int{}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				w := do(t, h, "maker:wrong", "GET", "/api/whoami", "")
				mu.Lock()
				defer mu.Unlock()
				if codes[w.Code]++; w.Code == 429 && w.Header().Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			})
		}
		all.Wait()
		if codes[429] < 80 || codes[401] < 10 || codes[401]+codes[429] != 100 {
			t.Errorf("%v", codes)
		}
		if w := do(t, h, "maker:m", "GET", "/api/whoami", ""); w.Code != 200 {
			t.Errorf("the right password: %d", w.Code)
		}
	})
}
