package integration

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// begins creates durable objects of every kind in a broker.
func (b *broker) begins() {
	b.Helper()
	b.request("PUT", "/api/vhosts/other", "", 201)
	b.request("PUT", "/api/users/alice", `{"password":"secret","tags":"policymaker"}`, 201)
	b.request("PUT", "/api/permissions/%2F/alice", `{"configure":".*","write":".*","read":".*"}`, 201)
	b.request("PUT", "/api/policies/%2F/p", `{"pattern":"^orders$","definition":{"max-length":100,"dead-letter-exchange":"dlx"}}`, 201)
	c := b.dial()
	c.must(c.ExchangeDeclare("dlx", "topic", true, false, false, false, nil))
	c.must(c.ExchangeDeclare("passing", "fanout", false, false, false, false, nil))
	for name, args := range map[string]amqp.Table{"orders": nil, "dead": nil, "leased": {"x-expires": 6000}} {
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
	c.ask("leased") // renews its lease
	c.ask("orders") // publishes read together with an acknowledgement overtake it
	// When this is confirmed, the preceding ack is durable as well.
	c.put("", "orders", amqp.Publishing{Body: []byte("later"), DeliveryMode: amqp.Persistent, Expiration: "3600000"})
}

// ask returns when the queue has processed everything that its clients have sent and received.
func (c *client) ask(queue string) {
	c.Helper()
	_, err := c.QueueDeclarePassive(queue, true, false, false, false, nil)
	c.must(err)
}

// goesOn checks what a new broker on the same data folder has restored.
func (b *broker) goesOn() {
	b.Helper()
	c := b.dialWith(amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "alice", Password: "secret"}}})
	if !c.exists("leased") { // the passive declare renews it
		b.Error("the lease is not a full one")
	}
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
	eventually(b.T, "the lease ends", func() bool {
		return !strings.Contains(b.request("GET", "/api/queues", "", 200), `"leased"`)
	})
}

// However a broker ends, the next one on its data folder continues where it stopped (TTL-26, LEASE-4).
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
			if clean := strings.Contains(b.log.String(), `"clean":true`); clean != (name == "stop") && !throughFollower(t) {
				t.Errorf("clean is %v", clean)
			}
			b.goesOn()
		})
	}
}

// Only one broker at a time can use a data folder.
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

// shown are the API's lists of all definitions, and the fields to compare.
var shown = map[string][]string{
	"vhosts":             {"name", "description", "tags", "default_queue_type", "protected_from_deletion"},
	"users":              {"name", "password_hash", "hashing_algorithm", "tags"},
	"permissions":        {"user", "vhost", "configure", "write", "read"},
	"topic-permissions":  {"user", "vhost", "exchange", "write", "read"},
	"policies":           {"vhost", "name", "pattern", "apply-to", "priority", "definition"},
	"operator-policies":  {"vhost", "name", "pattern", "apply-to", "priority", "definition"},
	"parameters":         {"component", "vhost", "name", "value"},
	"global-parameters":  {"name", "value"},
	"vhost-limits":       {"vhost", "value"},
	"user-limits":        {"user", "value"},
	"exchanges":          {"vhost", "name", "type", "durable", "auto_delete", "internal", "arguments", "policy", "messages_delayed"},
	"bindings":           {"source", "vhost", "destination", "destination_type", "routing_key", "arguments", "properties_key"},
	"queues":             {"vhost", "name", "type", "durable", "auto_delete", "exclusive", "arguments", "policy", "operator_policy", "effective_policy_definition", "messages"},
	"queues/other/apart": {"name", "type", "arguments"},
}

