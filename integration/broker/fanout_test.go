package broker

import (
	"fmt"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A body routed to many queues is stored in memory once and counted once: a body of 12 MB in 1,000 queues does not count as 12
// GB, and raises no alarm at 500 MB. A dead letter shares the body of its original.
func TestFanOutCountsOnce_Alarms(t *testing.T) {
	for _, queues := range []int{400, 1000} {
		for _, mode := range []uint8{amqp.Transient, amqp.Persistent} {
			t.Run(fmt.Sprintf("queues=%d, mode=%d", queues, mode), func(t *testing.T) {
				metered(t, func(b *testkit.Bubble, _ *meter) {
					p := connectPublisher(b)
					p.Exchange("all", "fanout")
					for n := range queues {
						name := fmt.Sprint("q", n)
						p.Declare(name, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
						p.Bind(name, "", "all")
					}
					p.Declare("dead", nil)
					p.Confirms()
					if !p.Publish("all", "", amqp.Publishing{DeliveryMode: mode, Body: make([]byte, 12*mb)}) {
						t.Error("refused")
					}
					testkit.Silent(b, p.news, 5*time.Second)
					if n := b.Describe("q1").Paged; n != 0 {
						t.Errorf("%d contents left memory", n)
					}
					d, _, err := p.Get("q0", false)
					if err != nil || len(d.Body) != 12*mb {
						t.Fatalf("%d bytes, %v", len(d.Body), err)
					}
					if err := d.Reject(false); err != nil {
						t.Fatal(err)
					}
					b.Advance(5 * time.Second)
					p.Publish("", "q0", testkit.Text("not blocked"))
					testkit.Silent(b, p.news, 5*time.Second)
					if d := p.Fetch("dead"); d == nil || len(d.Body) != 12*mb {
						t.Error("no dead letter")
					}
				})
			})
		}
	}
}
