package integration

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var longMessages = flag.Int("long", 30_000, "how many messages TestLongQueue puts into its queue")

const (
	longBody   = 1024      // bytes
	longWindow = 2000      // outstanding confirms, and prefetch
	longMemory = 3 << 29   // memory that the broker may use, 1.5 GiB
	longLimit  = "1400MiB" // its watermark
)

// TestLongQueue: a queue longer than memory is filled with confirmed persistent messages, the broker is killed and started again,
// and all are delivered, in order, none redelivered. The duration of each part is logged.
func TestLongQueue(t *testing.T) {
	besideOthers(t, "long")
	dir := filepath.Join(t.TempDir(), "data")
	flags := []string{"--memory-high-watermark", longLimit}
	b := startIn(t, dir, flags...)
	b.timed("filled", func() { b.dial().fill() })
	b.spends("filling")
	b.kill()
	b = startIn(t, dir, flags...)
	for _, line := range regexp.MustCompile(`"(?:took|after)":([0-9.]+)`).FindAllStringSubmatch(b.log.String(), 2) {
		t.Logf("start: %s ms", line[1])
	}
	b.timed("drained", func() { b.dial().empty() })
	b.spends("draining")
	b.stop()
}

func (b *broker) timed(what string, f func()) {
	began := time.Now()
	f()
	took := time.Since(began)
	b.Logf("%s: %d messages in %v, %.0f/s", what, *longMessages, took, float64(*longMessages)/took.Seconds())
}

// spends checks the peak memory of the broker.
func (b *broker) spends(during string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if err != nil || found == nil {
		b.Logf("this system does not report memory use: %v", err)
		return
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	if b.Logf("%s: at most %d kB", during, kilobytes); kilobytes*1024 > longMemory {
		b.Errorf("%d kB of memory", kilobytes)
	}
}

func (c *client) fill() {
	_, err := c.QueueDeclare("long", true, false, false, false, nil)
	c.must(err)
	confirms := c.NotifyPublish(make(chan amqp.Confirmation, longWindow))
	window, done := make(chan struct{}, longWindow), make(chan int)
	go func() {
		acked := 0
		for range *longMessages {
			if m, ok := <-confirms; !ok || !m.Ack {
				break
			}
			acked++
			<-window
		}
		done <- acked
	}()
	for i := range *longMessages {
		window <- struct{}{}
		body := make([]byte, longBody)
		copy(body, strconv.Itoa(i)+"\n")
		c.must(c.Channel.PublishWithContext(c.Context(), "", "long", false, false, amqp.Publishing{DeliveryMode: 2, Body: body}))
	}
	if acked := <-done; acked != *longMessages {
		c.Fatalf("%d of %d messages were confirmed", acked, *longMessages)
	}
}

func (c *client) empty() {
	c.must(c.Qos(longWindow, 0, false))
	from := c.consume("long", false)
	for i := range *longMessages {
		m := c.next(from)
		if want := strconv.Itoa(i) + "\n"; m.Redelivered || len(m.Body) != longBody || string(m.Body[:len(want)]) != want {
			c.Fatalf("message %d: %q, redelivered %v", i, m.Body[:10], m.Redelivered)
		}
		if i%500 == 499 || i == *longMessages-1 {
			c.must(m.Ack(true))
		}
	}
}
