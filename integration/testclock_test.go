package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	amqp "github.com/rabbitmq/amqp091-go"
)

// clockOf returns what the broker's clock shows, in ms.
func clockOf(b *broker) int64 {
	b.Helper()
	var now struct {
		Time int64 `json:"time_ms"`
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/x/clock", "", 200)), &now); err != nil {
		b.Fatal(err)
	}
	return now.Time
}

// TestKilledInMove_CLK9: a broker killed in the middle of a move never goes back, and nothing that was due is lost: a dead letter that was on
// its way may arrive twice, as after any crash.
func TestKilledInMove_CLK9(t *testing.T) {
	t.Parallel()
	dir, random := filepath.Join(t.TempDir(), "data"), rand.New(rand.NewPCG(1, 9))
	const messages, rounds = 400, 6
	b := startIn(t, dir, "--test-clock=2027-01-01T00:00:00Z")
	last, c := clockOf(b), b.dial()
	c.durable("dead", nil)
	c.durable("q", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	for i := range messages {
		c.put("", "q", amqp.Publishing{DeliveryMode: 2, Body: fmt.Append(nil, i), Expiration: fmt.Sprint(1000 + i*1000)})
	}
	for range rounds {
		moved := make(chan struct{})
		go func() { // the answer may never come
			defer close(moved)
			r, err := http.NewRequest("POST", "http://"+b.http+"/api/x/clock", strings.NewReader(`{"advance":"60s"}`))
			if err != nil {
				return
			}
			r.SetBasicAuth("guest", "guest")
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}()
		after := time.NewTimer(time.Duration(random.IntN(40)) * time.Millisecond)
		<-after.C // a power cut waits for nothing
		b.kill()
		<-moved
		b = startIn(t, dir, "--test-clock=2027-01-01T00:00:00Z")
		now := clockOf(b)
		if now < last {
			t.Errorf("the clock went back by %d ms", last-now)
		}
		last = now
	}
	b.request("POST", "/api/x/clock", `{"advance":"1h"}`, 200)
	c = b.dial()
	seen := map[string]bool{}
	for d := range c.taken("dead") {
		seen[string(d.Body)] = true
	}
	if left := c.counted("q"); len(seen) != messages || left != 0 {
		t.Errorf("%d of %d messages were dead-lettered, %d left", len(seen), messages, left)
	}
}

// TestPublisher_CLK4: a publisher that is faster than its consumer does not hang while the clock stands still: credit is withheld from it in
// real time.
func TestPublisher_CLK4(t *testing.T) {
	t.Parallel()
	b := startIn(t, "", "--test-clock", "--in-memory")
	c, worker := b.dial(), b.dial()
	c.queue("flow", nil)
	worker.must(worker.Qos(1, 0, false))
	deliveries := worker.consume("flow", false)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for d := range deliveries {
			<-tick.C
			_ = d.Ack(false)
		}
	}()
	sent, body := make(chan error, 1), make([]byte, 600)
	go func() {
		for range 60_000 {
			if err := c.Publish("", "flow", false, false, amqp.Publishing{Body: body}); err != nil {
				sent <- err
				return
			}
		}
		_, err := c.QueueDeclarePassive("flow", false, false, false, false, nil)
		sent <- err
	}()
	select {
	case err := <-sent:
		c.must(err)
	case <-time.After(patience):
		t.Fatal("the publisher hangs")
	}
}

// TestChain_CLK5: messages pass a chain of ten queues with a TTL of a day each in one move, on disk and in memory.
func TestChain_CLK5(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"disk": {"--test-clock"}, "memory": {"--test-clock", "--in-memory"}} {
		t.Run(name, func(t *testing.T) {
			const queues, messages = 10, 300
			dir := filepath.Join(t.TempDir(), "data")
			if name == "memory" {
				dir = ""
			}
			b := startIn(t, dir, flags...)
			c := b.dial()
			for i := range queues {
				c.durable(fmt.Sprint("q", i), amqp.Table{"x-message-ttl": 86_400_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": fmt.Sprint("q", i+1)})
			}
			c.durable(fmt.Sprint("q", queues), nil)
			for i := range messages {
				c.put("", "q0", amqp.Publishing{DeliveryMode: 2, Body: fmt.Append(nil, i)})
			}
			b.request("POST", "/api/x/clock", `{"advance":"11d"}`, 200)
			if n := c.counted(fmt.Sprint("q", queues)); n != messages {
				t.Errorf("%d of %d messages have arrived", n, messages)
			}
		})
	}
}

// TestStopWithStdin: a broker in memory tells where it listens, stops when its standard input ends, and leaves nothing.
func TestStopWithStdin(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), path, "serve", "--in-memory", "--test-clock", "--ready-json", "--port-file", "ports", "--stop-with-stdin", "--amqp", "127.0.0.1:0", "--http", "127.0.0.1:0")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var at struct {
		AMQP []string
		Test bool `json:"test_clock"`
	}
	if err := json.NewDecoder(out).Decode(&at); err != nil || !at.Test {
		t.Fatal(at, err)
	}
	conn, err := amqp.Dial("amqp://guest:guest@" + at.AMQP[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if found, _ := filepath.Glob(dir + "/*"); len(found) != 1 || filepath.Base(found[0]) != "ports" {
		t.Error(found)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(dir + "/*"); len(found) != 0 {
		t.Error(found)
	}
}

// TestPageClock_CLK11: each page of a broker with a test clock has a bar with the time and, for administrators, buttons that move it.
func TestPageClock_CLK11(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t, "--test-clock=2027-01-01T00:00:00Z")
	c := b.dial()
	c.durable("orders", amqp.Table{"x-expires": 90_000_000})
	b.request("PUT", "/api/users/ann", `{"password":"a","tags":"monitoring"}`, 201)
	w := br.open(b, "#/queues")
	w.logIn("guest", "guest")
	w.sees("2027-01-01 00:00:00.000 UTC frozen")
	w.sees("orders")
	w.click("button", "+1 h")
	w.sees("2027-01-01 01:00:00.000 UTC frozen")
	w.do(chromedp.Navigate(w.url("#/now")))
	w.sees("2027-01-01 01:00:00.000 UTC frozen")
	w.click("button", "Next")
	w.sees("2027-01-02 01:00:00.000 UTC frozen")
	w.click("button", "Run")
	w.sees("UTC running")
	w.click("button", "Freeze")
	w.sees("UTC frozen")
	w.shoot("clock")
	w.resize(look{width: 400, height: 800})
	w.shoot("clock-narrow")
	if wide := eval[bool](w, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the bar makes a narrow page scroll")
	}
	w.click("button", "Log out")
	w.logIn("ann", "a")
	w.sees("UTC frozen")
	if n := eval[int](w, "document.querySelectorAll('.clock button').length"); n != 0 {
		t.Errorf("%d buttons for a user who may not move the clock", n)
	}
	other := br.open(start(t), "#/queues")
	other.logIn("guest", "guest")
	other.sees("Add queue")
	if eval[bool](other, "!document.querySelector('.clock').hidden") {
		t.Error("a bar without a test clock")
	}
}
