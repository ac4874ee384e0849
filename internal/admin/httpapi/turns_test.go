package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/access/sas"
	"candlemark/internal/admin/httpapi/servicebus"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"

	"github.com/rs/zerolog"
)

// slow is a broker whose answers about many objects take a second, and which notes how many are made at a time.
type slow struct {
	*fake
	running, most atomic.Int64
}

func (s *slow) work() {
	n := s.running.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	time.Sleep(time.Second)
	s.running.Add(-1)
}

func (s *slow) Queues(context.Context, string) ([]management.Queue, error) {
	s.work()
	return nil, nil
}

func (s *slow) QueueNames(string) []management.QueueSummary {
	s.work()
	return nil
}

func (s *slow) Exchanges(context.Context, string) ([]management.Exchange, error) {
	s.work()
	return nil, nil
}

func (s *slow) Bindings(context.Context, management.BindingFilter) ([]management.Binding, error) {
	s.work()
	return nil, nil
}

func (s *slow) Clock() *clock.Clock { return clock.New() }

// TestTurns_ACC12: requests that collect many objects, if only for an answer of a line, are processed one at a time for each user;
// those for administering Service Bus's entities four at a time.
func TestTurns_ACC12(t *testing.T) {
	for path, most := range map[string]int64{
		"/api/health/checks/quorum-queues-without-elected-leaders/all-vhosts":               1,
		"/api/health/checks/quorum-queues-without-elected-leaders/vhost/%2F/pattern/orders": 1,
		"/api/x/health/oldest-message?over=1s":                                              1,
		"/api/vhosts":                                                                       1, "/api/vhosts/%2F": 1, "/api/queues": 1,
		"/api/bindings/%2F/e/x/q/q/~": 1,
		"/$Resources/topics":          4,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &slow{fake: newFake("/")}
			u := someUsers()
			if err := u.SetAccessKeys("guest", sas.Keys{Primary: "key", Secondary: "other"}); err != nil {
				t.Fatal(err)
			}
			var h http.Handler = NewHandler(b, u, zerolog.Nop())
			if path[1] == '$' {
				h = servicebus.NewHandler(b, u, "/", false, zerolog.Nop())
			}
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					r := httptest.NewRequest(http.MethodGet, path, nil)
					r.SetBasicAuth("guest", "guest")
					if path[1] == '$' {
						r.Header.Set("Authorization", sas.New("http://"+r.Host+"/", "guest", "key", time.Now().Add(time.Hour)))
					}
					r.RemoteAddr = "127.0.0.1:1"
					h.ServeHTTP(httptest.NewRecorder(), r)
				})
			}
			all.Wait()
			if got := b.most.Load(); got != most {
				t.Errorf("%s: %d at a time, want %d", path, got, most)
			}
		})
	}
}