// defined lists the broker's definitions, one line each.
func (b *broker) defined() string {
	b.Helper()
	var all []string
	for path, columns := range shown {
		text := b.request("GET", "/api/"+path, "", 200)
		var list []map[string]any
		if text[0] != '[' {
			text = "[" + text + "]"
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			b.Fatalf("%s: %v %s", path, err, text)
		}
		for _, x := range list {
			line := path + ":"
			for _, c := range columns {
				value, err := json.Marshal(x[c])
				if err != nil {
					b.Fatal(err)
				}
				line += " " + c + "=" + string(value)
			}
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// defines creates definitions of every kind, changes some and deletes some.
func (b *broker) defines() {
	b.Helper()
	for _, x := range []struct {
		method, path, body string
		code               int
	}{
		{"PUT", "vhosts/other", `{"description":"an other one","tags":"a,b","default_queue_type":"quorum"}`, 201},
		{"PUT", "vhosts/gone", ``, 201},
		{"PUT", "users/alice", `{"password":"one","tags":"monitoring"}`, 201},
		{"PUT", "users/alice", `{"password":"two","tags":"policymaker,management"}`, 204},
		{"PUT", "users/nobody", `{"password_hash":"","tags":""}`, 201},
		{"PUT", "users/gone", `{"password":"x","tags":""}`, 201},
		{"PUT", "permissions/%2F/alice", `{"configure":".*","write":".*","read":".*"}`, 201},
		{"PUT", "permissions/%2F/alice", `{"configure":"^a","write":"^b","read":"^c"}`, 204},
		{"PUT", "permissions/other/alice", `{"configure":".*","write":".*","read":".*"}`, 201},
		{"PUT", "permissions/%2F/gone", `{"configure":".*","write":".*","read":".*"}`, 201},
		{"PUT", "permissions/other/guest", `{"configure":".*","write":".*","read":".*"}`, 204},
		{"PUT", "topic-permissions/%2F/alice", `{"exchange":"amq.topic","write":"^a","read":"^b"}`, 201},
		{"PUT", "policies/%2F/p", `{"pattern":"^q","definition":{"message-ttl":60000,"max-length":5},"priority":3,"apply-to":"queues"}`, 201},
		{"PUT", "policies/%2F/p", `{"pattern":"^q","definition":{"message-ttl":70000},"priority":4,"apply-to":"queues"}`, 204},
		{"PUT", "policies/other/alt", `{"pattern":"^x","definition":{"alternate-exchange":"amq.fanout"},"apply-to":"exchanges"}`, 201},
		{"PUT", "policies/%2F/gone", `{"pattern":"^q","definition":{"max-length":5},"priority":9}`, 201},
		{"PUT", "operator-policies/%2F/op", `{"pattern":"^q","definition":{"expires":3600000},"priority":1,"apply-to":"queues"}`, 201},
		{"PUT", "vhost-limits/other/max-queues", `{"value":17}`, 204},
		{"PUT", "vhost-limits/other/max-connections", `{"value":18}`, 204},
		{"PUT", "user-limits/alice/max-channels", `{"value":19}`, 204},
		{"PUT", "global-parameters/note", `{"value":{"a":[1,2,{"b":null}]}}`, 201},
		{"PUT", "exchanges/other/x", `{"type":"topic","durable":true,"internal":true,"arguments":{"alternate-exchange":"amq.direct"}}`, 201},
		{"PUT", "exchanges/other/temporary", `{"type":"topic","durable":false}`, 201},
		{"PUT", "queues/other/apart", `{"durable":true,"arguments":{"x-queue-type":"quorum","x-delivery-limit":7}}`, 201},
		{"PUT", "queues/other/q", `{"durable":true}`, 201},
		{"POST", "bindings/other/e/x/q/q", `{"routing_key":"a.*.#","arguments":{"n":1,"s":"t","l":[true,2]}}`, 201},
		{"POST", "bindings/other/e/x/q/q", `{"routing_key":"gone","arguments":{}}`, 201},
		{"POST", "bindings/other/e/amq.headers/e/x", `{"routing_key":"","arguments":{"x-match":"all","h":"v"}}`, 201},
		{"DELETE", "bindings/other/e/x/q/q/gone", ``, 204},
		{"DELETE", "vhosts/gone", ``, 204},
		{"POST", "vhosts/other/deletion/protection", ``, 204},
		{"DELETE", "vhosts/other", ``, 412},
		{"DELETE", "users/gone", ``, 204},
		{"DELETE", "policies/%2F/gone", ``, 204},
	} {
		b.request(x.method, "/api/"+x.path, x.body, x.code)
	}
	c := b.dial()
	later := amqp.Table{"x-delayed-type": "direct"}
	c.must(c.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, later))
	for _, q := range []string{"q", "lazy", "due", "gone"} {
		_, err := c.QueueDeclare(q, true, false, false, false, amqp.Table{
			"x-max-priority": int8(5), "x-dead-letter-exchange": "", "x-text": "grün", "x-table": amqp.Table{"a": int64(1) << 40},
		})
		c.must(err)
	}
	c.must(c.QueueBind("due", "k", "later", false, nil))
	for n, delay := range []int{3600_000, 300, 3600_000, 600} {
		c.put("later", "k", amqp.Publishing{
			Body: []byte(strconv.Itoa(n)), DeliveryMode: amqp.Persistent, Headers: amqp.Table{"x-delay": delay},
		})
	}
	_, err := c.QueueDelete("gone", false, false, false)
	c.must(err)
	c.must(c.ExchangeDeclare("gone", "fanout", true, false, false, false, nil))
	c.must(c.ExchangeDelete("gone", false, false))
}

// All definitions are the same after a restart, and deleted ones stay deleted. Messages in a delayed exchange are kept, and
// delivered when they are due (DLY-3).
func TestDefinitionsSurvive(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*broker){"kill": (*broker).kill, "stop": (*broker).stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			b := startIn(t, dir)
			b.defines()
			c := b.dial()
			due := c.consume("due", true)
			c.bodies(due, "1", "3")
			c.ask("due")
			eventually(t, "the exchange no longer holds what it has released", func() bool {
				return strings.Contains(b.request("GET", "/api/exchanges/%2F/later", "", 200), `"messages_delayed":2`)
			})
			c.put("", "q", amqp.Publishing{DeliveryMode: amqp.Persistent}) // the preceding settlements are durable, too
			before := b.defined()
			b.request("DELETE", "/api/exchanges/other/temporary", "", 204)
			end(b)
			b = startIn(t, dir)
			after := strings.Split(b.defined(), "\n")
			for _, line := range strings.Split(before, "\n") {
				i := slices.Index(after, line)
				switch temporary := strings.Contains(line, `name="temporary"`); {
				case temporary && i >= 0:
					t.Errorf("it is back: %s", line)
				case !temporary && i < 0:
					t.Errorf("it is not back: %s", line)
				case i >= 0:
					after = slices.Delete(after, i, i+1)
				}
			}
			if len(after) > 0 {
				t.Errorf("new are\n%s", strings.Join(after, "\n"))
			}
			c = b.dial()
			c.put("later", "k", amqp.Publishing{Body: []byte("soon"), DeliveryMode: amqp.Persistent, Headers: amqp.Table{"x-delay": 200}})
			c.bodies(c.consume("due", true), "soon")
			_, err := c.QueueDeclare("q", true, false, false, false, nil)
			c.fails(err, amqp.PreconditionFailed, "inequivalent arg 'x-")
		})
	}
}

