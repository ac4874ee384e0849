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

// variable is a part of a path that clients choose.
var variable = regexp.MustCompile(`:\w+|\{\w+\}`)

// served reports whether a request with some value for each variable of a path gets to a handler of its own.
func served(h http.Handler, method, path string) bool {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, variable.ReplaceAllString(path, "x"), nil))
	return w.Code != http.StatusMethodNotAllowed && !(w.Code == http.StatusNotFound && w.Header().Get("WWW-Authenticate") == "")
}

// TestRoutesOfRabbitMQ: we have each of them, or say why not. Without a login a route that is there asks for one.
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
