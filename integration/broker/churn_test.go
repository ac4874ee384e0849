package broker

import (
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// Numbers of cycles of a churn test, and the bytes of live heap that a cycle may leave: less than the smallest actor, or even its
// address.
const (
	churnFirst  = 200 // until all structures that grow with the number of concurrent objects have grown
	churnCycles = 400
	churnBound  = 100
)

// churn is a broker whose queue, client and channel stay while others are created and removed.
type churn struct {
	*testkit.Bubble
	client *testkit.Client
	ch     *testkit.Channel // open for the whole test, in confirm mode
}

// visitor is a short-lived channel.
type visitor struct {
	*amqp.Channel
	c *churn
}

// open opens one; testkit's own channels have a large buffer for returned messages and are slow to open.
func (c *churn) open(conn *amqp.Connection) visitor {
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		c.Fatal(err)
	}
	return visitor{ch, c}
}

// publish sends a message and waits for the confirm.
func (v visitor) publish(exchange, key, body string) {
	d, err := v.PublishWithDeferredConfirm(exchange, key, false, false, testkit.Text(body))
	if err != nil || !d.Wait() {
		v.c.Fatal("not confirmed", err)
	}
}

// get fetches a message, which must exist.
func (v visitor) get(queue string, noAck bool) amqp.Delivery {
	synctest.Wait()
	d, ok, err := v.Get(queue, noAck)
	if err != nil || !ok {
		v.c.Fatal(ok, err)
	}
	return d
}

// other opens a channel, uses it and closes it.
func (c *churn) other(use func(ch visitor)) {
	ch := c.open(c.client.Connection)
	use(ch)
	if err := ch.Close(); err != nil {
		c.Fatal(err)
	}
}

// fresh declares a queue, uses it and deletes it.
func (c *churn) fresh(args amqp.Table, use func(name string)) {
	c.ch.Declare("fresh", args)
	use("fresh")
	c.drop("fresh")
}

func (c *churn) drop(name string) {
	if _, err := c.ch.QueueDelete(name, false, false, false); err != nil {
		c.Fatal(err)
	}
}

// cancel cancels a consumer by its tag.
func (c *churn) cancel(ch *amqp.Channel, tag string) {
	if err := ch.Cancel(tag, false); err != nil {
		c.Fatal(err)
	}
}

// consume consumes a queue under the consumer tag "tag".
func (c *churn) consume(ch *amqp.Channel, queue string) <-chan amqp.Delivery {
	d, err := ch.Consume(queue, "tag", false, false, false, false, nil)
	if err != nil {
		c.Fatal(err)
	}
	return d
}

