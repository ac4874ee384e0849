package httpapi

import (
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/parameters"

	"github.com/rs/zerolog"
)

// Shovels have RabbitMQ's JSON. As in RabbitMQ, passwords are returned only in parameters, and only to users who may set these.
func TestShovels(t *testing.T) {
	f := newFixture(t)
	if _, err := f.users.PutAccount(auth.Account{Name: "watch", Hash: auth.HashPassword("watch"), Tags: []string{"monitoring"}}); err != nil {
		t.Fatal(err)
	}
	h := NewHandler(f, f.users, zerolog.Nop())
	value := []byte(`{"src-uri":"amqp://","src-queue":"a","dest-uri":["amqps://u:secret@far/v?certfile=c&keyfile=k"],"dest-exchange":"x","dest-exchange-key":"k"}`)
	work, err := parameters.ParseShovel("/", "s", value)
	if err != nil {
		t.Fatal(err)
	}
	f.parameters = []parameters.Parameter{
		{Component: "shovel", VHost: "/", Name: "s", Value: value},
		{Component: "federation-upstream", VHost: "/", Name: "up", Value: []byte(`{"uri":"amqp://u:secret@far","expires":1}`)},
	}
	const link = `{"node":"candlemark@here","vhost":"/","upstream":"up","uri":"amqp://***@far","status":"not_running","error":"federation is not supported here"}`
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local).UnixMilli()
	f.shovels = []management.Shovel{
		{VHost: "/", Name: "s", Work: work, State: "running", Since: since, From: "amqp://", To: "amqps://far/v", Setter: parameters.Setter{User: "ann"}, Forwarded: 7, Pending: 2, ToTake: 3, ToMove: 5},
		{VHost: "/", Name: "t", State: "terminated", Reason: "no", Since: since, ToMove: -1},
	}
	const s = `{"node":"candlemark@here","timestamp":"2026-01-02 03:04:05","name":"s","vhost":"/","type":"dynamic","state":"running","user_who_performed_action":"ann","src_uri":"amqp://",` +
		`"src_protocol":"amqp091","dest_protocol":"amqp091","dest_uri":"amqps://far/v","src_queue":"a","dest_exchange":"x","dest_exchange_key":"k",` +
		`"blocked_status":"running","forwarded":7,"pending":2,"remaining":5,"remaining_unacked":3}`
	const other = `{"node":"candlemark@here","timestamp":"2026-01-02 03:04:05","name":"t","vhost":"/","type":"dynamic","state":"terminated","reason":"no","user_who_performed_action":null}`
	run(t, h, []step{
		{"GET", "/api/shovels", ``, 200, `[` + s + `,` + other + `]`},
		{"GET", "/api/shovels/%2F", ``, 200, `[` + s + `,` + other + `]`},
		{"GET", "/api/shovels/%2F?columns=name", ``, 200, `[{"name":"s"},{"name":"t"}]`},
		{"GET", "/api/shovels/none", ``, 404, absent},
		{"GET", "/api/shovels/vhost/%2F/s", ``, 200, `{"value":{"dest-exchange":"x","dest-exchange-key":"k","dest-uri":["amqps://***@far/v?***"],"src-queue":"a","src-uri":"amqp://"},"vhost":"/","component":"shovel","name":"s"}`},
		{"GET", "/api/shovels/vhost/%2F/u", ``, 404, absent},
		{"DELETE", "/api/shovels/vhost/%2F/s/restart", ``, 204, ``},
		{"DELETE", "/api/shovels/vhost/%2F/u/restart", ``, 404, absent},
		{"DELETE", "/api/shovels/vhost/%2F/s", ``, 204, ``},
		{"DELETE", "/api/shovels/vhost/%2F/s", ``, 404, absent},
		{"GET", "/api/federation-links", ``, 200, `[` + link + `]`},
		{"GET", "/api/federation-links/%2F", ``, 200, `[` + link + `]`},
		{"GET", "/api/federation-links/state/down", ``, 200, `[` + link + `]`},
		{"GET", "/api/federation-links/%2F/state/down", ``, 200, `[` + link + `]`},
		{"DELETE", "/api/federation-links/vhost/%2F/1/n/restart", ``, 404, absent},
	})
	for request, status := range map[string]int{"GET /api/shovels": 200, "DELETE /api/shovels/vhost/%2F/s": 401, "DELETE /api/shovels/vhost/%2F/s/restart": 401} {
		method, path, _ := strings.Cut(request, " ")
		if w := do(t, h, "watch:watch", method, path, ""); w.Code != status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", request, w.Code, w.Body)
		}
	}
}
