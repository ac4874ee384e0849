package integration

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestExchangesRoute(t *testing.T) {
	t.Parallel()
	b := start(t)
	type bind struct {
		queue, key string
		args       amqp.Table
	}
	type publish struct {
		key     string
		headers amqp.Table
		to      []string // queues
	}
	for kind, c := range map[string]struct {
		binds     []bind
		publishes []publish
	}{
		"direct": {
			[]bind{{"a", "red", nil}, {"b", "red", nil}, {"b", "blue", nil}},
			[]publish{{"red", nil, []string{"a", "b"}}, {"blue", nil, []string{"b"}}, {"green", nil, nil}},
		},
		"fanout": {
			[]bind{{"a", "", nil}, {"b", "x", nil}},
			[]publish{{"any", nil, []string{"a", "b"}}},
		},
		"topic": {
			[]bind{{"a", "log.*.error", nil}, {"b", "log.#", nil}, {"c", "#.error", nil}},
			[]publish{
				{"log.db.error", nil, []string{"a", "b", "c"}},
				{"log", nil, []string{"b"}},
				{"error", nil, []string{"c"}},
				{"log.db.x.error", nil, []string{"b", "c"}},
				{"other", nil, nil},
			},
		},
		"headers": {
			[]bind{
				{"a", "", amqp.Table{"x-match": "all", "kind": "pdf", "pages": int32(2)}},
				{"b", "", amqp.Table{"x-match": "any", "kind": "pdf", "urgent": true}},
			},
			[]publish{
				{"", amqp.Table{"kind": "pdf", "pages": int32(2)}, []string{"a", "b"}},
				{"", amqp.Table{"kind": "pdf"}, []string{"b"}},
				{"", amqp.Table{"urgent": true}, []string{"b"}},
				{"", amqp.Table{"pages": int32(2)}, nil},
			},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			x := b.dial()
			exchange := "x." + kind
			x.must(x.ExchangeDeclare(exchange, kind, false, false, false, false, nil))
			queues := map[string]string{"a": x.queue("", nil), "b": x.queue("", nil), "c": x.queue("", nil)}
			for _, b := range c.binds {
				x.must(x.QueueBind(queues[b.queue], b.key, exchange, false, b.args))
			}
			for _, p := range c.publishes {
				x.put(exchange, p.key, amqp.Publishing{Headers: p.headers, Body: []byte(p.key)})
				want := map[string][]string{}
				for _, to := range p.to {
					want[to] = []string{p.key}
				}
				for name, queue := range queues {
					x.holds(queue, want[name]...)
				}
			}
			gone := c.binds[0]
			x.must(x.QueueUnbind(queues[gone.queue], gone.key, exchange, gone.args))
			x.put(exchange, c.publishes[0].key, amqp.Publishing{Headers: c.publishes[0].headers})
			x.holds(queues["a"])
		})
	}
}

func TestExchangeToExchange(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	for _, name := range []string{"front", "back"} {
		c.must(c.ExchangeDeclare(name, "topic", false, false, false, false, nil))
	}
	q := c.queue("", nil)
	c.must(c.ExchangeBind("back", "eu.#", "front", false, nil))
	c.must(c.ExchangeBind("front", "#", "back", false, nil)) // a cycle is harmless
	c.must(c.QueueBind(q, "*.paid", "back", false, nil))
	c.put("front", "eu.paid", amqp.Publishing{Body: []byte("yes")})
	c.put("front", "us.paid", amqp.Publishing{Body: []byte("no")})
	c.put("front", "eu.sent", amqp.Publishing{Body: []byte("no")})
	c.holds(q, "yes")
	c.must(c.ExchangeUnbind("back", "eu.#", "front", false, nil))
	c.put("front", "eu.paid", amqp.Publishing{})
	c.holds(q)
	c.must(c.ExchangeDelete("back", false, false))
	c.fails(c.ExchangeDeclarePassive("back", "topic", false, false, false, false, nil), amqp.NotFound, "no exchange 'back'")
}