// churns are the ways in which one actor learns of another, each with a cycle in which one of the two is created and removed. The
// queue "q" exists all the time.
var churns = []struct {
	name  string
	start func(c *churn)
	cycle func(c *churn)
}{
	{"channel publishes", nil, func(c *churn) {
		c.other(func(ch visitor) { ch.publish("", "q", "m") })
	}},
	{"channel consumes", nil, func(c *churn) {
		c.other(func(ch visitor) { c.consume(ch.Channel, "q") })
	}},
	{"channel gets", nil, func(c *churn) {
		c.other(func(ch visitor) {
			ch.get("q", false)
		})
	}},
	{"channel declares and binds", nil, func(c *churn) {
		c.other(func(ch visitor) {
			if _, err := ch.QueueDeclare("q", false, false, false, false, amqp.Table{"x-max-length": 10}); err != nil {
				c.Fatal(err)
			}
			if err := ch.QueueBind("q", "k", "amq.direct", false, nil); err != nil {
				c.Fatal(err)
			}
		})
	}},
	{"channel is closed for an error", nil, func(c *churn) {
		ch := c.open(c.client.Connection)
		ch.publish("", "q", "m")
		c.consume(ch.Channel, "q")
		if _, err := ch.QueueDeclarePassive("none", false, false, false, false, nil); err == nil {
			c.Fatal("a queue that is not there was found")
		}
	}},
	{"channel in a transaction", nil, func(c *churn) {
		ch, err := c.client.Channel()
		if err != nil || ch.Tx() != nil {
			c.Fatal(err)
		}
		if err := ch.Publish("", "q", false, false, testkit.Text("m")); err != nil {
			c.Fatal(err)
		}
		if err := ch.TxCommit(); err != nil {
			c.Fatal(err)
		}
		if err := ch.Close(); err != nil {
			c.Fatal(err)
		}
	}},
	{"consumer", nil, func(c *churn) {
		c.consume(c.ch.Channel, "q")
		c.cancel(c.ch.Channel, "tag")
	}},
	{"connection", nil, func(c *churn) {
		conn := c.Connect()
		ch := c.open(conn.Connection)
		ch.publish("", "q", "m")
		c.consume(ch.Channel, "q")
		conn.Leave()
	}},
	{"connection is cut", nil, func(c *churn) {
		conn := c.Connect()
		ch := c.open(conn.Connection)
		ch.publish("", "q", "m")
		c.consume(ch.Channel, "q")
		conn.Cut()
		synctest.Wait()
	}},
	{"connection with an exclusive queue", nil, func(c *churn) {
		conn := c.Connect()
		if _, err := c.open(conn.Connection).QueueDeclare("mine", false, false, true, false, nil); err != nil {
			c.Fatal(err)
		}
		conn.Leave()
	}},
	{"exclusive queue of a connection", nil, func(c *churn) {
		if _, err := c.ch.QueueDeclare("mine", false, false, true, false, nil); err != nil {
			c.Fatal(err)
		}
		c.drop("mine")
	}},
	{"queue is published to", nil, func(c *churn) {
		c.fresh(nil, func(q string) { c.ch.Publish("", q, testkit.Text("m")) })
	}},
	{"queue is consumed", nil, func(c *churn) {
		c.fresh(nil, func(q string) { c.consume(c.ch.Channel, q); c.cancel(c.ch.Channel, "tag") })
	}},
	{"queue ends under its consumer", nil, func(c *churn) {
		c.fresh(nil, func(q string) { c.consume(c.ch.Channel, q) })
		testkit.Receive(c.Bubble, c.ch.Cancelled)
	}},
	{"queue is got from", nil, func(c *churn) {
		c.fresh(nil, func(q string) {
			c.ch.Publish("", q, testkit.Text("m"))
			d, ok, err := c.ch.Channel.Get(q, false)
			if err != nil || !ok || d.Ack(false) != nil {
				c.Fatal(ok, err)
			}
		})
	}},
	{"queue ends by its lease", nil, func(c *churn) {
		c.ch.Declare("fresh", amqp.Table{"x-expires": 10})
		c.ch.Publish("", "fresh", testkit.Text("m"))
		c.Advance(20 * time.Millisecond)
	}},
	{"durable queue", nil, func(c *churn) {
		if _, err := c.ch.QueueDeclare("durable", true, false, false, false, nil); err != nil {
			c.Fatal(err)
		}
		m := testkit.Text("m")
		m.DeliveryMode = amqp.Persistent
		c.ch.Publish("", "durable", m)
		d := testkit.Receive(c.Bubble, c.consume(c.ch.Channel, "durable"))
		if err := d.Ack(false); err != nil {
			c.Fatal(err)
		}
		c.cancel(c.ch.Channel, "tag")
		c.drop("durable")
	}},
	{"exchange", nil, func(c *churn) {
		c.ch.Exchange("x", "topic")
		c.ch.Bind("q", "a.#", "x")
		c.ch.Publish("x", "a.b", testkit.Text("m"))
		if err := c.ch.ExchangeBind("x", "k", "amq.direct", false, nil); err != nil {
			c.Fatal(err)
		}
		if err := c.ch.ExchangeDelete("x", false, false); err != nil {
			c.Fatal(err)
		}
	}},
	{"exchange goes with its last binding", nil, func(c *churn) {
		if err := c.ch.ExchangeDeclare("x", "direct", false, true, false, false, nil); err != nil {
			c.Fatal(err)
		}
		c.fresh(nil, func(q string) { c.ch.Bind(q, "k", "x") })
		synctest.Wait()
	}},
	{"binding of a queue that comes and goes", nil, func(c *churn) {
		c.fresh(nil, func(q string) {
			c.ch.Bind(q, "a.*.#", "amq.topic")
			c.ch.Bind(q, "", "amq.fanout")
			c.ch.Publish("amq.topic", "a.b", testkit.Text("m"))
		})
	}},
	{"dead letters of a queue that comes and goes", nil, func(c *churn) {
		c.fresh(deadTo("q", "x-message-ttl", 1), func(q string) {
			c.ch.Publish("", q, testkit.Text("m"))
			c.Advance(2 * time.Millisecond)
		})
	}},
	{"dead letters to a queue that comes and goes", func(c *churn) {
		c.ch.Declare("source", deadTo("fresh", "x-message-ttl", 1))
	}, func(c *churn) {
		c.fresh(nil, func(string) {
			c.ch.Publish("", "source", testkit.Text("m"))
			c.Advance(2 * time.Millisecond)
		})
	}},
	{"policy", nil, func(c *churn) {
		c.SetPolicy("p", `{"pattern":"^(q|fresh)$","definition":{"max-length":10,"expires":100000}}`)
		c.fresh(nil, func(string) {})
		c.ClearPolicy("p")
	}},
	{"virtual host", nil, func(c *churn) {
		makeVHost(c.Bubble, auth.VHost{Name: "dev"})
		conn, ch := openIn(c.Bubble, "dev")
		if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
			c.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			c.Fatal(err)
		}
		removeVHost(c.Bubble, "dev")
	}},
	{"requester", nil, func(c *churn) {
		c.other(func(ch visitor) {
			replies, err := ch.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
			if err != nil {
				c.Fatal(err)
			}
			if err := ch.Publish("", "asked", false, false, amqp.Publishing{ReplyTo: "amq.rabbitmq.reply-to"}); err != nil {
				c.Fatal(err)
			}
			request := c.ch.Fetch("asked")
			c.ch.Publish("", request.ReplyTo, testkit.Text("reply"))
			testkit.Receive(c.Bubble, replies)
		})
	}},
	{"responder", nil, func(c *churn) {
		replies, err := c.ch.Consume("amq.rabbitmq.reply-to", "replies", true, false, false, false, nil)
		if err != nil {
			c.Fatal(err)
		}
		c.ch.Send("", "asked", amqp.Publishing{ReplyTo: "amq.rabbitmq.reply-to"})
		c.other(func(ch visitor) { ch.publish("", ch.get("asked", true).ReplyTo, "reply") })
		testkit.Receive(c.Bubble, replies)
		c.cancel(c.ch.Channel, "replies")
	}},
	{"firehose", func(c *churn) { c.ch.Bind("q", "#", "amq.rabbitmq.trace") }, func(c *churn) {
		c.VHost().SetTracing(true)
		defer c.VHost().SetTracing(false)
		c.other(func(ch visitor) { ch.publish("amq.topic", "k", "m"); ch.get("q", true) })
	}},
	{"admin commands", nil, func(c *churn) {
		c.other(func(ch visitor) {
			c.fresh(nil, func(q string) {
				if err := ch.Publish("candlemark.admin", "policy.list", false, false, amqp.Publishing{ReplyTo: q, Body: []byte(`{}`)}); err != nil {
					c.Fatal(err)
				}
				ch.get(q, true)
			})
		})
	}},
	{"commands over HTTP", nil, func(c *churn) {
		w := bubbleWeb(c.Bubble)
		w.want(200, "-", "POST", "/api/exchanges/%2F/amq.default/publish", `{"properties":{},"routing_key":"q","payload":"m","payload_encoding":"string"}`)
		w.want(200, "-", "POST", "/api/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`)
	}},
	{"scheduled messages", nil, func(c *churn) {
		c.fresh(nil, func(q string) {
			m := testkit.Text("m")
			m.Headers = amqp.Table{"x-delay": int32(5)}
			c.ch.Publish("", q, m)
			c.Advance(10 * time.Millisecond)
		})
	}},
	{"forwarding", func(c *churn) { c.ch.Bind("q", "", "amq.fanout") }, func(c *churn) {
		c.fresh(amqp.Table{"x-forward-to": "amq.fanout"}, func(q string) { c.ch.Publish("", q, testkit.Text("m")); synctest.Wait() })
	}},
}

