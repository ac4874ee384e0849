package broker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

const ms = time.Millisecond

// ends checks that a queue exists until a point in time, and no longer.
func ends(b *testkit.Bubble, queue string, at time.Duration) {
	b.Helper()
	b.AdvanceTo(at - 1)
	if b.Queue(queue) == nil {
		b.Fatalf("%s is gone before %s", queue, at)
	}
	b.AdvanceTo(at)
	if b.Queue(queue) != nil {
		b.Fatalf("%s is still there at %s", queue, at)
	}
}

// closedWith checks that err is the given error of a channel closed by the broker.
func closedWith(b *testkit.Bubble, err error, code int, text string) {
	b.Helper()
	var e *amqp.Error
	if !errors.As(err, &e) || e.Code != code || e.Reason != text {
		b.Errorf("got %v, want %d %s", err, code, text)
	}
}

// leased is a queue with a lease of 900 ms, declared at 0.
type leased struct {
	*testkit.Bubble
	client *testkit.Client
	*testkit.Channel
	held amqp.Delivery
}

func (l *leased) redeclare(passive, noWait bool, args amqp.Table) error {
	declare := l.QueueDeclare
	if passive {
		declare = l.QueueDeclarePassive
	}
	_, err := declare("q", false, false, false, noWait, args)
	return err
}

var leaseArgs = amqp.Table{"x-expires": 900}

// Actions at 600 ms that renew a lease of 900 ms: all actions of LEASE-4 that AMQP has.
func TestLEASE4Renewal(t *testing.T) {
	const kept, renewed = 900 * ms, 1500 * ms
	get := func(l *leased) (err error) {
		l.held, _, err = l.Get("q", false)
		return err
	}
	for _, tc := range []struct {
		name   string
		before func(l *leased) error // at 100 ms; prepares a held message or a consumer
		act    func(l *leased) error // at 600 ms
		ends   time.Duration
	}{
		{"nothing", nil, nil, kept},
		{"declare", nil, func(l *leased) error { return l.redeclare(false, false, leaseArgs) }, renewed},
		{"declare nowait", nil, func(l *leased) error { return l.redeclare(false, true, leaseArgs) }, kept},
		{"passive", nil, func(l *leased) error { return l.redeclare(true, false, nil) }, renewed},
		{"passive nowait", nil, func(l *leased) error { return l.redeclare(true, true, nil) }, kept},
		{"declare refused", nil, func(l *leased) error {
			if l.redeclare(false, false, amqp.Table{"x-expires": 901}) == nil {
				return errors.New("was not refused")
			}
			return nil
		}, kept},
		{"get", nil, func(l *leased) error { _, _, err := l.Get("q", true); return err }, renewed},
		{"get of an empty queue", nil, func(l *leased) error {
			_, _ = l.QueuePurge("q", false)
			_, ok, err := l.Get("q", true)
			if ok {
				err = errors.New("not empty")
			}
			return err
		}, renewed},
		{"publish", nil, func(l *leased) error { l.Send("", "q", testkit.Text("m")); return nil }, kept},
		{"bind", nil, func(l *leased) error { return l.QueueBind("q", "k", "amq.direct", false, nil) }, kept},
		{"bind nowait", nil, func(l *leased) error { return l.QueueBind("q", "k", "amq.direct", true, nil) }, kept},
		{"unbind", nil, func(l *leased) error { return l.QueueUnbind("q", "k", "amq.direct", nil) }, kept},
		{"purge", nil, func(l *leased) error { _, err := l.QueuePurge("q", false); return err }, kept},
		{"purge nowait", nil, func(l *leased) error { _, err := l.QueuePurge("q", true); return err }, kept},
		{"describe", nil, func(l *leased) error { l.Describe("q"); return nil }, kept},
		{"ack", get, func(l *leased) error { return l.held.Ack(false) }, 1000 * ms},
		{"nack", get, func(l *leased) error { return l.held.Nack(false, false) }, 1000 * ms},
		{"reject and requeue", get, func(l *leased) error { return l.held.Reject(true) }, 1000 * ms},
		{"close with an unacked get", get, func(l *leased) error { return l.Channel.Close() }, renewed},
		{"leave with an unacked get", get, func(l *leased) error { return l.client.Close() }, renewed},
		{"close with an acked get", func(l *leased) error {
			if err := get(l); err != nil {
				return err
			}
			return l.held.Ack(false)
		}, func(l *leased) error { return l.Channel.Close() }, 1000 * ms},
		{"close with nothing", nil, func(l *leased) error { return l.Channel.Close() }, kept},
		{"cancel", consumes, func(l *leased) error { return l.Cancel("c", false) }, renewed},
		{"cancel nowait", consumes, func(l *leased) error { return l.Cancel("c", true) }, renewed},
		{"consumer's channel closes", consumes, func(l *leased) error { return l.Channel.Close() }, renewed},
		{"consumer leaves", consumes, func(l *leased) error { return l.client.Close() }, renewed},
		{"consumer is cut off", consumes, func(l *leased) error { return l.client.Socket.Close() }, renewed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				client := b.Connect()
				l := &leased{Bubble: b, client: client, Channel: client.Open()}
				l.Declare("q", leaseArgs)
				l.Send("", "q", testkit.Text("m"))
				for _, step := range []struct {
					at time.Duration
					do func(*leased) error
				}{{100 * ms, tc.before}, {600 * ms, tc.act}} {
					b.AdvanceTo(step.at)
					if step.do == nil {
						continue
					}
					if err := step.do(l); err != nil {
						t.Fatal(err)
					}
				}
				ends(b, "q", tc.ends)
			})
		})
	}
}

