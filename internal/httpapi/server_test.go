package httpapi

import (
	"strings"
	"testing"

	"candlemark/internal/config"
	"candlemark/internal/httpapi/rest"

	"github.com/rs/zerolog"
)

// A server without one of these can be held by idle clients for ever.
func TestServerHasLimits(t *testing.T) {
	s := NewServer(newFake("/"), users, 10, config.Samples{}, zerolog.Nop())
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout <= rest.Patience || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 || s.ConnState == nil {
		t.Errorf("%+v", s)
	}
}

// Two sections that both have a method of a path would hide each other.
func TestRoutesAreThereOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range routes() {
		if seen[r.Method+r.Path] || !strings.HasPrefix(r.Path, "/api/") && !strings.HasPrefix(r.Path, "/metrics") && r.Path != "/healthz" && r.Path != "/cli/rabbitmqadmin" {
			t.Errorf("%s %s", r.Method, r.Path)
		}
		seen[r.Method+r.Path] = true
	}
}
