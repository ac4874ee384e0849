package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"

	"github.com/rs/zerolog"
)

// growing is a broker with a queue whose number of messages a test increases.
type growing struct {
	*serving
	published atomic.Int64
}

func (g *growing) Queue(context.Context, string, string) (management.Queue, error) {
	n := g.published.Load()
	return management.Queue{VHost: "/", Name: "q", Figures: queuestats.Figures{Ready: int(n)}, Counts: management.Counts{Publish: uint64(2 * n)}}, nil
}

func (g *growing) Queues(ctx context.Context, vhost string) ([]management.Queue, error) {
	q, err := g.Queue(ctx, vhost, "q")
	return []management.Queue{q}, err
}

// figure is the JSON form of a rate as decoded by a client.
type figure struct {
	Rate    float64
	Samples []struct{ Sample, Timestamp int64 }
	Avg     *float64
	AvgRate *float64 `json:"avg_rate"`
}

type sampled struct {
	Messages figure `json:"messages_details"`
	Stats    struct {
		Publish figure `json:"publish_details"`
	} `json:"message_stats"`
}

// asker returns a function that makes a GET request as guest.
func asker(t *testing.T, h http.Handler) func(path string, into any) {
	return func(path string, into any) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		r.SetBasicAuth("guest", "guest")
		h.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d, %v", path, w.Code, err)
		}
	}
}

// Requests with RabbitMQ's parameters get samples, also from the time between requests; other answers have none.
func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		samples, err := config.Default(func(string) string { return "" }).SampleSpans()
		if err != nil {
			t.Fatal(err)
		}
		g := &growing{serving: &serving{fake: newFake("/")}}
		a := rest.New(g, someUsers(), samples, zerolog.Nop())
		defer a.Close()
		get := asker(t, handlerOf(nil, a, site.New(site.Config{Hosts: []string{"*"}})))
		const query = "?lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5"
		var q sampled
		get("/api/queues/%2F/q"+query, &q)
		for range 6 {
			time.Sleep(5 * time.Second)
			synctest.Wait()
			g.published.Add(1)
		}
		time.Sleep(time.Second)
		var list []sampled
		get("/api/queues"+query, &list)
		get("/api/queues/%2F/q"+query, &q)
		for _, q := range append(list, q) {
			m, p := q.Messages, q.Stats.Publish
			if len(m.Samples) != 7 || m.Samples[0].Sample != 5 || m.Samples[6].Sample != 0 || m.Samples[0].Timestamp-m.Samples[6].Timestamp != 30_000 {
				t.Errorf("%+v", m)
			}
			if len(p.Samples) != 7 || *p.AvgRate != 10.0/30 || *p.Avg != 30.0/7 {
				t.Errorf("%+v", p)
			}
		}
		var overview struct {
			Totals    sampled          `json:"queue_totals"`
			Retention map[string][]int `json:"sample_retention_policies"`
		}
		get("/api/overview"+query, &overview)
		if m := overview.Totals.Messages; len(m.Samples) != 1 || m.Samples[0].Sample != 17 || len(overview.Retention["global"]) != 4 {
			t.Errorf("%+v", overview)
		}
		var bare struct {
			Details map[string]any `json:"messages_details"`
		}
		get("/api/queues/%2F/q", &bare)
		if len(bare.Details) != 1 {
			t.Errorf("%+v", bare)
		}
	})
}
