package amqp10

import (
	"context"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// zero returns a message whose header has a ttl of 0, which go-amqp does not send.
func zero(body string) []byte {
	head := amqp10.AppendComposite(nil, &amqp10.Header{Durable: true, TTL: amqp10.Some(uint32(0))})
	return append(amqp10.AppendDataHead(head, len(body)), body...)
}

// A message with a ttl of 0 is accepted, and delivered to a receiver that has credit for it; otherwise it expires at once. It
// also expires when it is requeued.
func TestZeroTTL_TTL20_TTL21_TTL22(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("classic", amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		dead := c.receiver("/queues/dead", nil)
		for address, isEntity := range map[string]bool{"/queues/classic": false, "q": true} {
			x := openRaw(b, opening())
			x.send(1, beginning())
			x.want(amqp10.CodeBegin)
			to := sending(0, "")
			to.Target.Address = amqp10.Some(address)
			x.send(1, to)
			x.want(amqp10.CodeAttach)
			ids := uint32(0)
			send := func(body string) {
				t.Helper()
				x.say(transferFrame(0, ids, false, zero(body)))
				ids++
				if d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition); d.State.Kind != amqp10.Accepted {
					t.Errorf("%s: %+v", address, d)
				}
			}
			send("nobody waits")
			if isEntity {
				c.want(c.receiver("q/$DeadLetterQueue", second(1)), "nobody waits")
			} else {
				c.want(dead, "nobody waits")
				r := c.receiver(address, &amqp.ReceiverOptions{Credit: 1})
				b.Advance(0)
				send("waited for")
				m := c.next(r)
				if m == nil || string(m.GetData()) != "waited for" {
					t.Fatalf("%+v", m)
				}
				if err := r.ReleaseMessage(context.Background(), m); err != nil {
					t.Fatal(err)
				}
				c.want(dead, "waited for")
			}
			_ = x.Close()
		}
	})
}

// The TTL of a message sent in a transaction begins at the discharge.
func TestTransaction_TTL12(t *testing.T) {
	transacting(t, func(b *testkit.Bubble, _ *client, x *transactor) {
		txn := x.declare()
		message := amqp10.AppendComposite(nil, &amqp10.Header{TTL: amqp10.Some(uint32(5000))})
		if s := x.transfer(2, txn, append(amqp10.AppendDataHead(message, 1), 'm')); s.Kind != amqp10.Transactional {
			t.Fatalf("%+v", s)
		}
		b.Advance(20 * time.Second)
		if s := x.discharge(txn, false); s != "" {
			t.Fatal(s)
		}
		b.Advance(4990 * time.Millisecond)
		if i := b.Describe("q"); i.Ready != 1 {
			t.Error("it expired early")
		}
		b.Advance(20 * time.Millisecond)
		if i := b.Describe("q"); i.Ready != 0 {
			t.Error("it has not expired")
		}
	})
}

// A queue that stamps its messages adds annotations to deliveries.
func TestStamps_TTL11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", amqp091.Table{"x-stamp-expiry": true, "x-message-ttl": int32(5000)})
		at := time.Now().UnixMilli()
		for _, address := range []string{"/queues/q", "q"} {
			c.send(c.sender(address, nil), &amqp.Message{Data: [][]byte{{1}}, Annotations: amqp.Annotations{"x-expires-at": int64(1)}})
			r := c.receiver(address, nil)
			m := c.next(r)
			if m == nil {
				t.Fatal(address)
			}
			entered, _ := m.Annotations["x-enqueued-at"].(int64)
			if ends, _ := m.Annotations["x-expires-at"].(int64); entered < at || ends != entered+5000 {
				t.Errorf("%s: %v", address, m.Annotations)
			}
			if err := r.AcceptMessage(context.Background(), m); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A message with an invalid time, or one too far in the future, is rejected with the error text of 0-9-1 if its queue uses that
// time; other queues ignore it.
func TestBadTimes_TTL6_DLY2_DLY10(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ch := b.Connect().Open()
		ch.Declare("plain", nil)
		ch.Declare("timed", amqp091.Table{"x-expires-at-header": "x-ends", "x-delayed-messages": true, "x-deliver-at-header": "x-begins"})
		if err := ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp091.Table{"x-delayed-type": "fanout"}); err != nil {
			t.Fatal(err)
		}
		const years = int64(20 * 365 * 24 * time.Hour / time.Millisecond)
		for _, w := range []struct {
			address, key string
			value        any
			want         string
		}{
			{"/queues/timed", "x-ends", "soon", "invalid header 'x-ends'"},
			{"/queues/timed", "x-ends", int64(5), "invalid header 'x-ends'"},
			{"timed", "x-ends", "soon", "invalid header 'x-ends'"},
			{"/queues/timed", "x-begins", "soon", "invalid header 'x-begins'"},
			{"timed", "x-begins", time.Now().Add(20 * 365 * 24 * time.Hour), "invalid header 'x-begins'"},
			{"/queues/timed", "x-delay", "soon", "invalid header 'x-delay'"},
			{"/queues/timed", "x-delay", years, "invalid header 'x-delay'"},
			{"/exchanges/later", "x-delay", "soon", "invalid header 'x-delay'"},
			{"q", "x-opt-scheduled-enqueue-time", time.Now().Add(20 * 365 * 24 * time.Hour), "x-deliver-at"},
			{"/queues/plain", "x-ends", "soon", ""},
			{"plain", "x-delay", "soon", ""},
		} {
			s := c.sender(w.address, nil)
			state := c.send(s, &amqp.Message{Data: [][]byte{{1}}, Annotations: amqp.Annotations{w.key: w.value}})
			text := ""
			if rejected, is := state.(*amqp.StateRejected); is && rejected.Error != nil && rejected.Error.Condition == "amqp:precondition-failed" {
				text = rejected.Error.Description
			}
			if !strings.Contains(text, w.want) || (w.want == "") != (stateOf(state) == "accepted") {
				t.Errorf("%s with %s = %v: %s %s", w.address, w.key, w.value, stateOf(state), text)
			}
			_ = s.Close(context.Background())
		}
		for name, want := range map[string]int{"timed": 0, "q": 0, "plain": 2} {
			if i := b.Describe(name); i.Ready+i.Scheduled.Count != want {
				t.Errorf("%s: %d ready, %d scheduled", name, i.Ready, i.Scheduled.Count)
			}
		}
	})
}
