package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func expiring(ttl time.Duration, body string) amqp.Publishing {
	return amqp.Publishing{Expiration: fmt.Sprint(ttl.Milliseconds()), Body: []byte(body)}
}

// toQueue returns the arguments of a queue whose dead letters go to another.
func toQueue(dead string) amqp.Table {
	return amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead}
}

func TestTTL30_ExpireAtAnyPosition(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	dead := c.queue("dead", nil)
	q := c.queue("q", toQueue(dead))
	c.send(q, "for ever")
	// A busy machine may take longer between two publishes than the difference of their TTLs, so the deadlines decide the
	// order.
	type span struct{ from, to time.Time }
	deadlines := map[string]span{}
	for _, ttl := range []time.Duration{600 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		before := time.Now()
		c.put("", q, expiring(ttl, ttl.String()))
		deadlines[ttl.String()] = span{before.Add(ttl), time.Now().Add(ttl)}
	}
	deliveries := c.consume(dead, true)
	for len(deadlines) > 0 {
		d := c.next(deliveries)
		deadline, sent := deadlines[string(d.Body)]
		if !sent || d.Expiration != "" {
			t.Fatalf("%q, expiration %q", d.Body, d.Expiration)
		}
		if early := time.Until(deadline.from); early > 0 {
			t.Errorf("%s came %v early", d.Body, early)
		}
		delete(deadlines, string(d.Body))
		for other, o := range deadlines {
			if o.to.Add(10 * time.Millisecond).Before(deadline.from) {
				t.Errorf("%s came before %s", d.Body, other)
			}
		}
	}
	c.holds(q, "for ever")
}

func TestTTL20_Zero(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("", nil)
	c.put("", q, expiring(0, "lost"))
	c.holds(q)
	deliveries := c.consume(q, true)
	c.put("", q, expiring(0, "taken"))
	c.bodies(deliveries, "taken")
}

func TestTTL3_OfTheQueue(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	dead := c.queue("", nil)
	args := toQueue(dead)
	args["x-message-ttl"] = int32(150)
	q := c.queue("", args)
	began := time.Now()
	c.put("", q, expiring(time.Hour, "queue's"))
	c.bodies(c.consume(dead, true), "queue's")
	if past := time.Since(began); past < 150*time.Millisecond {
		t.Errorf("came after %v", past)
	}
	_, err := c.QueueDeclare("bad", false, false, false, false, amqp.Table{"x-message-ttl": int32(-1)})
	c.fails(err, amqp.PreconditionFailed, "invalid arg 'x-message-ttl' for queue 'bad' in vhost '/': {value_negative,-1}")
	closed := c.NotifyClose(make(chan *amqp.Error, 1))
	_, err = c.PublishWithDeferredConfirm("", q, false, false, amqp.Publishing{Expiration: "soon"})
	c.must(err)
	c.fails(<-closed, amqp.PreconditionFailed, "invalid expiration 'soon'")
}

func TestTTL16_RequeueAfterDeadline(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	dead := c.queue("", nil)
	q := c.queue("", toQueue(dead))
	trigger := c.queue("", toQueue(dead)) // its message expires later than the held one
	takes, err := c.Consume(q, "tag", false, false, false, false, nil)
	c.must(err)
	c.put("", q, expiring(200*time.Millisecond, "held"))
	held := c.next(takes)
	c.must(c.Cancel("tag", false))
	c.put("", trigger, expiring(250*time.Millisecond, "trigger"))
	deliveries := c.consume(dead, true)
	c.bodies(deliveries, "trigger")
	c.must(held.Nack(false, true))
	c.bodies(deliveries, "held")
	c.holds(q)
}

func TestDL20_XDeath(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	c.must(c.ExchangeDeclare("dlx", "fanout", false, false, false, false, nil))
	dead := c.queue("dead", nil)
	c.must(c.QueueBind(dead, "", "dlx", false, nil))
	q := c.queue("q", amqp.Table{"x-dead-letter-exchange": "dlx"})
	c.must(c.QueueBind(q, "key", "amq.direct", false, nil))
	c.put("amq.direct", "key", amqp.Publishing{Expiration: "60000", Headers: amqp.Table{"mine": "kept"}, Body: []byte("m")})
	d, _, err := c.Get(q, false)
	c.must(err)
	c.must(d.Reject(false))
	d = c.next(c.consume(dead, true))
	deaths, _ := d.Headers["x-death"].([]any)
	if len(deaths) != 1 || d.Exchange != "dlx" || d.RoutingKey != "key" || d.Redelivered || d.Headers["mine"] != "kept" {
		t.Fatalf("%+v", d)
	}
	death, _ := deaths[0].(amqp.Table)
	keys, _ := death["routing-keys"].([]any)
	when, _ := death["time"].(time.Time)
	if death["count"] != int64(1) || death["reason"] != "rejected" || death["queue"] != "q" || death["exchange"] != "amq.direct" ||
		len(keys) != 1 || keys[0] != "key" || death["original-expiration"] != "60000" || time.Since(when) > time.Minute {
		t.Errorf("%v", death)
	}
	for name, want := range map[string]any{"queue": "q", "reason": "rejected", "exchange": "amq.direct"} {
		if first, last := d.Headers["x-first-death-"+name], d.Headers["x-last-death-"+name]; first != want || last != want {
			t.Errorf("%s: %v, %v", name, first, last)
		}
	}
}

