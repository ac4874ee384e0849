package integration

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCrashPause_PAUSE5: a paused queue is paused after the broker was killed, until the same time.
func TestCrashPause_PAUSE5(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	const begin = "--test-clock=2027-01-01T00:00:00Z"
	b := startIn(t, dir, begin)
	c := b.dial()
	c.durable("q", nil)
	c.persistent("q", "1")
	b.request("PUT", "/api/x/queues/%2F/q/pause", `{"for":"1h"}`, 200)
	for _, by := range []string{"10m", "49m59999ms"} {
		b.kill()
		b = startIn(t, dir, begin)
		b.advance(by)
		if q := b.request("GET", "/api/queues/%2F/q", "", 200); !strings.Contains(q, `"state":"paused"`) || !strings.Contains(q, `"paused_until":"2027-01-01T01:00:00.000+00:00"`) {
			t.Fatalf("after %s: %s", by, q)
		}
	}
	c = b.dial()
	if _, ok, err := c.Get("q", true); ok || err != nil {
		t.Fatal("early", err)
	}
	b.kill()
	b = startIn(t, dir, begin)
	b.advance("1ms")
	c = b.dial()
	if d, ok, err := c.Get("q", true); !ok || err != nil || string(d.Body) != "1" {
		t.Fatal(ok, err)
	}
	b.stop()
}

// TestPagePause_PAUSE4: a queue is paused and resumed on its page.
func TestPagePause_PAUSE4(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.dial().durable("orders", nil)
	w := br.open(b, "#/queue/%2F/orders")
	w.logIn("guest", "guest")
	w.click("button", "Pause")
	w.sees("The queue is paused: consumers get nothing.")
	w.click("button", "Resume")
	w.sees("The queue is not paused.")
}
