package broker

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// asked is a request of a web page and its interval.
type asked struct {
	path  string
	every time.Duration
}

// openPages are the requests that web pages make while they are open (internal/admin/httpapi/ui/static/pages).
var openPages = map[string][]asked{
	"now": {
		{"/api/overview?msg_rates_age=600&msg_rates_incr=5", 5 * time.Second},
		{"/api/x/ahead", 2 * time.Second},
		{"/api/nodes?columns=mem_used,mem_limit,mem_alarm,disk_free,disk_free_limit,disk_free_alarm", 5 * time.Second},
		{"/api/x/lateness", 5 * time.Second},
	},
	"queues":                   {{queuesPage + "&sort=name", 5 * time.Second}},
	"queues by ready messages": {{queuesPage + "&sort=messages_ready&sort_reverse=true", 5 * time.Second}},
	"queues by next expiry":    {{queuesPage + "&expires_within=3153600000000&sort=next_expiry", 5 * time.Second}},
	"classic queues":           {{queuesPage + "&type=classic", 5 * time.Second}},
}

const queuesPage = "/api/queues?page=1&page_size=50&columns=name,vhost,type,messages_ready,messages_unacknowledged,next_expiry,policy"

// BenchmarkPageOpen runs a broker with 100,000 queues that accepts 50,000 messages a second for 1,000 of them, alternately with
// and without an open web page, for 5 s each. It reports the ratios of message rate and of CPU time of the whole process with and
// without the page, and the latency of answers.
func BenchmarkPageOpen(b *testing.B) {
	const queues = 100_000
	node, ch := benchBroker(b)
	for i := range queues {
		if _, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, false, amqp.Table{"x-max-length": 10}); err != nil {
			b.Fatal(err)
		}
	}
	api := httpapi.NewHandler(node.API(), auth.NewGuest(), zerolog.Nop())
	publishPaced(b, ch)
	for name, page := range openPages {
		b.Run(name, func(b *testing.B) {
			var rates, costs []float64
			var answers []time.Duration
			for b.Loop() {
				rate, cost := publishPaced(b, ch)
				closed := openPage(b, api, page)
				rateWith, costWith := publishPaced(b, ch)
				answers = append(answers, closed()...)
				rateAfter, costAfter := publishPaced(b, ch)
				rates = append(rates, 2*rateWith/(rate+rateAfter))
				costs = append(costs, 2*costWith/(cost+costAfter))
			}
			slices.Sort(rates)
			slices.Sort(costs)
			slices.Sort(answers)
			b.ReportMetric(rates[len(rates)/2], "rate-with/without")
			b.ReportMetric(costs[len(costs)/2], "cpu-with/without")
			b.ReportMetric(answers[len(answers)/2].Seconds()*1000, "ms-median")
			b.ReportMetric(answers[len(answers)-1].Seconds()*1000, "ms-worst")
		})
	}
}

// publishPaced publishes 50,000 messages of 100 B a second for 5 s, or as many as possible, to 1,000 queues in turn, and returns
// the rate per second and the CPU-seconds that the process used in this time.
func publishPaced(b *testing.B, ch *amqp.Channel) (rate, cpu float64) {
	const busy, each, every = 1_000, 100, 2 * time.Millisecond
	began, used := time.Now(), cpuSeconds(b)
	n := 0
	for ; time.Since(began) < 5*time.Second; n += each {
		<-time.After(time.Until(began.Add(time.Duration(n/each) * every)))
		for i := range each {
			if err := ch.PublishWithContext(b.Context(), "", fmt.Sprint("q", (n+i)%busy), false, false, amqp.Publishing{Body: make([]byte, 100)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return float64(n) / time.Since(began).Seconds(), cpuSeconds(b) - used
}

// cpuSeconds returns the CPU time used by this process.
func cpuSeconds(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// openPage makes the requests of a page until the returned function is called, which returns the latency of each answer.
func openPage(b *testing.B, api http.Handler, page []asked) func() []time.Duration {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var answers []time.Duration
	ctx, stop := context.WithCancel(b.Context())
	for _, p := range page {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				answer(b, api, p.path)
				mu.Lock()
				answers = append(answers, time.Since(began))
				mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(time.Until(began.Add(p.every))):
				}
			}
		})
	}
	return func() []time.Duration { stop(); wg.Wait(); return answers }
}

// answer has a handler answer one request as guest.
func answer(b *testing.B, h http.Handler, path string) {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = "127.0.0.1:1"
	r.SetBasicAuth("guest", "guest")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		b.Fatal(w.Code, w.Body)
	}
}
