package integration

import (
	"fmt"
	"path/filepath"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// advance moves the test clock of a broker.
func (b *broker) advance(by string) {
	b.Helper()
	b.request("POST", "/api/x/clock", fmt.Sprintf(`{"advance":%q}`, by), 200)
}

// TestCrashRetries_RETRY4_RETRY6: in a durable classic queue with a ladder, the broker is killed while a message waits: after each start the
// message waits until the same time, is not delivered before it, and has its counts; at the limit it is dead-lettered.
func TestCrashRetries_RETRY4_RETRY6(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	args := amqp.Table{
		"x-delayed-retry-ladder": "1s,1m,1h", "x-delayed-retry-jitter": int32(10), "x-delivery-limit": int32(3),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
	}
	b := startIn(t, dir, "--test-clock=2027-01-01T00:00:00Z")
	c := b.dial()
	c.durable("dead", nil)
	c.durable("q", args)
	c.persistent("q", "1")
	for i, wait := range []struct{ early, late string }{{"999ms", "101ms"}, {"59999ms", "6001ms"}, {"3599999ms", "360001ms"}} {
		d, ok, err := c.Get("q", false)
		if !ok || err != nil || i > 0 && d.Headers["x-delivery-count"] != int64(i) {
			t.Fatal(i, ok, err, d.Headers)
		}
		c.must(d.Reject(true))
		c.persistent("dead", "marker") // written after the reject
		b.kill()
		b = startIn(t, dir, "--test-clock=2027-01-01T00:00:00Z")
		c = b.dial()
		b.advance(wait.early)
		if n := c.counted("q"); n != 0 {
			t.Fatalf("early after return %d", i+1)
		}
		b.advance(wait.late)
	}
	d, ok, err := c.Get("q", false)
	if !ok || err != nil || d.Headers["x-delivery-count"] != int64(3) {
		t.Fatal(ok, err, d.Headers)
	}
	c.must(d.Reject(true))
	b.advance("0")
	c.bodies(c.consume("dead", true), "marker", "marker", "marker", "1")
	b.stop()
}
