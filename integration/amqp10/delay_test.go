package amqp10

import (
	"context"
	"slices"
	"testing"
	"time"

	"candlemark/internal/testkit"
	"candlemark/protocol/amqp10"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// holding declares a queue that schedules messages, one that does not, and a delayed exchange bound to both.
func holding(b *testkit.Bubble) {
	b.Helper()
	entity(b)
	ch := b.Connect().Open()
	ch.Declare("holds", amqp091.Table{"x-delayed-messages": true})
	ch.Declare("plain", nil)
	for _, err := range []error{
		ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp091.Table{"x-delayed-type": "fanout"}),
		ch.ExchangeDeclare("both", "fanout", true, false, false, false, nil),
		ch.QueueBind("plain", "", "later", false, nil), ch.QueueBind("plain", "", "both", false, nil), ch.QueueBind("holds", "", "both", false, nil),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// The annotations, and texts of refusals.
const (
	notHeld    = "amqp:not-allowed queue 'plain' does not accept delayed messages: set delayed-messages to true"
	tooFar     = "amqp:precondition-failed the time of delivery is more than 10 years away"
	badTime    = "amqp:precondition-failed invalid 'x-opt-delivery-time': "
	badDelay   = "amqp:precondition-failed invalid 'x-opt-delivery-delay': "
	timeKey    = "x-opt-delivery-time"
	delayKey   = "x-opt-delivery-delay"
	noTime     = " is not a time in milliseconds since 1970"
	noDuration = " is not a number of milliseconds"
)

// sent returns the outcome of a message with annotations: accepted, or condition and description.
func (c *client) sent(address, body string, given amqp.Annotations) string {
	c.Helper()
	var s *amqp.Sender
	m := amqp.NewMessage([]byte(body))
	if s = c.sender(address, nil); address == "" {
		to := "/queues/holds"
		m.Properties = &amqp.MessageProperties{To: &to}
	}
	defer func() { _ = s.Close(context.Background()) }()
	m.Annotations = given
	state := c.send(s, m)
	if r, is := state.(*amqp.StateRejected); is && r.Error != nil {
		return string(r.Error.Condition) + " " + r.Error.Description
	}
	return stateOf(state)
}

// A message is delivered at its time, to the millisecond, by queues, delayed exchanges and entities.
func TestDelays_DLY16(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		holding(b)
		for _, x := range []struct {
			address, from string
			given         func(at time.Time) amqp.Annotations
		}{
			{"/queues/holds", "/queues/holds", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at} }},
			{"/queues/holds", "/queues/holds", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at.UnixMilli()} }},
			{"", "/queues/holds", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: uint64(at.UnixMilli())} }},
			{"/queues/holds", "/queues/holds", func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: int32(5000)} }},
			{"/queues/holds", "/queues/holds", func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: 5000.0} }},
			{"/queues/holds", "/queues/holds", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at, delayKey: uint32(1000)} }},
			{"/queues/holds", "/queues/holds", func(at time.Time) amqp.Annotations {
				return amqp.Annotations{timeKey: at.Add(-time.Second), delayKey: int64(5000)}
			}},
			{"/exchanges/later", "/queues/plain", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at, delayKey: int64(1)} }},
			{"/exchanges/later", "/queues/plain", func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: int64(5000)} }},
			{"q", "q", func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at.UnixMilli()} }},
			{"q", "q", func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: int64(5000)} }},
		} {
			at := time.Now().Add(5 * time.Second).Truncate(time.Millisecond)
			given := x.given(at)
			r := c.receiver(x.from, nil)
			if got := c.sent(x.address, "m", given); got != "accepted" {
				t.Fatalf("%s %v: %s", x.address, given, got)
			}
			b.Advance(time.Until(at) - time.Millisecond)
			if m := r.Prefetched(); m != nil {
				t.Errorf("%s %v: early", x.address, given)
			}
			b.Advance(2 * time.Millisecond)
			m := r.Prefetched()
			if m == nil {
				t.Fatalf("%s %v: not delivered", x.address, given)
			}
			for key, v := range given {
				if was, is := v.(time.Time); is {
					got, _ := m.Annotations[key].(time.Time)
					if !got.Equal(was) {
						t.Errorf("%s: %v, not %v", x.address, m.Annotations, given)
					}
				} else if m.Annotations[key] != v {
					t.Errorf("%s: %v, not %v", x.address, m.Annotations, given)
				}
			}
			if err := r.AcceptMessage(context.Background(), m); err != nil {
				t.Fatal(err)
			}
			_ = r.Close(context.Background())
		}
	})
}

// A delay that is invalid, too long, or that no queue on the route honours is refused: no queue has the message. A delay
// that is over is none.
func TestDelaysRefused_DLY16(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		holding(b)
		soon, far := time.Now().Add(time.Second), time.Now().Add(11*365*24*time.Hour)
		for _, x := range []struct {
			address, key string
			value        any
			want         string
		}{
			{"/queues/plain", timeKey, soon, notHeld},
			{"/queues/plain", delayKey, int64(1), notHeld},
			{"/exchanges/both", delayKey, int64(1), notHeld},
			{"plain", timeKey, soon.UnixMilli(), notHeld},
			{"/queues/holds", timeKey, far, tooFar},
			{"/exchanges/later", timeKey, far, tooFar},
			{"/queues/holds", delayKey, int64(11 * 365 * 24 * 3600_000), tooFar},
			{"/queues/holds", delayKey, uint64(1 << 63), tooFar},
			{"/queues/holds", timeKey, "soon", badTime + "soon" + noTime},
			{"/queues/holds", timeKey, int64(-1), badTime + "-1" + noTime},
			{"/queues/holds", timeKey, soon.Unix(), badTime + "946684801" + noTime},
			{"/queues/holds", delayKey, int64(-1), badDelay + "-1" + noDuration},
			{"/queues/holds", delayKey, 1.5, badDelay + "1.5" + noDuration},
			{"/queues/plain", delayKey, "1", badDelay + "1" + noDuration},
			{"q", delayKey, int64(-1), badDelay + "-1" + noDuration},
			{"/queues/plain", timeKey, time.Now(), "accepted"},
			{"/queues/plain", delayKey, int64(0), "accepted"},
			{"/queues/plain", delayKey, nil, "accepted"},
		} {
			if got := c.sent(x.address, "m", amqp.Annotations{x.key: x.value}); got != x.want {
				t.Errorf("%s, %s = %v: %s", x.address, x.key, x.value, got)
			}
		}
		for name, want := range map[string]int{"holds": 0, "q": 0, "plain": 3} {
			if i := b.Describe(name); i.Ready+i.Scheduled.Count != want {
				t.Errorf("%s: %d ready, %d scheduled", name, i.Ready, i.Scheduled.Count)
			}
		}
	})
}

// The connection and its links offer the capability that Qpid JMS requires for delays.
func TestDelayCapability_DLY16(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		holding(b)
		x := openRaw(b, opening())
		x.send(1, beginning())
		x.want(amqp10.CodeBegin)
		for i, address := range []string{"/queues/holds", "q"} {
			to := sending(uint32(i), "")
			to.Name, to.Target.Address = address, amqp10.Some(address)
			x.send(1, to)
			if a := x.want(amqp10.CodeAttach).(*amqp10.Attach); !slices.Contains(a.OfferedCapabilities, "DELAYED_DELIVERY") {
				t.Errorf("%s: %v", address, a.OfferedCapabilities)
			}
		}
		_ = x.Close()
	})
}
