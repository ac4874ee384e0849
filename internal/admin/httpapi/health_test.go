package httpapi

import (
	"net/http/httptest"
	"testing"

	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// serving is a broker with a given service state.
type serving struct {
	*fake
	service management.Service
}

func (s *serving) Service() management.Service { return s.service }

// Health checks need no login, except checks that return figures.
func TestServiceChecks(t *testing.T) {
	const check = "/api/health/checks/"
	full := management.Service{Open: true, Connections: 5, Limit: 5}
	for _, test := range []struct {
		service management.Service
		as      string
		path    string
		status  int
		want    string
	}{
		{management.Service{Open: true, Limit: 5}, "", "/healthz", 200, `{"status":"ok"}`},
		{management.Service{Limit: 5}, "", "/healthz", 503, `{"status":"failed"}`},
		{full, "", "/healthz", 200, `{"status":"ok"}`},
		{full, "", check + "is-in-service", 200, `{"status":"ok"}`},
		{management.Service{Limit: 5}, "", check + "is-in-service", 503, `{"status":"failed","reason":"this rabbit node is not currently available to serve"}`},
		{management.Service{Open: true, Connections: 4, Limit: 5}, "", check + "ready-to-serve-clients", 200, `{"status":"ok"}`},
		{full, "", check + "ready-to-serve-clients", 503, `{"status":"failed","reason":"node connection limit is reached"}`},
		{management.Service{Limit: 5}, "", check + "ready-to-serve-clients", 503, `{"status":"failed","reason":"the rabbit node is not currently available to serve"}`},
		{full, "", check + "below-node-connection-limit", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{full, guest, check + "below-node-connection-limit", 503, `{"status":"failed","reason":"node connection limit is reached","limit":5,"connections":5}`},
		{management.Service{Limit: 5}, guest, check + "below-node-connection-limit", 200, `{"status":"ok","limit":5,"connections":0}`},
		{full, guest, check + "metadata-store/initialized", 200, `{"status":"ok"}`},
	} {
		h := NewHandler(&serving{newFake("/"), test.service}, users, zerolog.Nop())
		r := httptest.NewRequest("GET", test.path, nil)
		if test.as != "" {
			r.SetBasicAuth("guest", "guest")
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != test.status || answer.Body.String() != test.want {
			t.Errorf("%+v %s: %d %s", test.service, test.path, answer.Code, answer.Body)
		}
	}
}
