package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// publisher publishes numbered messages to a queue of its own, and records the number up to which all are confirmed.
type publisher struct {
	queue     string
	confirmed atomic.Int64
}

// work publishes until stop is closed or the connection ends.
func (p *publisher) work(c *client, stop <-chan struct{}) {
	for n := int64(1); ; {
		var last *amqp.DeferredConfirmation
		for range 20 {
			var err error
			if last, err = c.PublishWithDeferredConfirm("", p.queue, false, false, amqp.Publishing{DeliveryMode: 2, Body: fmt.Appendf(nil, "%d", n)}); err != nil {
				return
			}
			n++
		}
		select {
		case <-last.Done():
		case <-stop:
			return
		}
		p.confirmed.Store(n - 1) // confirms for one queue arrive in order
	}
}

// churn declares durable queues, publishes a message to each and deletes it again, so that definitions and messages change
// together.
func churn(c *client, stop <-chan struct{}) {
	for n := 0; ; n++ {
		name := fmt.Sprint("short", n%5)
		if _, err := c.QueueDeclare(name, true, false, false, false, nil); err != nil {
			return
		}
		last, err := c.PublishWithDeferredConfirm("", name, false, false, amqp.Publishing{DeliveryMode: 2})
		if err != nil {
			return
		}
		select {
		case <-last.Done():
		case <-stop:
			return
		}
		if n%5 != 0 {
			continue
		}
		if _, err := c.QueueDelete(name, false, false, false); err != nil {
			return
		}
	}
}

// loaded starts publishers to the queues a and b and other load; call end when the broker has ended.
func (b *broker) loaded() (publishers []*publisher, end func()) {
	b.Helper()
	c := b.dial()
	for _, name := range []string{"a", "b", "ballast"} {
		_, err := c.QueueDeclare(name, true, false, false, false, nil)
		c.must(err)
	}
	for range 6 {
		c.put("", "ballast", amqp.Publishing{DeliveryMode: 2, Body: make([]byte, 4<<20)})
	}
	publishers = []*publisher{{queue: "a"}, {queue: "b"}}
	stop := make(chan struct{})
	var load sync.WaitGroup
	for _, p := range publishers {
		conn := b.dial()
		load.Go(func() { p.work(conn, stop) })
	}
	conn := b.dial()
	load.Go(func() { churn(conn, stop) })
	eventually(b.T, "messages are confirmed", func() bool { return publishers[0].confirmed.Load() > 100 && publishers[1].confirmed.Load() > 100 })
	return publishers, func() {
		close(stop)
		load.Wait()
	}
}

// accounts fails the test unless a queue has the messages 1 to n, each once and in order, among them all that were confirmed.
func (p *publisher) accounts(c *client, confirmed int64) {
	c.Helper()
	q, err := c.QueueDeclarePassive(p.queue, true, false, false, false, nil)
	c.must(err)
	if int64(q.Messages) < confirmed {
		c.Fatalf("%s has %d messages, %d were confirmed", p.queue, q.Messages, confirmed)
	}
	from := c.consume(p.queue, true)
	for n := range q.Messages {
		if d := c.next(from); string(d.Body) != fmt.Sprint(n+1) {
			c.Fatalf("%s: message %s is number %d", p.queue, d.Body, n+1)
		}
	}
}

