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

// TestEmptySegmentsAreServed: an empty or dotted segment of a path is a name like any other; ServeMux would redirect to a
// different path.
func TestEmptySegmentsAreServed(t *testing.T) {
	h := NewHandler(&serving{fake: newFake("/")}, users, zerolog.Nop())
	for _, r := range routes() {
		for _, at := range variable.FindAllStringIndex(r.Path, -1) {
			for _, segment := range []string{"", ".", "..", "%2E"} {
				path := r.Path[:at[0]] + segment + r.Path[at[1]:]
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(r.Method, variable.ReplaceAllString(path, "x"), nil))
				if w.Code/100 == 3 || segment != "" && w.Code == http.StatusNotFound && w.Header().Get("WWW-Authenticate") == "" {
					t.Errorf("%s %s: %d, to %q", r.Method, path, w.Code, w.Header().Get("Location"))
				}
			}
		}
	}
	for _, path := range []string{"//api/overview", "/api//overview", "/api/./overview", "/x/../api/overview"} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d, to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
}