// Short-lived clients and queues leave no memory allocated, in any relation to long-lived ones.
func TestChurnLeavesNothing(t *testing.T) {
	quiet := func(cfg *supervision.Config) { cfg.Log = zerolog.Nop() } // the captured log would grow
	testkit.Run(t, quiet, func(b *testkit.Bubble) {
		c := &churn{Bubble: b}
		c.settle()
		c.client = b.ConnectFew()
		c.ch = c.client.Open()
		c.ch.Confirms()
		c.ch.Declare("q", amqp.Table{"x-max-length": 10})
		c.ch.Declare("asked", nil)
		c.ch.Publish("", "q", testkit.Text("m"))
		for _, test := range churns {
			if test.start != nil {
				test.start(c)
			}
			c.pass(test.cycle, churnFirst)
			before := c.heap()
			c.pass(test.cycle, churnCycles)
			left := (c.heap() - before) / churnCycles
			if t.Logf("%s: each leaves %d bytes", test.name, left); left > churnBound {
				t.Errorf("%s: each leaves %d bytes", test.name, left)
			}
		}
	})
}

// settle brings the registry of names to its final size: each of its shards has held a name.
func (c *churn) settle() {
	registry := c.Node.System().ProcessRegistry
	for range 400_000 {
		pid, _ := registry.Add(actor.NewActorProcess(nil), "inbox/"+registry.NextId())
		registry.Remove(pid)
	}
}

func (c *churn) pass(cycle func(*churn), times int) {
	for range times {
		cycle(c)
		c.Advance(time.Second) // otherwise the timers of all cycles fire at once, each in a goroutine of its own
	}
	c.Advance(time.Minute)
}

// heap returns the bytes of the live heap. Values of package unique (policies of queues) are freed in several steps, one of them
// in a goroutine of the runtime, so heap collects garbage until several collections free nothing.
func (c *churn) heap() int64 {
	least := int64(math.MaxInt64)
	for fruitless := 0; fruitless < 4; fruitless++ {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if alive := int64(m.HeapAlloc); alive < least {
			least, fruitless = alive, 0
		}
	}
	return least
}
