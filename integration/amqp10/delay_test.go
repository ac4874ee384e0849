package amqp10

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
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
			{"/queues/holds", "/queues/holds", func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: float32(5000)} }},
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

// A delay that is invalid, too long, or that no queue on the route honours is refused: no queue has the message. A past
// delay counts as no delay.
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

// An abandoned message is delivered again at the time that its consumer names, also to a session, and keeps the other
// properties, each once and with its type. The delivery counts, and does not delay the next message.
func TestAbandon_RETRY5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entityOf(b, 20)
		sessions(b)
		n := c.node("q")
		modify := func(r *amqp.Receiver, m *amqp.Message, given amqp.Annotations) {
			t.Helper()
			if err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{Annotations: given}); err != nil {
				t.Fatal(err)
			}
		}
		byToken := func(_ *amqp.Receiver, m *amqp.Message, given amqp.Annotations) {
			t.Helper()
			if code := n.dispose("abandoned", []amqp.UUID{tokenOf(m)}, map[string]any{"properties-to-modify": given}); code != 200 {
				t.Fatal(code)
			}
		}
		for i, x := range []struct {
			queue   string
			abandon func(*amqp.Receiver, *amqp.Message, amqp.Annotations)
			given   func(at time.Time) amqp.Annotations
		}{
			{"q", modify, func(at time.Time) amqp.Annotations { return amqp.Annotations{timeKey: at, "n": int32(1)} }},
			{"q", modify, func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: int64(5000), "n": int32(2)} }},
			{"q", byToken, func(at time.Time) amqp.Annotations {
				return amqp.Annotations{timeKey: at.UnixMilli(), delayKey: 1.0, "n": int32(3)}
			}},
			{"q", byToken, func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: uint32(5000), "n": int32(4)} }},
			{"s", modify, func(time.Time) amqp.Annotations { return amqp.Annotations{delayKey: int32(5000), "n": int32(5)} }},
		} {
			opts := second(9)
			if x.queue == "s" {
				opts = ofSession("A")
				opts.Credit = 9
			}
			c.sendsTo(x.queue, "A", "1", "2")
			r := c.receiver(x.queue, opts)
			m, other := c.next(r), c.next(r)
			if m == nil || other == nil || string(m.GetData()) != "1" {
				t.Fatalf("%d: %v %v", i, m, other)
			}
			at := time.Now().Add(5 * time.Second).Truncate(time.Millisecond)
			x.abandon(r, m, x.given(at))
			if err := r.ReleaseMessage(context.Background(), other); err != nil {
				t.Fatal(err)
			}
			if other = c.next(r); other == nil || string(other.GetData()) != "2" {
				t.Fatalf("%d: the next message waits as well", i)
			}
			b.Advance(time.Until(at) - time.Millisecond)
			if m := r.Prefetched(); m != nil {
				t.Errorf("%d: early", i)
			}
			b.Advance(2 * time.Millisecond)
			again := r.Prefetched()
			if again == nil || string(again.GetData()) != "1" {
				t.Fatalf("%d: not delivered", i)
			}
			p, notes := again.ApplicationProperties, again.Annotations
			if len(p) != 1 || p["n"] != int32(i+1) || again.Header.DeliveryCount != m.Header.DeliveryCount+1 ||
				notes["x-opt-message-state"] != nil || notes[timeKey] != nil || notes[delayKey] != nil {
				t.Errorf("%d: %v %v %+v", i, p, notes, again.Header)
			}
			for _, m := range []*amqp.Message{again, other} {
				if err := r.AcceptMessage(context.Background(), m); err != nil {
					t.Fatal(err)
				}
			}
			_ = r.Close(context.Background())
		}
	})
}

// A delay that is invalid, too long, or of a deferred message is refused: the message stays locked, and is settled later.
func TestAbandonRefused_RETRY5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entityOf(b, 20)
		n, r := c.node("q"), c.receiver("q", second(2))
		for _, x := range []struct {
			deferred bool
			key      string
			value    any
			want     amqp.ErrCond
		}{
			{false, delayKey, int64(-1), amqp.ErrCondPreconditionFailed},
			{false, delayKey, "1", amqp.ErrCondPreconditionFailed},
			{false, timeKey, "soon", amqp.ErrCondPreconditionFailed},
			{false, timeKey, time.Now().Add(11 * 365 * 24 * time.Hour), amqp.ErrCondPreconditionFailed},
			{false, delayKey, uint64(1 << 63), amqp.ErrCondPreconditionFailed},
			{true, delayKey, int64(1), amqp.ErrCondNotAllowed},
		} {
			given := amqp.Annotations{x.key: x.value}
			c.put(c.sender("q", nil), "m")
			m := c.next(r)
			err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{Annotations: given, UndeliverableHere: x.deferred})
			var refused *amqp.Error
			if !errors.As(err, &refused) || refused.Condition != x.want {
				t.Errorf("%s = %v: %v", x.key, x.value, err)
			}
			status := map[bool]string{false: "abandoned", true: "defered"}[x.deferred]
			if code := n.dispose(status, []amqp.UUID{tokenOf(m)}, map[string]any{"properties-to-modify": given}); code != 400 {
				t.Errorf("%s = %v: %d", x.key, x.value, code)
			}
			if i := b.Describe("q"); i.Unacked != 1 {
				t.Errorf("%s = %v: %d unacked", x.key, x.value, i.Unacked)
			}
			if code := n.dispose("abandoned", []amqp.UUID{tokenOf(m)}, map[string]any{"properties-to-modify": amqp.Annotations{delayKey: int64(0)}}); code != 200 {
				t.Error(code)
			}
			c.want(r, "m")
		}
	})
}

