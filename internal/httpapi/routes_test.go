package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// variable matches a variable part of a path.
var variable = regexp.MustCompile(`:\w+|\{\w+\}`)

// served reports whether a path, with a value for each variable, has a handler for the method.
func served(h http.Handler, method, path string) bool {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, variable.ReplaceAllString(path, "x"), nil))
	return w.Code != http.StatusMethodNotAllowed && !(w.Code == http.StatusNotFound && w.Header().Get("WWW-Authenticate") == "")
}

// TestRoutesOfRabbitMQ: each route of RabbitMQ is served, or testdata says why not. Requests have no login: a route
// that exists asks for one.
func TestRoutesOfRabbitMQ(t *testing.T) {
	text, err := os.ReadFile("testdata/rabbitmq-routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	h := NewHandler(&serving{fake: newFake("/")}, users, zerolog.Nop())
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		route, why, lacking := strings.Cut(strings.TrimSpace(line), " - ")
		method, path, _ := strings.Cut(route, " ")
		is := served(h, method, path)
		if is == lacking || lacking && why == "" {
			t.Errorf("%s: served %v, but %q", route, is, why)
		}
	}
}
