package httpapi

import (
	"testing"

	"candlemark/internal/httpapi/rest"

	"github.com/rs/zerolog"
)

// A server without one of these can be held by idle clients for ever.
func TestServerHasLimits(t *testing.T) {
	s := NewServer(newFake("/"), users, 10, zerolog.Nop())
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout <= rest.Patience || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 || s.ConnState == nil {
		t.Errorf("%+v", s)
	}
}
