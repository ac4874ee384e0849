package httpapi

import (
	"testing"

	"github.com/rs/zerolog"
)

// The answers are RabbitMQ's, except that its list omits a virtual host without limits.
func TestLimits(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	const vhosts, users = "/api/vhost-limits", "/api/user-limits"
	const missing = `{"error":"not_found","reason":`
	run(t, h, []step{
		{"GET", vhosts, ``, 200, `[]`},
		{"GET", vhosts + "/nope", ``, 404, absent},
		{"PUT", vhosts + "/%2F/max-connections", `{"value": 5}`, 204, ``},
		{"PUT", vhosts + "/%2F/max-queues", `{"value": -1}`, 204, ``},
		{"GET", vhosts, ``, 200, `[{"vhost":"/","value":{"max-connections":5,"max-queues":-1}}]`},
		{"GET", vhosts + "/%2F", ``, 200, `[{"vhost":"/","value":{"max-connections":5,"max-queues":-1}}]`},
		{"PUT", vhosts + "/%2F/max-foo", `{"value": 5}`, 400, badRequest("Validation failed\n\nUnrecognised terms [{<<\"max-foo\">>,5}] in limits\n")},
		{"PUT", vhosts + "/%2F/max-queues", `{"value": "x"}`, 400, badRequest("Validation failed\n\nmax-queues should be a number, actually was <<\"x\">>\n")},
		{"PUT", vhosts + "/%2F/max-queues", `{}`, 400, badRequest(`[{key_missing,value}]`)},
		{"PUT", vhosts + "/nope/max-queues", `{"value": 5}`, 404, missing + `"vhost_not_found"}`},
		{"DELETE", vhosts + "/%2F/max-queues", ``, 204, ``},
		{"DELETE", vhosts + "/%2F/max-nix", ``, 204, ``},
		{"GET", vhosts, ``, 200, `[{"vhost":"/","value":{"max-connections":5}}]`},
		{"DELETE", vhosts + "/%2F/max-connections", ``, 204, ``},
		{"DELETE", vhosts + "/nope/max-connections", ``, 404, missing + `"vhost_not_found"}`},
		{"GET", vhosts + "/%2F", ``, 200, `[]`},
		{"POST", vhosts + "/%2F", ``, 405, ``},
		{"GET", vhosts + "/%2F/max-queues", ``, 405, ``},

		{"GET", users, ``, 200, `[]`},
		{"GET", users + "/nope", ``, 404, absent},
		{"PUT", users + "/guest/max-connections", `{"value": 5}`, 204, ``},
		{"PUT", users + "/guest/max-channels", `{"value": 9}`, 204, ``},
		{"GET", users, ``, 200, `[{"user":"guest","value":{"max-channels":9,"max-connections":5}}]`},
		{"PUT", users + "/guest/max-foo", `{"value": 5}`, 400, badRequest(`Unrecognised terms [{<<"max-foo">>,5}] in user-limits`)},
		{"PUT", users + "/guest/max-channels", `{"value": "x"}`, 400, badRequest(`max-channels should be a number, actually was <<"x">>`)},
		{"PUT", users + "/nope/max-channels", `{"value": 5}`, 404, missing + `"user_not_found"}`},
		{"DELETE", users + "/nope/max-channels", ``, 404, missing + `"user_not_found"}`},
		{"DELETE", users + "/guest/max-connections", ``, 204, ``},
		{"GET", users + "/guest", ``, 200, `[{"user":"guest","value":{"max-channels":9}}]`},
		{"GET", "/api/users/guest?columns=name,limits", ``, 200, `{"limits":{"max-channels":9},"name":"guest"}`},
		{"PUT", "/api/users/guest", `{"password":"guest","tags":"administrator","limits":{"max-connections":7}}`, 204, ``},
		{"PUT", "/api/users/guest", `{"password":"guest","tags":"administrator"}`, 204, ``},
		{"GET", users + "/guest", ``, 200, `[{"user":"guest","value":{"max-channels":9,"max-connections":7}}]`},
		{"PUT", "/api/vhosts/%2F", `{"description":"x"}`, 204, ``},
	})
}
