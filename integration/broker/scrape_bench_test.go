package broker

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"candlemark/internal/httpapi"

	amqp "github.com/rabbitmq/amqp091-go"
)

// BenchmarkScrape is a scrape of a broker with 100,000 queues, while 50,000 messages a second go through 1,000 of them.
func BenchmarkScrape(b *testing.B) {
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
	stop, sent := make(chan struct{}), make(chan int)
	go func() {
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
	}()
	server := httpapi.NewMetricsServer(node, 4)
	worst, began := time.Duration(0), time.Now()
	for b.Loop() {
		at := time.Now()
		answer := httptest.NewRecorder()
		server.Handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		if answer.Code != 200 {
			b.Fatal(answer.Code)
		}
		worst = max(worst, time.Since(at))
	}
	close(stop)
	b.ReportMetric(float64(<-sent)/time.Since(began).Seconds(), "msg/s")
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
}