// A stop closes every connection, deletes a durable auto-delete queue with its last consumer, and an auto-delete exchange with
// its last binding; a crash leaves them as they were. RabbitMQ 3.10 does the same. Unacked messages are requeued and marked as
// redelivered, and no others are.
func TestAutoDeleteOverRestarts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*broker){"kill": (*broker).kill, "stop": (*broker).stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			b := startIn(t, dir)
			c := b.dial()
			for _, q := range []string{"consumed", "idle", "plain"} {
				_, err := c.QueueDeclare(q, true, q != "plain", false, false, nil)
				c.must(err)
				for _, body := range []string{"1", "2"} {
					c.put("", q, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(body)})
				}
			}
			for i := range 100 { // at a stop, the broker waits for all consequences of a queue's deletion
				x := "x" + strconv.Itoa(i)
				c.must(c.ExchangeDeclare(x, "fanout", true, true, false, false, nil))
				c.must(c.QueueBind("consumed", "", x, false, nil))
			}
			c.must(c.Qos(1, 0, false))
			c.next(c.consume("consumed", false))
			c.next(c.consume("plain", false))
			c.ask("consumed")
			c.put("", "plain", amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("3")}) // what the queue wrote before is durable, too
			closed := c.conn.NotifyClose(make(chan *amqp.Error, 1))
			end(b)
			if e := <-closed; name == "stop" && (e == nil || e.Code != amqp.ConnectionForced || !strings.Contains(e.Reason, "shutdown")) {
				t.Errorf("connection closed with %v, want CONNECTION_FORCED", e)
			}
			b = startIn(t, dir)
			c = b.dial()
			if c.takes("consumed") != (name == "kill") {
				t.Error("the auto-delete queue with a consumer")
			}
			all := b.request("GET", "/api/exchanges/%2F", "", 200)
			if left := strings.Count(all, `"name":"x`); left != map[string]int{"kill": 100}[name] {
				t.Errorf("of the auto-delete exchanges %d are left", left)
			}
			for _, q := range []string{"plain", "idle"} {
				d, ok, err := c.Get(q, true)
				if c.must(err); !ok || string(d.Body) != "1" || d.Redelivered != (q == "plain") {
					t.Errorf("%s: %v %q redelivered: %v", q, ok, d.Body, d.Redelivered)
				}
				d, ok, err = c.Get(q, true)
				if c.must(err); !ok || string(d.Body) != "2" || d.Redelivered {
					t.Errorf("%s: %v %q redelivered: %v", q, ok, d.Body, d.Redelivered)
				}
			}
		})
	}
}
