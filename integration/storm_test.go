package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// storm declares queues that forward to a fanout exchange to which all of them are bound.
func storm(c *client, queues int, durable bool) (names []string) {
	c.must(c.ExchangeDeclare("storm", "fanout", durable, false, false, false, nil))
	for i := range queues {
		names = append(names, fmt.Sprint("storm-", i))
		_, err := c.QueueDeclare(names[i], durable, false, false, false, amqp.Table{"x-forward-to": "storm"})
		c.must(err)
		c.must(c.QueueBind(names[i], "", "storm", false, nil))
	}
	return names
}

// messages returns the number of messages in all queues.
func (b *broker) messages() int {
	var overview struct {
		Totals struct{ Messages int } `json:"queue_totals"`
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/overview", "", 200)), &overview); err != nil {
		b.Fatal(err)
	}
	return overview.Totals.Messages
}

// TestDL32_ForwardStorm: one small publish to queues that forward to each other makes a limited number of messages,
// also if the broker is killed in the storm. Memory stays below the watermark, others are not blocked, and the storm
// can be deleted.
func TestDL32_ForwardStorm(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable ", durable), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			b := startIn(t, dir, watermarkAt(soakWatermark)...)
			c := b.dial()
			names := storm(c, 40, durable)
			c.put("storm", "", amqp.Publishing{Body: []byte("0123456789"), DeliveryMode: 2})
			if durable {
				b.kill()
				b = startIn(t, dir, watermarkAt(soakWatermark)...)
				c = b.dial()
			}
			most := b.watchMemory()
			eventually(t, "the end of the storm", func() bool {
				n := b.messages()
				if n > 1<<18 {
					t.Fatalf("%d messages", n)
				}
				return n == 0 && strings.Contains(b.log.String(), "too many copies")
			})
			c.put("", c.queue("mine", nil), amqp.Publishing{Body: []byte("x")})
			begin := time.Now()
			c.must(c.ExchangeDelete("storm", false, false))
			for _, name := range names {
				_, err := c.QueueDelete(name, false, false, false)
				c.must(err)
			}
			t.Logf("deleted in %v", time.Since(begin))
			if peak := most(); peak > soakWatermark && !racing {
				t.Errorf("memory came to %d MB", peak/1e6)
			}
			if n := strings.Count(b.log.String(), "too many copies"); n > 3 {
				t.Errorf("%d lines in the log", n)
			}
			if n := b.messages(); n != 1 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}