// Publishing does not renew the lease of a queue, unless an argument or a policy counts it as use.
func TestLEASE4_RenewedByPublishing(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		b.SetPolicy("use", `{"pattern":"^policy$","definition":{"expires-renewed-by":"publish"}}`)
		queues := []string{"argument", "policy", "plain"}
		ch.Declare("argument", amqp.Table{"x-expires": 900, "x-expires-renewed-by": "publish"})
		ch.Declare("policy", leaseArgs)
		ch.Declare("plain", leaseArgs)
		b.AdvanceTo(600 * ms)
		for _, q := range queues {
			ch.Send("", q, testkit.Text("m"))
		}
		ends(b, "plain", 900*ms)
		b.AdvanceTo(1500*ms - 1)
		if b.Queue("policy") == nil {
			t.Error("what a policy says does not count")
		}
		ends(b, "argument", 1500*ms)
		if b.Queue("policy") != nil {
			t.Error("is still there")
		}
	})
}

func consumes(l *leased) error {
	_, err := l.Consume("q", "c", true, false, false, false, nil)
	return err
}

// A lease of two days; a consumer keeps the queue for four days, and the lease begins anew when it leaves.
func TestLEASE3Days(t *testing.T) {
	const day = 24 * time.Hour
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		args := amqp.Table{"x-expires": (2 * day).Milliseconds()}
		ch.Declare("unused", args)
		ch.Declare("used", args)
		other := b.Connect().Open()
		deliveries := other.Tail("used")
		ch.Send("", "used", testkit.Text("m"))
		testkit.Receive(b, deliveries)
		ends(b, "unused", 2*day)
		b.AdvanceTo(4 * day)
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		ends(b, "used", 6*day)
	})
}

// LEASE-5: a passive declare of another connection's exclusive queue renews its lease, and fails.
func TestLEASE5PassiveOfExclusive(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("q", false, false, true, false, leaseArgs); err != nil {
			t.Fatal(err)
		}
		other := b.Connect().Open()
		b.AdvanceTo(600 * ms)
		_, err := other.QueueDeclarePassive("q", false, false, true, false, nil)
		closedWith(b, err, 405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be "+
			"originally declared on another connection or the exclusive property value does not match that of the original declaration.")
		ends(b, "q", 1500*ms) // LEASE-11: also while the owner is connected
	})
}

// Messages, held or not, do not keep a queue alive, and are not dead-lettered when its lease ends; a held one may still be
// settled (LEASE-6, LEASE-7).
func TestLEASE6And7(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead", "x-expires", 900))
		ch.Confirms()
		for range 2 {
			ch.Publish("", "q", testkit.Text("m"))
		}
		d, ok, err := ch.Get("q", false)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		ends(b, "q", b.Elapsed().Truncate(ms)+900*ms)
		if err := d.Nack(false, true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ch.Declare("still open", nil)
		if n := b.Describe("dead").Ready; n != 0 {
			t.Errorf("%d dead-lettered", n)
		}
	})
}

// The end of a lease has the effects of any deletion (LEASE-8): on routes, auto-delete exchanges, errors.
func TestLEASE8Deletion(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		if err := ch.ExchangeDeclare("x", "fanout", false, true, false, false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Declare("q", leaseArgs)
		ch.Bind("q", "", "x")
		ends(b, "q", 900*ms)
		if b.VHost().Directory().Exchange([]byte("x")) != nil {
			t.Error("the auto-delete exchange is still there")
		}
		if !ch.Await(ch.Begin("", "q", true, testkit.Text("m"))) {
			t.Error("nack")
		}
		if r := testkit.Receive(b, ch.Returns); r.ReplyCode != 312 {
			t.Errorf("%+v", r)
		}
		_, _, err := ch.Get("q", true)
		closedWith(b, err, 404, "NOT_FOUND - no queue 'q' in vhost '/'")
	})
}

// LEASE-10: the lease of an auto-delete queue applies before its first consumer.
func TestLEASE10AutoDelete(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		for _, name := range []string{"never", "used"} {
			if _, err := ch.QueueDeclare(name, false, true, false, false, leaseArgs); err != nil {
				t.Fatal(err)
			}
		}
		ch.Tail("used")
		ends(b, "never", 900*ms)
		b.AdvanceTo(time.Hour)
		if err := ch.Cancel("used-a", false); err != nil {
			t.Fatal(err)
		}
		if b.Queue("used") != nil {
			t.Error("auto-delete did not happen")
		}
	})
}