// TestBackup: a backup of a broker under load, with queues being declared and deleted, has every message confirmed before it,
// once, and a broker starts on the restored backup. A broker killed in the middle of a backup has lost nothing, and the
// incomplete backup is refused.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startIn(t, filepath.Join(dir, "data"))
	publishers, end := b.loaded()
	before := []int64{publishers[0].confirmed.Load(), publishers[1].confirmed.Load()}
	folder := filepath.Join(dir, "backup")
	if out := b.verb(0, "backup", folder); !strings.Contains(out, "\nfinished\t"+folder+"\t") {
		t.Errorf("backup: %s", out)
	}
	if publishers[0].confirmed.Load() <= before[0] {
		t.Error("nothing was confirmed meanwhile")
	}
	for _, args := range [][]string{{"backup", folder}, {"backup", "relative"}, {"cancel_backup"}} {
		b.verb(69, args...)
	}
	b.request("PUT", "/api/users/monitor", `{"password":"x","tags":"monitoring"}`, 201)
	b.verb(69, "backup", filepath.Join(dir, "other"), "--url", "http://monitor:x@"+b.http)

	half := filepath.Join(dir, "half")
	b.request("POST", "/api/x/backup", `{"path":"`+half+`"}`, 200)
	killed := []int64{publishers[0].confirmed.Load(), publishers[1].confirmed.Load()}
	b.kill()
	end()
	if code, out := tool(t, filepath.Join(dir, "of half"), "restore", half); code == 0 {
		t.Log("the backup was finished before the broker was killed")
	} else if !strings.Contains(out, "is not a backup, or is an incomplete one") {
		t.Errorf("restore of half a backup: %d %s", code, out)
	}

	if code, out := tool(t, folder, "restore", folder, "--check"); code != 0 || !strings.Contains(out, "all files are intact") {
		t.Errorf("restore --check: %d %s", code, out)
	}
	if code, out := tool(t, filepath.Join(dir, "restored"), "restore", folder); code != 0 || !strings.Contains(out, "no damage found") {
		t.Fatalf("restore: %d %s", code, out)
	}
	t.Run("restored", func(t *testing.T) {
		b := startIn(t, filepath.Join(dir, "restored"))
		c := b.dial()
		for i, p := range publishers {
			p.accounts(c, before[i])
		}
	})
	t.Run("killed", func(t *testing.T) {
		b := startIn(t, filepath.Join(dir, "data"))
		c := b.dial()
		for i, p := range publishers {
			p.accounts(c, killed[i])
		}
	})
	t.Run("adopted", func(t *testing.T) { adopts(t, dir, folder, before) })
}

// TestThroughFollower_Backup_CLU34: a backup that any node of a cluster under load is asked for has every message confirmed before it, once. A broker alone starts on
// it; it has nothing of the cluster.
func TestThroughFollower_Backup_CLU34(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := start(t)
	publishers, end := b.loaded()
	before := []int64{publishers[0].confirmed.Load(), publishers[1].confirmed.Load()}
	folder := filepath.Join(dir, "backup")
	if out := b.operate("backup", folder); !strings.Contains(out, "finished\t"+folder+"\t") {
		t.Errorf("backup: %s", out)
	}
	end()
	if code, out := tool(t, filepath.Join(dir, "restored"), "restore", folder); code != 0 || !strings.Contains(out, "no damage found") {
		t.Fatalf("restore: %d %s", code, out)
	}
	for range 2 { // the second one starts with what the first one has written
		alone := launch(t, "", filepath.Join(dir, "restored"))
		alone.await(alone.log.ready)
		c := alone.dial()
		for i, p := range publishers {
			p.accounts(c, before[i])
		}
		before = []int64{0, 0}
		alone.stop()
	}
}

// adopts restores the messages without the definitions.
func adopts(t *testing.T, dir, folder string, confirmed []int64) {
	lost := filepath.Join(dir, "lost")
	if code, out := tool(t, lost, "restore", folder); code != 0 {
		t.Fatal(out)
	}
	if err := os.Remove(filepath.Join(lost, "definitions.db")); err != nil {
		t.Fatal(err)
	}
	if code, out := tool(t, lost, "serve", "--amqp", "127.0.0.1:0", "--http", ""); code == 0 || !strings.Contains(out, "candlemark journal adopt") {
		t.Fatalf("serve: %d %s", code, out)
	}
	if code, out := tool(t, lost, "journal", "adopt"); code != 0 || !strings.Contains(out, "queue 'ballast' in vhost '/' (number ") || !strings.Contains(out, "declared, with 6 messages") {
		t.Fatalf("adopt: %d %s", code, out)
	}
	b := startIn(t, lost)
	c := b.dial()
	for i, name := range []string{"a", "b"} {
		(&publisher{queue: name}).accounts(c, confirmed[i])
	}
}