// If the client expects no answer, an invalid delay detaches the link, and the message stays locked.
func TestAbandonDetached_RETRY5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Log.Allow("link detached by the broker")
		c.put(c.sender("q", nil), "m")
		r := c.receiver("q", nil)
		err := r.ModifyMessage(context.Background(), c.next(r), &amqp.ModifyMessageOptions{Annotations: amqp.Annotations{delayKey: "1"}})
		if err == nil { // the client has not noticed yet
			_, err = r.Receive(context.Background(), nil)
		}
		if condition(err) != amqp.ErrCondPreconditionFailed {
			t.Error(err)
		}
		if i := b.Describe("q"); i.Unacked != 1 || i.Ready != 0 {
			t.Errorf("%d unacked, %d ready", i.Unacked, i.Ready)
		}
	})
}

// In a transaction an abandoned message is delayed, and an invalid delay is refused and breaks the transaction.
func TestAbandonInTransaction_RETRY5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Connect().Open().Declare("other", nil)
		c.put(c.sender("q", nil), "m")
		x := transacts(t, b, "/queues/other", "q")
		defer func() { _ = x.Close() }()
		id := x.want(amqp10.CodeTransfer).(*amqp10.Transfer).DeliveryID.Value
		for _, after := range []int64{-1, 5000} {
			txn := x.declare()
			given := amqp10.State{Kind: amqp10.Modified, MessageAnnotations: amqp10.Map{{Key: amqp10.Symbol(delayKey), Value: after}}}
			x.send(2, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: id, State: amqp10.State{
				Kind: amqp10.Transactional, TxnID: txn, Outcome: amqp10.AppendComposite(nil, &given),
			}})
			d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition)
			if refused := d.State.Kind == amqp10.Rejected; refused != (after < 0) {
				t.Errorf("%d: %+v", after, d.State)
			}
			x.post(1, nil, x.coordinate(0x32, txn, false))
			if after > 0 {
				x.want(amqp10.CodeDisposition) // of the message
			}
			if broken := x.outcome(x.want(amqp10.CodeDisposition).(*amqp10.Disposition).State); (broken != "") != (after < 0) {
				t.Errorf("%d: %s", after, broken)
			}
		}
		b.Advance(4 * time.Second) // the commit takes some time
		if i := b.Describe("q"); i.Postponed != 1 || i.Unacked != 0 {
			t.Errorf("%d postponed, %d unacked", i.Postponed, i.Unacked)
		}
		b.Advance(time.Second)
		if i := b.Describe("q"); i.Postponed != 0 {
			t.Errorf("%d postponed", i.Postponed)
		}
	})
}

// An invalid delay of a returned message detaches the link of a queue, and its unsettled messages are requeued.
func TestReturnRefused_RETRY2(t *testing.T) {
	for value, condition := range map[any]amqp.ErrCond{
		int64(-1): amqp.ErrCondPreconditionFailed, "5000": amqp.ErrCondPreconditionFailed, int64(1) << 45: amqp.ErrCondPreconditionFailed, int64(0): "",
	} {
		run(t, func(b *testkit.Bubble, c *client) {
			b.Log.Allow("link detached by the broker")
			b.Connect().Open().Declare("q", nil)
			c.put(c.sender("/queues/q", nil), "1", "2")
			r := c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: 2})
			err := r.ModifyMessage(context.Background(), c.next(r), &amqp.ModifyMessageOptions{Annotations: amqp.Annotations{delayKey: value}})
			c.next(r)
			if err == nil && condition != "" {
				_, err = r.Receive(context.Background(), nil)
			}
			var e *amqp.LinkError
			if got := errors.As(err, &e) && e.RemoteErr.Condition == condition; got != (condition != "") {
				t.Errorf("%v: %v", value, err)
			}
			b.Advance(time.Millisecond)
			if i := b.Describe("q"); condition != "" && (i.Unacked != 0 || i.Ready != 2 || i.Consumers != 0) {
				t.Errorf("%v: %d unacked, %d ready, %d consumers", value, i.Unacked, i.Ready, i.Consumers)
			}
		})
	}
}