// The retry pattern: rejected messages are dead-lettered to a queue with a TTL and from there back; x-death counts the attempts.
func TestDL26_RetryLoop(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	work := c.queue("work", toQueue("pause"))
	args := toQueue("work")
	args["x-message-ttl"] = int32(50)
	c.queue("pause", args)
	c.send(work, "job")
	deliveries := c.consume(work, false)
	for try := range 4 {
		d := c.next(deliveries)
		var rejected int64
		deaths, _ := d.Headers["x-death"].([]any)
		for _, death := range deaths {
			if death, _ := death.(amqp.Table); death["queue"] == "work" {
				rejected, _ = death["count"].(int64)
			}
		}
		if rejected != int64(try) {
			t.Errorf("try %d: %v", try, d.Headers)
		}
		c.must(d.Reject(false))
	}
}

func TestDL10_MaxLength(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	dead := c.queue("", nil)
	args := toQueue(dead)
	args["x-max-length"] = int32(2)
	q := c.queue("", args)
	c.send(q, "1", "2", "3")
	c.bodies(c.consume(dead, true), "1")
	c.holds(q, "2", "3")
	full := c.queue("", amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
	if !c.offer("", full, false, amqp.Publishing{}) || c.offer("", full, false, amqp.Publishing{}) {
		t.Error("reject-publish: want ack, then nack")
	}
}

func TestLEASE4_IdleQueueEnds(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	began := time.Now()
	idle := c.queue("idle", amqp.Table{"x-expires": int32(300)})
	held := c.queue("held", amqp.Table{"x-expires": int32(5000)})
	_, err := c.Consume(held, "tag", true, false, false, false, nil)
	c.must(err)
	eventually(t, "the idle queue ends, although it is published to", func() bool { return !c.takes(idle) })
	if past := time.Since(began); past < 300*time.Millisecond {
		t.Errorf("ended after %v", past)
	}
	if !c.takes(held) {
		t.Error("a queue with a consumer has ended")
	}
	left := time.Now()
	c.must(c.Cancel("tag", false))
	eventually(t, "the queue ends when its consumer has left", func() bool { return !c.takes(held) })
	if past := time.Since(left); past < 5*time.Second {
		t.Errorf("ended %v after its last consumer", past)
	}
}

// Delays as clients implement them: a queue for each delay, redeclared at each publish.
func TestHoldQueues(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	target := c.queue("target", nil)
	deliveries := c.consume(target, true)
	began := time.Now()
	for range 3 {
		for _, delay := range []int32{2200, 200} {
			args := toQueue(target)
			args["x-message-ttl"], args["x-expires"] = delay, delay+2000
			hold := c.queue(fmt.Sprint("hold.", delay), args)
			c.send(hold, fmt.Sprint(delay))
		}
	}
	var got []string
	for range 6 {
		d := c.next(deliveries)
		if ms, _ := strconv.Atoi(string(d.Body)); time.Since(began) < time.Duration(ms)*time.Millisecond {
			t.Errorf("%s came after %v", d.Body, time.Since(began))
		}
		got = append(got, string(d.Body))
	}
	if slices.Sort(got); !slices.Equal(got, []string{"200", "200", "200", "2200", "2200", "2200"}) {
		t.Error(got)
	}
	for _, hold := range []string{"hold.200", "hold.2200"} {
		eventually(t, "the hold queue ends", func() bool { return !c.takes(hold) })
	}
}

// A message-ttl policy for exchanges caps the TTL of messages that they route; one with apply-to all applies to queues only.
func TestTTL9_PolicyOnExchange(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	events, dead := c.queue("events", nil), c.queue("dead", nil)
	q := c.queue("q", toQueue(dead))
	c.must(c.ExchangeDeclare("capped", "fanout", false, false, false, false, nil))
	c.must(c.QueueBind(events, "", "capped", false, nil))
	c.must(c.QueueBind(q, "", "capped", false, nil))
	b.verb(0, "set_policy", "cap", "^capped$", `{"message-ttl":0}`, "--apply-to", "all")
	c.put("capped", "", amqp.Publishing{Body: []byte("before")})
	b.verb(0, "set_policy", "cap", "^capped$", `{"message-ttl":0}`, "--apply-to", "exchanges")
	c.put("capped", "", amqp.Publishing{Body: []byte("capped"), Expiration: "60000"})
	c.holds(events, "before")
	c.holds(q, "before")
	d := c.next(c.consume(dead, true))
	if death := d.Headers["x-death"].([]any)[0].(amqp.Table); death["original-expiration"] != "60000" || string(d.Body) != "capped" {
		t.Errorf("%s: %v", d.Body, death)
	}
	b.verb(0, "clear_policy", "cap")
	c.put("capped", "", amqp.Publishing{Body: []byte("after"), Expiration: "60000"})
	c.holds(events, "after")
}

// Settings of a queue whose effects messages and consumers see, by argument and by policy.
func TestTTL9_MomentsInHeaders(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	dead := c.queue("dead", nil)
	args := toQueue(dead)
	args["x-expires-at-header"], args["x-stamp-expiry"] = "expires", true
	byArgument, byPolicy := c.queue("argument", args), c.queue("policy", toQueue(dead))
	b.verb(0, "set_policy", "moments", "^policy$", `{"expires-at-header":"expires","stamp-expiry":true}`)
	deaths := c.consume(dead, true)
	at := time.Now().Add(4 * time.Second).Truncate(time.Millisecond)
	for _, q := range []string{byArgument, byPolicy} {
		c.put("", q, amqp.Publishing{Body: []byte(q), Headers: amqp.Table{"expires": at.Format(time.RFC3339Nano)}})
		d, ok, err := c.Get(q, false)
		c.must(err)
		if !ok || d.Headers["x-expires-at"] != at.UnixMilli() {
			t.Fatalf("%s: %v, want %d", q, d.Headers, at.UnixMilli())
		}
		if enqueued, _ := d.Headers["x-enqueued-at"].(int64); enqueued > at.UnixMilli() || enqueued < at.UnixMilli()-60_000 {
			t.Errorf("%s: enqueued at %d", q, enqueued)
		}
		c.must(d.Nack(false, true))
	}
	var died []string
	for range 2 {
		d := c.next(deaths)
		if time.Now().Before(at) || d.Headers["x-expires-at"] != nil {
			t.Errorf("%s died at %v: %v", d.Body, time.Now(), d.Headers)
		}
		died = append(died, string(d.Body))
	}
	if slices.Sort(died); !slices.Equal(died, []string{byArgument, byPolicy}) {
		t.Error(died)
	}
	for _, q := range []string{byArgument, byPolicy} {
		c.put("", q, amqp.Publishing{Body: []byte("no moment"), Headers: amqp.Table{"expires": nil}})
		c.holds(q, "no moment")
		other := b.dial()
		closed := other.NotifyClose(make(chan *amqp.Error, 1))
		other.must(other.Publish("", q, false, false, amqp.Publishing{Headers: amqp.Table{"expires": "soon"}}))
		if err := <-closed; err == nil || err.Code != 406 || !strings.Contains(err.Reason, "invalid header 'expires': 'soon' is not a time") {
			t.Errorf("%s: %v", q, err)
		}
		c.put("", dead, amqp.Publishing{Headers: amqp.Table{"expires": "soon"}}) // this queue does not evaluate the header
		c.next(deaths)
	}
}

func TestDL9_ExpiredAreDropped(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := b.dial()
	dead := c.queue("dead", nil)
	args := toQueue(dead)
	args["x-dead-letter-expired"], args["x-message-ttl"] = false, int32(0)
	q := c.queue("argument", args)
	c.send(q, "dropped")
	c.holds(dead)
	q = c.queue("policy", toQueue(dead))
	b.verb(0, "set_policy", "drop", "^policy$", `{"dead-letter-expired":false,"message-ttl":0}`)
	c.send(q, "dropped")
	c.holds(dead)
	b.verb(0, "set_policy", "drop", "^policy$", `{"dead-letter-expired":true,"message-ttl":0}`)
	c.send(q, "dead")
	c.bodies(c.consume(dead, true), "dead")
}
