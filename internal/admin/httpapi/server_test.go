package httpapi

import (
	"strings"
	"testing"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/httpapi/site"

	"github.com/rs/zerolog"
)

// Without any one of these limits, idle clients could occupy the server forever.
func TestServerHasLimits(t *testing.T) {
	s := NewServer(newFake("/"), users, site.New(site.Config{}), 10, config.Samples{}, zerolog.Nop())
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout <= rest.Patience || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 || s.ConnState == nil {
		t.Errorf("%+v", s)
	}
}

// If two sections served the same method and path, one would hide the other.
func TestRoutesAreThereOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range routes() {
		if seen[r.Method+r.Path] || !strings.HasPrefix(r.Path, "/api/") && !strings.HasPrefix(r.Path, "/metrics") && r.Path != "/healthz" && r.Path != "/cli/rabbitmqadmin" {
			t.Errorf("%s %s", r.Method, r.Path)
		}
		seen[r.Method+r.Path] = true
	}
}
