package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// The pages are served without a login, and all other paths answer as without the UI.
func TestPagesAreServed(t *testing.T) {
	h := NewHandler(&serving{fake: newFake("/")}, users, zerolog.Nop())
	for path, want := range map[string]struct {
		status     int
		kind, text string
	}{
		"/":                  {200, "text/html; charset=utf-8", "<title>Candlemark</title>"},
		"/ui/app.css":        {200, "text/css; charset=utf-8", "prefers-color-scheme"},
		"/ui/icon.svg":       {200, "image/svg+xml", "<svg"},
		"/ui/none.js":        {404, "text/plain; charset=utf-8", "404 page not found"},
		"/ui":                {404, "text/plain; charset=utf-8", "404 page not found"},
		"/ui/index.html":     {404, "text/plain; charset=utf-8", "404 page not found"},
		"/api":               {200, "text/html; charset=utf-8", "Candlemark HTTP API"},
		"/api/none":          {404, "application/json", "Not Found"},
		"/healthz":           {503, "application/json", "failed"},
		"/metrics":           {401, "application/json", "Not_Authorized"},
		"/cli/rabbitmqadmin": {200, "text/plain; charset=utf-8", "#!/bin/sh"},
		"/%2Fetc":            {404, "text/plain; charset=utf-8", "404 page not found"},
	} {
		w := do(t, h, "", "GET", path, "")
		if w.Code != want.status || w.Header().Get("Content-Type") != want.kind || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d %s %.60s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if is := w.Header().Get("Content-Security-Policy") != ""; is != (want.status == 200 && (path == "/" || strings.HasPrefix(path, "/ui/"))) {
			t.Errorf("%s: policy %v", path, is)
		}
	}
	if w := do(t, h, "", "HEAD", "/", ""); w.Code != http.StatusOK || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := do(t, h, "", "POST", "/", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("%d", w.Code)
	}
}
