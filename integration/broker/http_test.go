package broker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// web sends requests to a broker's HTTP API without a network.
type web struct {
	*testing.T
	handler http.Handler
}

func newWeb(t *testing.T, broker management.Broker, users *auth.Users) *web {
	return &web{t, httpapi.NewHandler(broker, users, zerolog.Nop())}
}

func bubbleWeb(b *testkit.Bubble) *web { return newWeb(b.T, b.Node.API(), b.Users) }

// ask makes one request as "user:password"; "" means guest.
func (w *web) ask(as, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	if as == "" {
		as = "guest:guest"
	}
	name, password, _ := strings.Cut(as, ":")
	r.SetBasicAuth(name, password)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

// want makes a request and checks the status and, unless it is "-", the body.
func (w *web) want(status int, body, method, path, request string) {
	w.Helper()
	if got := w.ask("", method, path, request); got.Code != status || body != "-" && got.Body.String() != body {
		w.Errorf("%s %s %s\n got %d %s\nwant %d %s", method, path, request, got.Code, got.Body, status, body)
	}
}

// get decodes the answer of a GET.
func get[T any](w *web, path string) T {
	w.Helper()
	var v T
	answer := w.ask("", "GET", path, "")
	if err := json.Unmarshal(answer.Body.Bytes(), &v); answer.Code != 200 || err != nil {
		w.Fatalf("GET %s: %d %s: %v", path, answer.Code, answer.Body, err)
	}
	return v
}

func reason(code, text string) string {
	return `{"error":"` + code + `","reason":"` + text + `"}`
}

const notThere = `{"error":"Object Not Found","reason":"Not Found"}`

// decode decodes an answer.
func decode[T any](w *web, answer *httptest.ResponseRecorder) T {
	w.Helper()
	var v T
	if err := json.Unmarshal(answer.Body.Bytes(), &v); answer.Code != 200 || err != nil {
		w.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	return v
}
