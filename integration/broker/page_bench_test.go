package broker

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"candlemark/internal/auth"
	"candlemark/internal/httpapi"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// asked is a request of a web page, and how often it makes it.
type asked struct {
	path  string
	every time.Duration
}

// openPages has the requests of web pages while they are open (internal/httpapi/ui/static/pages).
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

// BenchmarkPageOpen is a broker with 100,000 queues that takes messages for 1,000 of them as fast as both cores can do, with a web page
// open and without, in turns of 5 s: how many of them it takes with the page for each that it takes without, and how long answers take.
func BenchmarkPageOpen(b *testing.B) {
	const queues, busy = 100_000, 1_000
	node, ch := benchBroker(b)
	for i := range queues {
		if _, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, false, amqp.Table{"x-max-length": 10}); err != nil {
			b.Fatal(err)
		}
	}
	api := httpapi.NewHandler(node, auth.NewGuest(), zerolog.Nop())
	published := 0
	turn := func(page []asked, answers *[]time.Duration) float64 {
		began := time.Now()
		due := slices.Repeat([]time.Time{began}, len(page))
		n := 0
		for ; time.Since(began) < 5*time.Second; n += 100 {
			for i, p := range page {
				if now := time.Now(); !now.Before(due[i]) {
					due[i] = now.Add(p.every)
					answer(b, api, p.path)
					*answers = append(*answers, time.Since(now))
				}
			}
			for range 100 {
				published++
				if err := ch.PublishWithContext(b.Context(), "", fmt.Sprint("q", published%busy), false, false, amqp.Publishing{Body: make([]byte, 100)}); err != nil {
					b.Fatal(err)
				}
			}
		}
		return float64(n) / time.Since(began).Seconds()
	}
	turn(nil, nil)
	for name, page := range openPages {
		b.Run(name, func(b *testing.B) {
			var ratios []float64
			var answers []time.Duration
			for b.Loop() {
				before, with := turn(nil, nil), turn(page, &answers)
				ratios = append(ratios, 2*with/(before+turn(nil, nil)))
			}
			slices.Sort(ratios)
			slices.Sort(answers)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
			b.ReportMetric(answers[len(answers)/2].Seconds()*1000, "ms-median")
			b.ReportMetric(answers[len(answers)-1].Seconds()*1000, "ms-worst")
		})
	}
}

// answer has a handler answer one request of guest's.
func answer(b *testing.B, h http.Handler, path string) {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = "127.0.0.1:1"
	r.SetBasicAuth("guest", "guest")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		b.Fatal(w.Code, w.Body)
	}
}
