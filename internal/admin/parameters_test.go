package admin

import (
	"encoding/json"
	"testing"

	"candlemark/internal/auth"

	"github.com/rs/zerolog"
)

// What RabbitMQ answers to the same requests, but where the limits of a virtual
// host are not called limits: it ends with 500 there.
func TestParameters(t *testing.T) {
	_, f := newHouse(t)
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

func TestGlobalParameters(t *testing.T) {
	_, f := newHouse(t)
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
		{"PUT", "/api/cluster-name", `{"name":5}`, 400, badRequest("{not_string,name}")},
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
