package broker

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/httpapi/site"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// BenchmarkManyQueues measures requests to a broker with 100,000 queues, while 50,000 messages a second pass through 1,000 of
// them: a scrape, and pages of the list of queues.
func BenchmarkManyQueues(b *testing.B) {
	const queues, busy = 100_000, 1_000
	node, ch := benchBroker(b)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	for i := range queues {
		_, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, false, amqp.Table{"x-max-length": 10})
		must(err)
	}
	publish := func(stop chan struct{}, sent chan int) {
		n, tick := 0, time.NewTicker(10*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				for range 500 {
					if ch.PublishWithContext(b.Context(), "", fmt.Sprint("q", n%busy), false, false, amqp.Publishing{Body: make([]byte, 100)}) == nil {
						n++
					}
				}
			case <-stop:
				sent <- n
				return
			}
		}
	}
	api := httpapi.NewHandler(node.API(), auth.NewGuest(), zerolog.Nop())
	for name, ask := range map[string]struct {
		handler http.Handler
		path    string
	}{
		"scrape":              {httpapi.NewMetricsServer(node.API(), site.New(site.Config{}), 4, false).Handler, "/metrics"},
		"page":                {api, "/api/queues?page=1&page_size=100"},
		"page of the longest": {api, "/api/queues?page=1&page_size=100&sort=messages&sort_reverse=true"},
		"page by a name":      {api, "/api/queues?page=1&page_size=100&name=99&use_regex=false"},
	} {
		b.Run(name, func(b *testing.B) {
			stop, sent := make(chan struct{}), make(chan int)
			go publish(stop, sent)
			worst, began := time.Duration(0), time.Now()
			for b.Loop() {
				at := time.Now()
				answer(b, ask.handler, ask.path)
				worst = max(worst, time.Since(at))
			}
			close(stop)
			b.ReportMetric(float64(<-sent)/time.Since(began).Seconds(), "msg/s")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
		})
	}
}
