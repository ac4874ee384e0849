package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// switched declares two queues with a switch on, by argument and by policy, and one without. All have the arguments args.
func (b *broker) switched(c *client, key string, value any, args amqp.Table) (on [2]string, off string) {
	b.Helper()
	with := maps.Clone(args)
	if with == nil {
		with = amqp.Table{}
	}
	with["x-"+key] = value
	on = [2]string{c.queue(key+".argument", with), c.queue(key+".policy", args)}
	off = c.queue(key+".off", args)
	definition, err := json.Marshal(map[string]any{key: value})
	c.must(err)
	b.verb(0, "set_policy", key, "^"+key+"[.]policy$", string(definition), "--apply-to", "queues")
	return on, off
}

// lease starts the lease of all queues of a prefix, after their messages have been published.
func (b *broker) lease(name string, period time.Duration) {
	b.Helper()
	b.verb(0, "set_operator_policy", name, "^"+name+"[.]", fmt.Sprintf(`{"expires":%d}`, period.Milliseconds()), "--apply-to", "queues")
}

// is reports whether a queue exists, without renewing its lease.
func (b *broker) is(queue string) bool {
	b.Helper()
	return strings.Contains(b.request("GET", "/api/queues/%2F?columns=name", "", http.StatusOK), fmt.Sprintf("%q", queue))
}

// length returns the number of ready messages.
func (c *client) length(queue string) int {
	c.Helper()
	q, err := c.QueueDeclarePassive(queue, false, false, false, false, nil)
	c.must(err)
	return q.Messages
}

func TestLEASE13_ExpiresIfEmpty(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	on, off := b.switched(c, "expires-if-empty", true, nil)
	for _, q := range append(on[:], off) {
		c.send(q, "m")
	}
	b.lease("expires-if-empty", time.Second)
	later := c.queue("later", amqp.Table{"x-expires": int32(2500)})
	eventually(t, "a queue ends with its message", func() bool { return !b.is(off) })
	eventually(t, "two periods are over", func() bool { return !b.is(later) })
	for _, q := range on {
		if !b.is(q) {
			t.Errorf("%s has ended", q)
			continue
		}
		_, err := c.QueuePurge(q, false)
		c.must(err)
		eventually(t, "it ends when it is empty", func() bool { return !b.is(q) })
	}
}

func TestLEASE13_ExpiresDeadLettersBacklog(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	args := toQueue(c.queue("dead", nil))
	on, off := b.switched(c, "expires-dead-letters-backlog", true, args)
	for _, q := range append(on[:], off) {
		c.send(q, q)
	}
	b.lease("expires-dead-letters-backlog", time.Second)
	deaths, seen := c.consume("dead", true), map[string]bool{}
	for range on {
		d := c.next(deaths)
		seen[string(d.Body)] = d.Headers["x-first-death-reason"] == "expired"
	}
	if !seen[on[0]] || !seen[on[1]] {
		t.Errorf("%v", seen)
	}
	eventually(t, "the other queue ends", func() bool { return !b.is(off) })
	c.send("dead", "nothing")
	if d := c.next(deaths); string(d.Body) != "nothing" {
		t.Errorf("the other one was dead-lettered: %s", d.Body)
	}
}

// die publishes an expired message to a queue and returns its dead letter.
func (c *client) die(queue string, m amqp.Publishing, deaths <-chan amqp.Delivery) amqp.Delivery {
	c.Helper()
	m.Expiration = "0"
	c.put("", queue, m)
	return c.next(deaths)
}

func TestDL23_DeadLetterCountAndContinue(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	args := toQueue(c.queue("dead", nil))
	deaths := c.consume("dead", true)
	on, off := b.switched(c, "dead-letter-count", true, args)
	for _, q := range on {
		if d := c.die(q, amqp.Publishing{}, deaths); d.Headers["x-death-count"] != int64(1) {
			t.Errorf("%s: %v", q, d.Headers)
		}
	}
	if d := c.die(off, amqp.Publishing{}, deaths); d.Headers["x-death-count"] != nil {
		t.Errorf("%s: %v", off, d.Headers)
	}

	on, off = b.switched(c, "dead-letter-continue", true, args)
	count := func(q string) any {
		t.Helper()
		before := amqp.Table{"queue": q, "reason": "expired", "count": int64(5), "exchange": "", "routing-keys": []any{q}}
		d := c.die(q, amqp.Publishing{Headers: amqp.Table{"x-death": []any{before}}}, deaths)
		return d.Headers["x-death"].([]any)[0].(amqp.Table)["count"]
	}
	for _, q := range on {
		if n := count(q); n != int64(6) {
			t.Errorf("%s: count %v", q, n)
		}
	}
	if n := count(off); n != int64(1) {
		t.Errorf("%s: count %v", off, n)
	}
}

func TestTTL25_Retroactive(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	byArgument := c.queue("argument", amqp.Table{"x-message-ttl-retroactive": true})
	byPolicy, off := c.queue("policy", nil), c.queue("off", nil)
	for _, q := range []string{byArgument, byPolicy, off} {
		c.send(q, "m")
	}
	b.verb(0, "set_policy", "ttl", "^(argument|off)$", `{"message-ttl":1}`)
	b.verb(0, "set_policy", "retroactive", "^policy$", `{"message-ttl":1,"message-ttl-retroactive":true}`)
	for _, q := range []string{byArgument, byPolicy} {
		eventually(t, "what is queued expires", func() bool { return c.length(q) == 0 })
	}
	c.holds(off, "m")
}

func TestTTL18_ExpiryOrder(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	dead := c.queue("dead", nil)
	on, off := b.switched(c, "expiry-order", "strict", toQueue(dead))
	deaths := c.consume(dead, true)
	for _, q := range append(on[:], off) {
		c.send(q, "head")
		c.put("", q, expiring(0, "at once, if it is alone"))
		c.put("", q, expiring(time.Millisecond, q))
	}
	died := func(want string) {
		t.Helper()
		for {
			if body := string(c.next(deaths).Body); body == want {
				return
			} else if body != "at once, if it is alone" {
				t.Fatalf("%s died, want %s", body, want)
			}
		}
	}
	died(off)
	for _, q := range on {
		if d, ok, err := c.Get(q, true); err != nil || !ok || string(d.Body) != "head" {
			t.Errorf("%s: %s, %v", q, d.Body, err)
		}
		died(q) // now at the head
	}
}
