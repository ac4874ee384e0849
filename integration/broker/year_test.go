package broker

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
	"candlemark/supervision"
	"candlemark/supervision/testclock"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A year is told to ten queues, with a day for each of their deadlines.
const (
	day  = 24 * time.Hour
	days = int64(day / time.Millisecond)
)

// year is the story of ten queues with TTLs, delays, leases, retries, locks, pauses and schedules, in moves of a test clock.
type year struct {
	b  *testkit.Bubble
	ch *testkit.Channel
}

// yearsQueues are the queues of the story: what dies arrives in the last one.
var yearsQueues = []struct {
	name string
	args amqp.Table
}{
	{"first", deadTo("second", "x-message-ttl", 10*days)},
	{"second", deadTo("dead", "x-message-ttl", 50*days)},
	{"work", deadTo("retry")},
	{"retry", deadTo("work", "x-message-ttl", 3*days+1)},
	{"ladder", deadTo("dead", "x-delayed-retry-ladder", fmt.Sprintf("%d,%d,%d", days, 5*days, 30*days), "x-delivery-limit", 20)},
	{"leased", deadTo("dead", "x-expires", 40*days, "x-expires-renewed-by", "publish", "x-dead-letter-on-expiry", true)},
	{"held", deadTo("dead", "x-consumer-timeout", 70*days)},
	{"paused", deadTo("dead", "x-message-ttl", 100*days)},
	{"nightly", nil},
	{"dead", nil},
}

// yearsSchedules publish to them.
var yearsSchedules = map[string]string{
	"nightly": `"cron":"30 2 * * *","zone":"America/New_York","queue":"nightly","templates":true,"body":"${time} ${run}"`,
	"skip":    `"every":"7h","jitter":"1h","queue":"paused","overlap":"skip"`,
	"replace": `"cron":"0 0 * * MON","queue":"nightly","overlap":"replace"`,
	"monthly": `"cron":"0 12 1 * *","zone":"Europe/Berlin","queue":"leased","end":"2000-07-15T00:00:00Z"`,
	"next":    `"cron":"@weekly","queue":"first","expires":"next"`,
	"few":     `"every":"9d","queue":"work","count":3`,
}

func (y *year) begin(mode int) {
	y.ch = y.b.Connect().Open()
	y.ch.Confirms()
	for _, q := range yearsQueues {
		durable(y.b, y.ch, q.name, q.args)
	}
	if err := y.ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
		y.b.Fatal(err)
	}
	y.ch.Bind("first", "", "later")
	for name, value := range yearsSchedules {
		putSchedule(y.b, name, fmt.Sprintf(`{%s,"properties":{"delivery_mode":%d}}`, value, mode))
	}
	for _, q := range yearsQueues[:8] {
		for i := range 4 {
			y.ch.Publish("", q.name, amqp.Publishing{Body: fmt.Append(nil, q.name, i), DeliveryMode: uint8(mode)})
			y.b.Advance(calm)
		}
		y.ch.Publish("later", "", amqp.Publishing{Body: []byte("for " + q.name), DeliveryMode: uint8(mode), Headers: amqp.Table{"x-delay": int64(len(q.name)) * 50 * days}})
	}
	s := &story{b: y.b}
	s.pause("paused", fmt.Sprintf(`{"for":%d}`, 200*days))
	for _, queue := range []string{"work", "ladder"} { // workers that fail
		worker := y.b.Connect().Open()
		go func() {
			for d := range worker.Subscribe(queue, 1) {
				_ = d.Reject(queue == "ladder")
			}
		}()
	}
	_ = y.b.Connect().Open().Subscribe("held", 2) // a worker that hangs
	late := y.b.Connect().Open()
	go func() {
		for d := range late.Subscribe("paused", 10) {
			_ = d.Ack(false)
		}
	}()
	y.b.Advance(calm)
}

// end returns what is in the queues, and what the schedules have done.
func (y *year) end() string {
	var text strings.Builder
	y.ch = y.b.Connect().Open()
	for _, q := range yearsQueues {
		fmt.Fprintf(&text, "%s:", q.name)
		if y.b.Queue(q.name) == nil {
			text.WriteString(" gone\n")
			continue
		}
		var list []string
		for d := y.ch.Fetch(q.name); d != nil; d = y.ch.Fetch(q.name) {
			list = append(list, fmt.Sprintf(" %s%s%v%s", d.Body, d.MessageId, d.Headers["x-schedule-run"], diedWhen(d.Headers)))
		}
		slices.Sort(list) // of what falls due in the same ms either may be the first
		text.WriteString(strings.Join(list, "") + "\n")
	}
	all, err := y.b.Node.API().ListSchedules(y.b.Context(), "/", "")
	if err != nil {
		y.b.Error(err)
	}
	for _, x := range all {
		fmt.Fprintln(&text, x.Name, x.State, x.Next, x.Runs, x.Stored, x.Skipped, x.Missed, x.Refused)
	}
	return text.String()
}

// TestYear_CLK5: a year passes for ten queues: one move and a thousand small ones lead to the same end, in memory and in a journal on the disk.
func TestYear_CLK5(t *testing.T) {
	tell := func(disk bool, mode, moves int) (end string) {
		dir := filepath.Join(t.TempDir(), "journal")
		var journal *segment.Journal
		testkit.RunStored(t, func(cfg *supervision.Config) {
			withTestClock(cfg)
			if disk {
				var err error
				if journal, _, err = segment.Open(vfs.OS, dir, segment.Options{SegmentSize: 4 << 20}); err != nil {
					t.Fatal(err)
				}
				cfg.Journal = journal
			}
		}, func(b *testkit.Bubble) {
			b.Log.Allow(testclock.Warning, "timeout", "PRECONDITION_FAILED", "delivery acknowledgement")
			if disk {
				b.Cleanup(func() { _ = journal.Close() })
			}
			y := &year{b: b}
			y.begin(mode)
			for range moves {
				move(b, 365*day/time.Duration(moves))
				b.Advance(calm)
			}
			end = y.end()
		})
		return end
	}
	one := tell(false, 1, 1)
	if strings.Count(one, "-05:00 ") < 100 || strings.Count(one, "-04:00 ") < 200 || !strings.Contains(one, "leased: gone") || !strings.Contains(one, "ladder:\n") {
		t.Error(one)
	}
	for name, other := range map[string]string{
		"a thousand moves": tell(false, 1, 1000), "one move on disk": tell(true, 2, 1), "a thousand moves on disk": tell(true, 2, 1000),
	} {
		if other != one {
			t.Errorf("one move:\n%s\n%s:\n%s", one, name, other)
		}
	}
}
