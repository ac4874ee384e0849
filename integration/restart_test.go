package integration

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// begins puts something of everything that is durable into a broker.
func (b *broker) begins() {
	b.Helper()
	b.request("PUT", "/api/vhosts/other", "", 201)
	b.request("PUT", "/api/users/alice", `{"password":"secret","tags":"policymaker"}`, 201)
	b.request("PUT", "/api/permissions/%2F/alice", `{"configure":".*","write":".*","read":".*"}`, 201)
	b.request("PUT", "/api/policies/%2F/p", `{"pattern":"^orders$","definition":{"max-length":100,"dead-letter-exchange":"dlx"}}`, 201)
	c := b.dial()
	c.must(c.ExchangeDeclare("dlx", "topic", true, false, false, false, nil))
	c.must(c.ExchangeDeclare("passing", "fanout", false, false, false, false, nil))
	for name, args := range map[string]amqp.Table{"orders": nil, "dead": nil, "leased": {"x-expires": 2000}} {
		_, err := c.QueueDeclare(name, true, false, false, false, args)
		c.must(err)
	}
	_, err := c.QueueDeclare("passing", false, false, true, false, nil)
	c.must(err)
	c.must(c.QueueBind("dead", "#", "dlx", false, nil))
	c.must(c.QueueBind("orders", "key", "amq.direct", false, nil))
	for n := range 50 {
		c.put("amq.direct", "key", amqp.Publishing{Body: []byte(strconv.Itoa(n)), DeliveryMode: amqp.Persistent})
	}
	c.put("amq.direct", "key", amqp.Publishing{Body: []byte("transient")})
	c.put("", "orders", amqp.Publishing{Body: []byte("due"), DeliveryMode: amqp.Persistent, Expiration: "200"})
	d, ok, err := c.Get("orders", false)
	if c.must(err); !ok || string(d.Body) != "0" {
		b.Fatalf("got %s", d.Body)
	}
	c.must(d.Ack(false))
	// When this is confirmed, the ack before it is durable as well.
	c.put("", "orders", amqp.Publishing{Body: []byte("later"), DeliveryMode: amqp.Persistent, Expiration: "3600000"})
}

// goesOn checks what another broker over the same data folder has of it.
func (b *broker) goesOn() {
	b.Helper()
	c := b.dialWith(amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "alice", Password: "secret"}}})
	want := []string{}
	for n := 1; n < 50; n++ {
		want = append(want, strconv.Itoa(n))
	}
	var d amqp.Delivery
	eventually(b.T, "a message is dead-lettered", func() bool {
		var ok bool
		var err error
		d, ok, err = c.Get("dead", true)
		c.must(err)
		return ok
	})
	c.holds("orders", append(want, "later")...)
	if string(d.Body) != "due" || d.Headers["x-death"] == nil {
		b.Errorf("dead-lettered %s %v", d.Body, d.Headers)
	}
	if c.exists("passing") {
		b.Error("an exclusive queue is back")
	}
	if all := b.request("GET", "/api/exchanges/%2F", "", 200); strings.Contains(all, `"passing"`) || !strings.Contains(all, `"dlx"`) {
		b.Errorf("exchanges %s", all)
	}
	if all := b.request("GET", "/api/vhosts", "", 200); !strings.Contains(all, `"other"`) {
		b.Errorf("vhosts %s", all)
	}
	if all := b.request("GET", "/api/policies", "", 200); !strings.Contains(all, `"max-length":100`) {
		b.Errorf("policies %s", all)
	}
	if !c.exists("leased") { // renews it
		b.Error("the lease is not a full one")
	}
	eventually(b.T, "the lease ends", func() bool {
		return !strings.Contains(b.request("GET", "/api/queues", "", 200), `"leased"`)
	})
}

// Whatever ends a broker, the next one over its data folder goes on where it
// stopped (TTL-26, LEASE-4).
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*broker){"kill": (*broker).kill, "stop": (*broker).stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			b := startIn(t, dir)
			b.begins()
			end(b)
			b = startIn(t, dir)
			if clean := strings.Contains(b.log.String(), `"clean":true`); clean != (name == "stop") {
				t.Errorf("clean is %v", clean)
			}
			b.goesOn()
		})
	}
}

// A data folder has one broker at a time.
func TestDataFolderInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	startIn(t, dir)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, "serve", "--amqp", "127.0.0.1:0", "--http", "", "--data-dir", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "in use by another broker") {
		t.Errorf("%v\n%s", err, out)
	}
}
