package httpapi

import (
	"encoding/json"
	"errors"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/policies"

	"github.com/rs/zerolog"
)

// The answers are RabbitMQ's, except for limits of a virtual host under another name than limits, where RabbitMQ
// returns 500.
func TestParameters(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	const op = `{"value":{"pattern":"z<","definition":{"max-length":5},"priority":1,"apply-to":"queues"},"vhost":"/","component":"operator_policy","name":"o"}`
	const limit = `{"value":{"max-queues":9},"vhost":"/","component":"vhost-limits","name":"limits"}`
	run(t, h, []step{
		{"GET", "/api/parameters", ``, 200, `[]`},
		{"GET", "/api/parameters/foo/%2F", ``, 200, `[]`},
		{"GET", "/api/parameters/foo/nowhere", ``, 404, absent},
		{"PUT", "/api/parameters/foo/%2F/x", `{"value":1}`, 400, badRequest("Validation failed\n\ncomponent foo not found\n")},
		{"PUT", "/api/parameters/policy/%2F/x", `{"value":{}}`, 400, badRequest("policies may not be set using this method")},
		{"PUT", "/api/parameters/vhost-limits/%2F/limits", `{}`, 400, badRequest("[{key_missing,value}]")},
		{"PUT", "/api/parameters/vhost-limits/nowhere/limits", `{"value":{"max-queues":9}}`, 404, `{"error":"not_found","reason":"vhost_not_found"}`},
		{"PUT", "/api/parameters/vhost-limits/%2F/other", `{"value":{"max-queues":9}}`, 400, badRequest("Validation failed\n\ncomponent vhost-limits not found\n")},
		{"PUT", "/api/parameters/vhost-limits/%2F/limits", `{"value":{"max-queues":9}}`, 201, ``},
		{"PUT", "/api/parameters/vhost-limits/%2F/limits", `{"value":{"max-queues":9}}`, 204, ``},
		{"PUT", "/api/parameters/operator_policy/%2F/o", `{"value":{"pattern":"z<","definition":{"max-length":5},"priority":1,"apply-to":"queues"}}`, 201, ``},
		{"PUT", "/api/parameters/operator_policy/%2F/o", `{"value":{"pattern":"z"}}`, 400, badRequest("[{key_missing,definition}]")},
		{"GET", "/api/parameters", ``, 200, `[` + op + `,` + limit + `]`},
		{"GET", "/api/parameters/vhost-limits", ``, 200, `[` + limit + `]`},
		{"GET", "/api/parameters/operator_policy/%2F", ``, 200, `[` + op + `]`},
		{"GET", "/api/parameters/operator_policy/%2F/o", ``, 200, op},
		{"GET", "/api/parameters/vhost-limits/%2F/o", ``, 404, absent},
		{"DELETE", "/api/parameters/operator_policy/%2F/o", ``, 204, ``},
		{"DELETE", "/api/parameters/operator_policy/%2F/o", ``, 404, absent},
		{"DELETE", "/api/parameters/vhost-limits/%2F/limits", ``, 204, ``},
		{"GET", "/api/parameters?columns=name", ``, 200, `[]`},
		{"POST", "/api/parameters", ``, 405, ``},
	})
}

