package integration

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var delayFor = flag.Duration("delays", 2*time.Second, "how long TestDelays publishes 1,000 delays a second")

const (
	delayPublishers = 4
	delayPause      = delayPublishers * time.Millisecond // between publishes of each publisher: 1,000 a second in total
	delayUnused     = 10 * time.Second                   // lease of an unused hold queue beyond its TTL
)

// Delays as clients implement them, 1,000 messages a second with 50 different delays between 50 ms and 2.5 s: each delay has a
// durable hold queue with TTL, dead-letter exchange and lease, redeclared at each publish. No message is early or lost,
// messages of one publisher with one delay arrive in order, and the hold queues expire.
func TestDelays(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	c.must(c.ExchangeDeclare("due", "direct", true, false, false, false, nil))
	_, err := c.QueueDeclare("work", true, false, false, false, nil)
	c.must(err)
	c.must(c.QueueBind("work", "job", "due", false, nil))
	arrivals := c.consume("work", true)
	began := time.Now()
	count := int(*delayFor / delayPause)
	seen := make([][]bool, delayPublishers)
	var publishing sync.WaitGroup
	for p := range seen {
		seen[p] = make([]bool, count)
		pub := b.dial()
		publishing.Go(func() { pub.delay(p, count, began) })
	}
	last := map[[2]int]int{} // by publisher and delay
	var most time.Duration
	for n := range delayPublishers * count {
		d := c.next(arrivals)
		at := time.Since(began)
		var p, i, ms int
		var sent time.Duration
		if _, err := fmt.Sscan(string(d.Body), &p, &i, &ms, &sent); err != nil {
			t.Fatal(err)
		}
		late := at - sent - time.Duration(ms)*time.Millisecond
		if most = max(most, late); late < 0 {
			t.Errorf("message %d of publisher %d came %v early", i, p, -late)
		}
		if seen[p][i] {
			t.Errorf("message %d of publisher %d came twice", i, p)
		}
		seen[p][i] = true
		queue := [2]int{p, ms}
		if before, ok := last[queue]; ok && before > i {
			t.Errorf("publisher %d, %d ms: message %d came behind %d", p, ms, i, before)
		}
		if last[queue] = i; d.Headers["x-first-death-reason"] != "expired" || t.Failed() {
			t.Fatalf("after %d messages: %v", n, d.Headers)
		}
	}
	publishing.Wait()
	t.Logf("%d messages, none later than %v", delayPublishers*count, most)
	eventually(t, "the hold queues go", func() bool {
		return !strings.Contains(b.request("GET", "/api/queues?columns=name", "", 200), "hold")
	})
	select {
	case d := <-arrivals:
		t.Errorf("one more: %+v", d)
	default:
	}
}

// delay publishes count messages at its rate, and waits for the confirms at the end. A body contains the publisher, the message's
// number, its delay in ms and the time at which it was sent.
func (c *client) delay(publisher, count int, began time.Time) {
	pace := time.NewTicker(delayPause)
	defer pace.Stop()
	random := rand.New(rand.NewPCG(1, uint64(publisher)))
	var confirms []*amqp.DeferredConfirmation
	for i := range count {
		<-pace.C
		ms := 50 * (1 + random.IntN(50))
		hold := fmt.Sprint("hold.", ms)
		if _, err := c.QueueDeclare(hold, true, false, false, false, amqp.Table{
			"x-message-ttl": ms, "x-expires": ms + int(delayUnused.Milliseconds()),
			"x-dead-letter-exchange": "due", "x-dead-letter-routing-key": "job",
		}); err != nil {
			c.Error(err)
			return
		}
		body := fmt.Sprint(publisher, " ", i, " ", ms, " ", int64(time.Since(began)))
		confirm, err := c.PublishWithDeferredConfirm("", hold, true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
		if err != nil {
			c.Error(err)
			return
		}
		confirms = append(confirms, confirm)
	}
	if slices.ContainsFunc(confirms, func(d *amqp.DeferredConfirmation) bool { return !d.Wait() }) {
		c.Error("a publish was refused")
	}
}

// The deletion of a virtual host says how many messages it held in queues, and how many waited for their time in
// delayed exchanges and queues.
func TestDLY5_DeletedVHost(t *testing.T) {
	t.Parallel()
	b := start(t)
	publish := func(exchange, key string) {
		b.request("POST", "/api/exchanges/v/"+exchange+"/publish", fmt.Sprintf(`{"properties":{"headers":{"x-delay":3600000}},"routing_key":%q,"payload":"m","payload_encoding":"string"}`, key), 200)
	}
	b.request("PUT", "/api/vhosts/v", "", 201)
	b.request("PUT", "/api/exchanges/v/x", `{"type":"x-delayed-message","arguments":{"x-delayed-type":"fanout"}}`, 201)
	b.request("PUT", "/api/queues/v/q", `{}`, 201)
	b.request("PUT", "/api/queues/v/scheduled", `{"arguments":{"x-delayed-messages":true}}`, 201)
	publish("x", "")
	publish("x", "")
	publish("amq.default", "q")
	publish("amq.default", "scheduled")
	eventually(t, "the figures", func() bool {
		return strings.Contains(b.request("GET", "/api/vhosts/v", "", 200), `"messages_scheduled":3,`)
	})
	if out := b.verb(0, "delete_vhost", "v"); !strings.Contains(out, "Virtual host was deleted with 1 messages, and 3 that waited for their time\n") {
		t.Error(out)
	}
	if out := b.request("GET", "/metrics", "", 200); !strings.Contains(out, `candlemark_lost_messages_total{object="exchange"} 2`) {
		t.Error(out)
	}
}