func TestAlternateExchange(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	c.must(c.ExchangeDeclare("rest", "fanout", false, false, false, false, nil))
	c.must(c.ExchangeDeclare("main", "direct", false, false, false, false, amqp.Table{"alternate-exchange": "rest"}))
	q := c.queue("", nil)
	c.must(c.QueueBind(q, "", "rest", false, nil))
	if !c.offer("main", "unknown", true, amqp.Publishing{Body: []byte("m")}) || len(c.returned) > 0 {
		t.Error("a message that the alternate exchange routed was returned")
	}
	c.holds(q, "m")
}

func TestQueueExclusive(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner, other := b.dial(), b.dial()
	_, err := owner.QueueDeclare("mine", false, false, true, false, nil)
	owner.must(err)
	owner.send("mine", "m")
	const locked = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine' in vhost '/'"
	_, err = other.QueueDeclarePassive("mine", false, false, true, false, nil)
	other.fails(err, amqp.ResourceLocked, locked)
	_, _, err = other.Get("mine", true)
	other.fails(err, amqp.ResourceLocked, locked)
	_, err = other.Consume("mine", "", true, false, false, false, nil)
	other.fails(err, amqp.ResourceLocked, locked)
	owner.holds("mine", "m")
	owner.must(owner.conn.Close())
	eventually(t, "the queue ends with its connection", func() bool { return !other.exists("mine") })
}

func TestQueueAutoDelete(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	_, err := c.QueueDeclare("auto", false, true, false, false, nil)
	c.must(err)
	if !c.exists("auto") {
		t.Error("gone before it had a consumer")
	}
	_, err = c.Consume("auto", "first", true, false, false, false, nil)
	c.must(err)
	_, err = c.Consume("auto", "second", true, false, false, false, nil)
	c.must(err)
	c.must(c.Cancel("first", false))
	if !c.takes("auto") {
		t.Error("gone with a consumer")
	}
	c.must(c.Cancel("second", false))
	eventually(t, "the queue ends with its last consumer", func() bool { return !c.takes("auto") })
}

func TestQueueDeclare(t *testing.T) {
	t.Parallel()
	c := start(t).dial()
	q := c.queue("q", amqp.Table{"x-message-ttl": int32(60_000)})
	c.send(q, "a", "b")
	again, err := c.QueueDeclare("q", false, false, false, false, amqp.Table{"x-message-ttl": int64(60_000)})
	if err != nil || again.Messages != 2 || again.Consumers != 0 {
		t.Errorf("%+v %v", again, err)
	}
	_, err = c.QueueDeclare("q", false, false, false, false, amqp.Table{"x-message-ttl": int32(1)})
	c.fails(err, amqp.PreconditionFailed,
		"PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '1' but current is '60000'")
	_, err = c.QueueDeclare("q", true, false, false, false, amqp.Table{"x-message-ttl": int32(60_000)})
	c.fails(err, amqp.PreconditionFailed, "inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'")
	_, err = c.QueueDeclare("amq.mine", false, false, false, false, nil)
	c.fails(err, amqp.AccessRefused, "queue name 'amq.mine' contains reserved prefix 'amq.*'")
	_, err = c.QueueDelete("q", false, true, false)
	c.fails(err, amqp.PreconditionFailed, "queue 'q' in vhost '/' not empty")
	c.consume("q", false)
	_, err = c.QueueDelete("q", true, false, false)
	c.fails(err, amqp.PreconditionFailed, "queue 'q' in vhost '/' in use")
	if n, err := c.QueueDelete("q", false, false, false); n != 2 || err != nil {
		t.Errorf("deleted with %d, %v", n, err)
	}
	if n, err := c.QueueDelete("q", false, false, false); n != 0 || err != nil {
		t.Errorf("deleted again with %d, %v", n, err)
	}
	_, _, err = c.Get("q", true)
	c.fails(err, amqp.NotFound, "NOT_FOUND - no queue 'q' in vhost '/'")
}

func TestQueueDeletedUnderConsumer(t *testing.T) {
	t.Parallel()
	b := start(t)
	c, other := b.dial(), b.dial()
	q := c.queue("q", nil)
	cancelled := c.NotifyCancel(make(chan string, 1))
	_, err := c.Consume(q, "tag", true, false, false, false, nil)
	c.must(err)
	_, err = other.QueueDelete(q, false, false, false)
	other.must(err)
	if tag := <-cancelled; tag != "tag" {
		t.Errorf("cancelled %q", tag)
	}
}
