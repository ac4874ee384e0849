package integration

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
)

var update = flag.Bool("update", os.Getenv("CANDLEMARK_REWRITE") != "", "write the golden files anew")

// trace records messages between actors as lines "from → to: Type".
type trace struct {
	mu    sync.Mutex
	lines []string
}

// outside names the senders of messages that do not come from actors.
var outside = map[string]string{"*mail.Inbound": "reader", "queue.appendDone": "journal", "queue.timerFired": "timer"}

// numbers match the parts of addresses that differ between runs or carry no information: the address of the system, the serial
// numbers of channels, the incarnations of queues.
var numbers = regexp.MustCompile(`^broker/(vhost/%2F/)?|(channel/\d+)\.\d+$|(queue/\w+)/\d+$`)

func name(pid *actor.PID) string {
	if pid == nil {
		return ""
	}
	return numbers.ReplaceAllString(numbers.ReplaceAllString(pid.Id, "$2$3"), "$2$3")
}

func (t *trace) record(from, to *actor.PID, what any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sender, kind := name(from), fmt.Sprintf("%T", what)
	if sender == "" {
		sender = outside[kind]
	}
	t.lines = append(t.lines, fmt.Sprintf("%s → %s: %s", sender, name(to), strings.TrimPrefix(kind, "*")))
}

// take returns the lines recorded since the last call.
func (t *trace) take() []string {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	t.lines = nil
	return renumbered(lines)
}

var connection = regexp.MustCompile(`connection/\d+`)

// renumbered renames connections to 1, 2, … in order of appearance.
func renumbered(lines []string) []string {
	known := map[string]string{}
	for i, line := range lines {
		lines[i] = connection.ReplaceAllStringFunc(line, func(was string) string {
			if known[was] == "" {
				known[was] = fmt.Sprintf("connection/%d", len(known)+1)
			}
			return known[was]
		})
	}
	return lines
}

// golden compares lines with a file of testdata/trace.
func golden(t *testing.T, file string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", "trace", file)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", path, got)
	}
}

// TestTracePublish follows one persistent message from its publisher on
// connection 1 to the consumer on connection 2, its confirm and its ack. The
// golden file is part of docs/ARCHITECTURE.md.
func TestTracePublish(t *testing.T) {
	tr := &trace{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Trace = tr.record }, func(b *testkit.Bubble) {
		publisher, consumer := b.Connect().Open(), b.Connect().Open()
		publisher.Confirms()
		if _, err := publisher.QueueDeclare("orders", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		publisher.Bind("orders", "eu", "amq.direct")
		deliveries := consumer.Subscribe("orders", 10)
		tr.take()
		if !publisher.Publish("amq.direct", "eu", amqp.Publishing{Body: []byte("m"), DeliveryMode: amqp.Persistent}) {
			t.Error("nack")
		}
		d := testkit.Receive(b, deliveries)
		if err := d.Ack(false); err != nil {
			t.Fatal(err)
		}
		golden(t, "publish.golden", tr.take())
	})
}

// TestTraceExpiry follows a message without a consumer: it expires and is dead-lettered.
func TestTraceExpiry(t *testing.T) {
	tr := &trace{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Trace = tr.record }, func(b *testkit.Bubble) {
		publisher := b.Connect().Open()
		publisher.Confirms()
		publisher.Declare("dead", nil)
		publisher.Declare("orders", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		tr.take()
		if !publisher.Publish("", "orders", testkit.Expiring("m", "100")) {
			t.Error("nack")
		}
		b.Advance(1e9)
		golden(t, "expiry.golden", tr.take())
	})
}
