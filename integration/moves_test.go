package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// maxDoubled is how many messages a crash in the middle of a move may leave in both queues: one batch.
const maxDoubled = 256

// TestMoveCrash kills the broker at random moments of a move. Each message is in one of the queues, messages of one
// batch may be in both; after repeated moves all are in the target, in order except for duplicates.
func TestMoveCrash(t *testing.T) {
	t.Parallel()
	const all, kills = 6000, 4 // more than can be moved at that rate before the last kill
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	c := b.dial()
	c.durable("dead", nil)
	c.durable("to", nil)
	bodies := make([]string, all)
	for i := range bodies {
		bodies[i] = strconv.Itoa(i)
	}
	c.persistent("dead", bodies...)
	doubled := 0
	for range kills {
		b.request("POST", "/api/x/queues/%2F/dead/move", `{"to":{"queue":"to"},"rate":5000}`, 200)
		<-time.After(time.Duration(30+r.IntN(250)) * time.Millisecond) // chosen by the test
		b.kill()
		b = startIn(t, dir)
		left, arrived := b.holds("dead"), b.holds("to")
		t.Logf("%d left, %d moved", left, arrived)
		if more := left + arrived - all - doubled; more < 0 || more > maxDoubled {
			t.Fatalf("%d in both queues of %d, %d were doubled before", left+arrived, all, doubled)
		} else {
			doubled += more
		}
	}
	var m struct{ ID, State string }
	text := b.request("POST", "/api/x/queues/%2F/dead/move", `{"to":{"queue":"to"}}`, 200)
	must := func(text string) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
	}
	must(text)
	eventually(t, "the move has ended", func() bool {
		must(b.request("GET", "/api/x/moves/"+m.ID, "", 200))
		return m.State != "running"
	})
	seen, last, again := map[int]int{}, -1, 0
	for d := range b.dial().taken("to") {
		n, err := strconv.Atoi(string(d.Body))
		if err != nil {
			t.Fatal(err)
		}
		if seen[n]++; seen[n] > 1 {
			again++
		} else if n < last {
			t.Fatalf("%d comes behind %d", n, last)
		}
		last = max(last, n)
	}
	if len(seen) != all || again != doubled || b.holds("dead") != 0 {
		t.Errorf("%d of %d came, %d twice, %d were doubled, %d are left", len(seen), all, again, doubled, b.holds("dead"))
	}
	b.stop()
}

// TestBackupHasMovedOnce_DUR6: backups taken while messages move between two queues have each message once, in one of
// the two.
func TestBackupHasMovedOnce_DUR6(t *testing.T) {
	t.Parallel()
	const all, backups = 5000, 4
	dir := t.TempDir()
	b := startIn(t, filepath.Join(dir, "data"))
	c := b.dial()
	c.durable("a", nil)
	c.durable("b", amqp.Table{"x-queue-type": "quorum"})
	bodies := make([]string, all)
	for i := range bodies {
		bodies[i] = strconv.Itoa(i)
	}
	c.persistent("a", bodies...)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for from, to := "a", "b"; ; from, to = to, from {
			b.request("POST", "/api/x/queues/%2F/"+from+"/move", fmt.Sprintf(`{"to":{"queue":%q}}`, to), 200)
			for b.holds(from) > 0 {
				select {
				case <-stop:
					return
				default:
				}
			}
		}
	}()
	for i := range backups {
		b.verb(0, "backup", filepath.Join(dir, fmt.Sprint("backup", i)))
	}
	close(stop)
	<-stopped
	b.stop()
	for i := range backups {
		restored := filepath.Join(dir, fmt.Sprint("restored", i))
		if code, out := tool(t, restored, "restore", filepath.Join(dir, fmt.Sprint("backup", i))); code != 0 {
			t.Fatalf("restore: %d %s", code, out)
		}
		b := startIn(t, restored)
		c := b.dial()
		seen, left := map[string]int{}, map[string]int{}
		for _, name := range []string{"a", "b"} {
			for d := range c.taken(name) {
				seen[string(d.Body)]++
				left[name]++
			}
		}
		if len(seen) != all || left["a"]+left["b"] != all {
			t.Errorf("backup %d has %d of %d messages, %v", i, len(seen), all, left)
		}
		t.Logf("backup %d: %v", i, left)
		b.stop()
	}
}

// The command line moves messages.
func TestMoveVerbs(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	c.queue("dead", nil)
	c.queue("orders", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	for i := range 3 {
		c.put("", "orders", amqp.Publishing{Body: fmt.Append(nil, i), Expiration: "0"})
	}
	c.queue("aside", nil)
	for b.holds("dead") < 3 {
		runtime.Gosched()
	}
	if out := b.verb(0, "move_messages", "dead", "origin", "--dry-run"); !strings.Contains(out, "3 messages would go to queue 'orders'") {
		t.Error(out)
	}
	if b.holds("dead") != 3 {
		t.Error("a dry run has moved something")
	}
	b.verb(0, "move_messages", "dead", `{"queue":"aside"}`)
	b.verb(0, "stop_move", "1")
	for b.holds("aside") < 3 {
		runtime.Gosched()
	}
	if out := b.verb(0, "list_moves", "-s", "id", "state", "moved", "left"); !strings.Contains(out, "\t3\t0") {
		t.Error(out)
	}
}