// Parameters of RabbitMQ's plugins are validated and stored unchanged.
func TestParametersOfComponents(t *testing.T) {
	f := newFixture(t)
	if _, err := f.users.PutAccount(auth.Account{Name: "maker", Hash: auth.HashPassword("maker"), Tags: []string{"policymaker"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.users.PutVHost(auth.VHost{Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	f.sets["mine"] = policies.NewSet("mine")
	for _, user := range []string{"guest", "maker"} {
		if _, err := f.users.PutGrant(auth.Grant{User: user, VHost: "mine", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	const value = `{"src-uri":"amqp:///mine","src-queue":"a","dest-uri":["amqps://u:p@far"],"dest-queue":"b"}`
	const item = `{"value":` + value + `,"vhost":"mine","component":"shovel","name":"s"}`
	run(t, h, []step{
		{"PUT", "/api/parameters/shovel/mine/s", `{"value":` + value + `}`, 201, ``},
		{"PUT", "/api/parameters/shovel/mine/s", `{"value":` + value + `}`, 204, ``},
		{"GET", "/api/parameters", ``, 200, `[` + item + `]`},
		{"GET", "/api/parameters/shovel/mine", ``, 200, `[` + item + `]`},
		{"GET", "/api/parameters/shovel/%2F", ``, 200, `[]`},
		{"GET", "/api/parameters/shovel/mine/s", ``, 200, item},
		{"PUT", "/api/parameters/shovel/mine/t", `{"value":{}}`, 400, badRequest("Validation failed\n\nMust specify 'src-exchange' or 'src-queue'\nKey \"dest-uri\" not found in t\nKey \"src-uri\" not found in t\n")},
		{"PUT", "/api/parameters/federation-upstream/%2F/u", `{"value":{"uri":"amqp://far","max-hops":2}}`, 201, ``},
		{"PUT", "/api/parameters/federation-upstream-set/%2F/u", `{"value":[{"upstream":"u"}]}`, 201, ``},
		{"DELETE", "/api/parameters/federation-upstream-set/%2F/u", ``, 204, ``},
		{"DELETE", "/api/parameters/federation-upstream-set/%2F/u", ``, 404, absent},
		{"DELETE", "/api/parameters/shovel/mine/s", ``, 204, ``},
	})
	// A shovel connects to this broker without a login, so its creator must have access to the virtual host.
	for uri, status := range map[string]int{"amqp:///mine": 201, "amqp://": 400, "amqp:///none": 400, "amqp://elsewhere": 204} {
		body := `{"value":{"src-uri":"amqp:///mine","src-queue":"a","dest-uri":"` + uri + `","dest-queue":"b"}}`
		if w := do(t, h, "maker:maker", "PUT", "/api/parameters/shovel/mine/x", body); w.Code != status && w.Code/100 != status/100 {
			t.Errorf("%s: %d %s", uri, w.Code, w.Body)
		}
	}
	body := `{"value":{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://far","dest-queue":"b"}}`
	if w := do(t, h, "maker:maker", "PUT", "/api/parameters/shovel/mine/y", body); w.Body.String() !=
		badRequest("Validation failed\n\nuser \"maker\" may not connect to vhost \"/\"\n") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := do(t, h, "maker:maker", "PUT", "/api/parameters/shovel/%2F/y", body); w.Code != 401 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestGlobalParameters(t *testing.T) {
	f := newFixture(t)
	f.globals["internal_cluster_id"] = json.RawMessage(`"id"`)
	for name, tags := range map[string][]string{"maker": {"policymaker"}, "manager": {"management"}} {
		if _, err := f.users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	run(t, h, []step{
		{"GET", "/api/global-parameters", ``, 200, `[{"name":"internal_cluster_id","value":"id"}]`},
		{"PUT", "/api/global-parameters/d%2F1", `{"value":[1,{"a":null}]}`, 201, ``},
		{"PUT", "/api/global-parameters/d%2F1", `{"value":null}`, 204, ``},
		{"GET", "/api/global-parameters/d%2F1", ``, 200, `{"name":"d/1","value":null}`},
		{"PUT", "/api/global-parameters/d%2F1", `{}`, 400, badRequest("[{key_missing,value}]")},
		{"PUT", "/api/global-parameters/d%2F1", `{bad`, 400, badRequest("not_json")},
		{"DELETE", "/api/global-parameters/d%2F1", ``, 204, ``},
		{"DELETE", "/api/global-parameters/d%2F1", ``, 404, absent},
		{"GET", "/api/global-parameters/d%2F1", ``, 404, absent},
		{"PUT", "/api/cluster-name", `{"name":"house"}`, 204, ``},
		{"PUT", "/api/cluster-name", `{"name":5}`, 400, badRequest("not_string", "name")},
		{"GET", "/api/global-parameters/cluster_name", ``, 200, `{"name":"cluster_name","value":"house"}`},
	})
	for path, want := range map[string]map[string]int{
		"/api/global-parameters":             {"maker:maker": 200, "manager:manager": 401},
		"/api/parameters":                    {"maker:maker": 200, "manager:manager": 401},
		"/api/parameters/vhost-limits/%2F":   {"maker:maker": 401, "manager:manager": 401}, // no access to the virtual host
		"/api/parameters/vhost-limits/%2F/x": {"maker:maker": 401, "guest:guest": 404},
	} {
		for as, status := range want {
			if w := do(t, h, as, "GET", path, ""); w.Code != status {
				t.Errorf("%s as %s: %d", path, as, w.Code)
			}
		}
	}
}

// The same users may change a setting through each of its paths.
func TestSettingsAreChangedByWhoMay(t *testing.T) {
	f := newFixture(t)
	for name, tag := range map[string]string{"maker": "policymaker", "watcher": "monitoring", "viewer": "management"} {
		_, errUser := f.users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword("x"), Tags: []string{tag}})
		_, errGrant := f.users.PutGrant(auth.Grant{User: name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"})
		if err := errors.Join(errUser, errGrant); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	const policy = `{"pattern":"","definition":{"max-length":5},"value":{"pattern":"","definition":{"max-length":5}}}`
	for setting, requests := range map[auth.Setting][]step{
		auth.Policies: {{path: "/api/policies/%2F/p", body: policy}},
		auth.OperatorPolicies: {
			{path: "/api/operator-policies/%2F/p", body: policy},
			{path: "/api/parameters/operator_policy/%2F/p", body: policy},
			{path: "/api/parameters/operator%5Fpolicy/%2F/p", body: policy},
		},
		auth.VHostLimits: {
			{path: "/api/vhost-limits/%2F/max-queues", body: `{"value":1}`}, {path: "/api/parameters/vhost-limits/%2F/limits", body: `{"value":{"max-queues":1}}`},
		},
		auth.UserLimits:       {{path: "/api/user-limits/guest/max-channels", body: `{"value":1}`}},
		auth.GlobalParameters: {{path: "/api/global-parameters/cluster_name", body: `{"value":"x"}`}},
	} {
		for _, request := range requests {
			for as, tag := range map[string]string{"maker:x": "policymaker", "watcher:x": "monitoring", "viewer:x": "management", guest: "administrator"} {
				may := auth.User{Tags: []string{tag}}.MayChange(setting)
				for _, method := range []string{"PUT", "DELETE"} {
					if w := do(t, h, as, method, request.path, request.body); may == (w.Code == 401) || may && w.Code > 299 {
						t.Errorf("%s %s as %s: %d %s", method, request.path, as, w.Code, w.Body)
					}
				}
			}
		}
	}
	for as, want := range map[string]int{guest: 204, "maker:x": 401} {
		if w := do(t, h, as, "PUT", "/api/cluster-name", `{"name":"x"}`); w.Code != want {
			t.Errorf("cluster name as %s: %d", as, w.Code)
		}
	}
}