// held declares a queue whose messages are on their way to the queues "at KIND", which has them, and "full KIND", which
// refuses them: a stored message is in its queue until all its copies have arrived.
var held = map[string]func(c *client, exchange string){
	"dead letters": func(c *client, exchange string) {
		c.declares("from dead letters", amqp.Table{
			"x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish", "x-message-ttl": 0, "x-dead-letter-exchange": exchange,
		})
		c.publishes("", "from dead letters", 7)
	},
	"forwards": func(c *client, exchange string) {
		c.declares("from forwards", amqp.Table{"x-forward-to": exchange})
		c.publishes("", "from forwards", 7)
	},
	"an ending queue": func(c *client, exchange string) {
		c.declares("from an ending queue", amqp.Table{"x-expires-dead-letters-backlog": true, "x-dead-letter-exchange": exchange})
		c.publishes("", "from an ending queue", 7)
	},
	"a delayed exchange": func(c *client, exchange string) {
		c.must(c.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}))
		c.must(c.ExchangeBind(exchange, "", "later", false, nil))
		for i := range 7 {
			c.put("later", "", amqp.Publishing{DeliveryMode: amqp.Persistent, Headers: amqp.Table{"x-delay": int32(1)}, Body: fmt.Append(nil, i)})
		}
	},
	"a chain": func(c *client, exchange string) {
		c.must(c.ExchangeDeclare("links", "fanout", true, false, false, false, nil))
		for _, name := range []string{"from a chain", "link"} {
			to := map[string]string{"from a chain": "links", "link": exchange}[name]
			c.declares(name, amqp.Table{"x-forward-to": to})
		}
		c.declares("full link", amqp.Table{"x-max-length": 0, "x-overflow": "reject-publish"})
		c.must(c.QueueBind("link", "", "links", false, nil))
		c.must(c.QueueBind("full link", "", "links", false, nil))
		c.publishes("", "from a chain", 7)
	},
}

func (c *client) declares(name string, args amqp.Table) {
	c.Helper()
	_, err := c.QueueDeclare(name, true, false, false, false, args)
	c.must(err)
}

// publishes sends n messages and awaits their confirms.
func (c *client) publishes(exchange, key string, n int) {
	c.Helper()
	for i := range n {
		c.put(exchange, key, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: fmt.Append(nil, i)})
	}
}

func (c *client) counted(name string) int {
	c.Helper()
	q, err := c.QueueDeclarePassive(name, true, false, false, false, nil)
	c.must(err)
	return q.Messages
}

// TestBackupHasDeadLettersOnce_DUR6: messages that one of two targets has taken, while the other one refuses them, are
// in a backup once: as dead letters, as forwarded messages, as messages of an ending queue, and as messages forwarded
// further.
func TestBackupHasDeadLettersOnce_DUR6(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startIn(t, filepath.Join(dir, "data"))
	c := b.dial()
	b.request("PUT", "/api/policies/%2f/full", `{"pattern":"^full ","apply-to":"queues","definition":{"max-length":0}}`, 201)
	for kind, begin := range held {
		c.must(c.ExchangeDeclare("to "+kind, "fanout", true, false, false, false, nil))
		c.declares("at "+kind, nil)
		c.must(c.QueueBind("at "+kind, "", "to "+kind, false, nil))
		if kind != "a chain" { // there the first exchange has a target that refuses
			c.declares("full "+kind, amqp.Table{"x-overflow": "reject-publish"})
			c.must(c.QueueBind("full "+kind, "", "to "+kind, false, nil))
		}
		begin(c, "to "+kind)
	}
	b.request("PUT", "/api/policies/%2f/ends", `{"pattern":"^from an ending queue$","apply-to":"queues","definition":{"expires":1}}`, 201) // when it has all messages
	for kind := range held {
		eventually(t, kind+" are on their way", func() bool { return c.counted("at "+kind) == 7 })
	}
	folder := filepath.Join(dir, "backup")
	b.verb(0, "backup", folder)
	b.stop()
	if code, out := tool(t, filepath.Join(dir, "restored"), "restore", folder); code != 0 {
		t.Fatalf("restore: %d %s", code, out)
	}
	b = startIn(t, filepath.Join(dir, "restored"))
	c = b.dial()
	b.request("DELETE", "/api/policies/%2f/full", "", 204)
	for kind := range held {
		if kind != "a chain" {
			eventually(t, kind+" have arrived", func() bool { return c.counted("full "+kind) == 7 })
		}
		eventually(t, kind+" have arrived again", func() bool { return c.counted("at "+kind) >= 7 })
		if n := c.counted("at " + kind); n != 7 {
			t.Errorf("%s: %d messages of 7", kind, n)
		}
	}
}
