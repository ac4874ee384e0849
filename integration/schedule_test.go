package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var manyScheduled = flag.Int("scheduled", 20_000, "how many messages TestDLY14_ManyScheduled schedules")

// TestDLY14_ManyScheduled: persistent messages are scheduled for random times within an hour, and the broker is killed; after the
// restart it has all of them, with their times, and they can be counted, listed, rescheduled and cancelled. The durations are
// logged.
func TestDLY14_ManyScheduled(t *testing.T) {
	besideOthers(t, "scheduled")
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	began := time.Now()
	b.dial().scheduleMany()
	took := time.Since(began)
	t.Logf("scheduled: %d messages in %v, %.0f/s", *manyScheduled, took, float64(*manyScheduled)/took.Seconds())
	b.expectScheduled(*manyScheduled)
	b.kill()
	began = time.Now()
	b = startIn(t, dir)
	t.Logf("back after %v", time.Since(began))
	b.expectScheduled(*manyScheduled)
	b.walkSchedule()
	c := b.dial()
	from := c.consume("later", true)
	for i := range 50 {
		b.request("PUT", inQueue+"?message_id="+strconv.Itoa(i*7), fmt.Sprintf(`{"delay":%d}`, 2000-i*10), 200)
	}
	for i := range 50 {
		b.request("DELETE", inQueue+"?message_id="+strconv.Itoa(i*7+1), "", 200)
	}
	for range 50 {
		m := c.next(from)
		if n, err := strconv.Atoi(string(m.Body)); err != nil || n%7 != 0 || n >= 350 {
			t.Errorf("%s came", m.Body)
		}
	}
	b.expectScheduled(*manyScheduled - 100)
	b.kill()
	b = startIn(t, dir)
	b.expectScheduled(*manyScheduled - 100)
	b = b.sweepSchedule(dir)
	b.stop()
}

// sweepSchedule changes messages by filters, and kills the broker after each answer, which holds (DLY-17).
func (b *broker) sweepSchedule(dir string) *broker {
	left := *manyScheduled - 100
	half := strconv.FormatInt(time.Now().Add(40*time.Minute).UnixMilli(), 10)
	var answer struct{ Matched, Cancelled, Rescheduled int }
	ask := func(method, query, body string) {
		if text := b.request(method, inQueue+query, body, 200); json.Unmarshal([]byte(text), &answer) != nil {
			b.Fatal(text)
		}
	}
	ask("DELETE", "?dry_run=true&due_before="+half, "")
	ask("PUT", "", `{"due_before":"`+half+`","delay":86400000}`)
	if answer.Matched != answer.Rescheduled || answer.Matched == 0 || answer.Matched == left {
		b.Errorf("%+v of %d", answer, left)
	}
	b.kill()
	b = startIn(b.T, dir)
	ask("DELETE", "?dry_run=true&due_before="+half, "")
	if answer.Matched != 0 {
		b.Errorf("%d messages have their former times", answer.Matched)
	}
	ask("DELETE", "?headers="+url.QueryEscape(`{"kind":0}`), "")
	if answer.Cancelled < left/4 || answer.Cancelled > left {
		b.Errorf("%d of %d cancelled", answer.Cancelled, left)
	}
	b.kill()
	b = startIn(b.T, dir)
	b.expectScheduled(left - answer.Cancelled)
	return b
}

const inQueue = "/api/x/queues/%2F/later/scheduled"

func (c *client) scheduleMany() {
	_, err := c.QueueDeclare("later", true, false, false, false, amqp.Table{"x-delayed-messages": true})
	c.must(err)
	confirms := c.NotifyPublish(make(chan amqp.Confirmation, longWindow))
	window, done := make(chan struct{}, longWindow), make(chan int)
	go func() {
		acked := 0
		for range *manyScheduled {
			if m, ok := <-confirms; !ok || !m.Ack {
				break
			}
			acked++
			<-window
		}
		done <- acked
	}()
	for i := range *manyScheduled {
		window <- struct{}{}
		at := time.Now().Add(10*time.Minute + rand.N(time.Hour)).UnixMilli()
		name := strconv.Itoa(i)
		c.must(c.Channel.PublishWithContext(c.Context(), "", "later", false, false, amqp.Publishing{
			DeliveryMode: 2, Body: []byte(name), MessageId: name, Headers: amqp.Table{"x-deliver-at": at, "kind": int32(i % 2)},
		}))
	}
	if acked := <-done; acked != *manyScheduled {
		c.Fatalf("%d of %d messages were confirmed", acked, *manyScheduled)
	}
}

// expectScheduled checks the counts.
func (b *broker) expectScheduled(want int) {
	b.Helper()
	var counts struct {
		Count     int            `json:"count"`
		Histogram map[string]int `json:"histogram"`
	}
	began := time.Now()
	text := b.request("GET", inQueue+"/counts", "", 200)
	b.Logf("counted in %v: %s", time.Since(began), text)
	if err := json.Unmarshal([]byte(text), &counts); err != nil {
		b.Fatal(err)
	}
	sum := 0
	for _, n := range counts.Histogram {
		sum += n
	}
	if counts.Count != want || sum != want {
		b.Errorf("%s, want %d", text, want)
	}
}

// walkSchedule reads the list, or 50 pages of it, and checks its order.
func (b *broker) walkSchedule() {
	b.Helper()
	seen, last, after := map[string]bool{}, "", ""
	var took []time.Duration
	for range 50 {
		var page struct {
			Messages []struct {
				ID, Due   string
				MessageID string `json:"message_id"`
			}
			Next *string
		}
		began := time.Now()
		text := b.request("GET", inQueue+"?limit=1000&after="+url.QueryEscape(after), "", 200)
		took = append(took, time.Since(began))
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			b.Fatal(err)
		}
		for _, m := range page.Messages {
			if seen[m.MessageID] || m.Due < last || m.MessageID == "" {
				b.Fatalf("%+v behind %s", m, last)
			}
			seen[m.MessageID], last = true, m.Due
		}
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	slices.Sort(took)
	b.Logf("%d messages listed, a page of 1000 in %v, %v at most", len(seen), took[len(took)/2], took[len(took)-1])
	if want := min(*manyScheduled, 50_000); len(seen) != want {
		b.Errorf("%d messages are listed, want %d", len(seen), want)
	}
}
