package amqp10

import (
	"context"
	"reflect"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/servicebus/dialect/servicebus"

	"github.com/Azure/go-amqp"
)

// Bodies of all kinds are received from an entity as they were sent; annotations reserved for the broker that a client sends with
// null or other values have no effect.
func TestEntity_AsSent(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s, r := c.sender("q", nil), c.receiver("q", second(1))
		for name, m := range map[string]*amqp.Message{
			"several data sections": {Data: [][]byte{[]byte("one"), []byte("two"), {}}},
			"a value":               {Value: map[string]any{"n": int64(7), "list": []any{"x", true}}},
			"no value":              {Value: nil, Data: [][]byte{{}}},
			"sequences":             {Sequence: [][]any{{int32(1), "a"}, {uint8(2)}}},
			"a footer":              {Data: [][]byte{[]byte("m")}, Footer: amqp.Annotations{"x-opt-footer": "f"}},
			"types of properties":   {Data: [][]byte{{1}}, ApplicationProperties: map[string]any{"b": int8(1), "u": uint64(1 << 60), "f": 1.5, "t": true, "d": []byte{1}, "nothing": nil, "s": ""}},
		} {
			m.Properties = &amqp.MessageProperties{MessageID: name}
			m.Annotations = amqp.Annotations{
				"x-opt-partition-key": nil, "x-opt-deadletter-source": nil, "x-opt-locked-until": nil, "x-opt-sequence-number": nil, "x-opt-enqueued-time": nil, "x-opt-mine": name,
			}
			if state := stateOf(c.send(s, m)); state != "accepted" {
				t.Fatal(name, state)
			}
			got := c.next(r)
			if got == nil || got.Properties.MessageID != name || got.Annotations["x-opt-mine"] != name || got.Annotations["x-opt-deadletter-source"] != nil {
				t.Fatalf("%s: %+v", name, got)
			}
			if n, _ := got.Annotations["x-opt-sequence-number"].(int64); n == 0 || got.Annotations["x-opt-locked-until"] == nil {
				t.Errorf("%s: %v", name, got.Annotations)
			}
			if !reflect.DeepEqual(got.Data, m.Data) || !reflect.DeepEqual(got.Value, m.Value) || !reflect.DeepEqual(got.Sequence, m.Sequence) ||
				!reflect.DeepEqual(got.Footer, m.Footer) || !reflect.DeepEqual(got.ApplicationProperties, m.ApplicationProperties) {
				t.Errorf("%s: got %+v, sent %+v", name, got, m)
			}
			if err := r.AcceptMessage(context.Background(), got); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The sections of a batch's envelope are ignored (SDKs copy them from its first message): only the messages inside count.
func TestEntity_BatchEnvelope(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		inside, err := (&amqp.Message{Properties: &amqp.MessageProperties{MessageID: "inside"}, Data: [][]byte{[]byte("m")}}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		envelope := &amqp.Message{
			Format: servicebus.BatchFormat, Header: &amqp.MessageHeader{TTL: time.Second, Priority: 9}, Properties: &amqp.MessageProperties{MessageID: "outside"},
			ApplicationProperties: map[string]any{"n": int32(1)}, Annotations: amqp.Annotations{"x-opt-partition-key": "p", "x-opt-scheduled-enqueue-time": time.Now().Add(time.Hour)},
			Data: [][]byte{inside},
		}
		if got := stateOf(c.send(c.sender("q", nil), envelope)); got != "accepted" {
			t.Fatal(got)
		}
		b.Advance(time.Minute)
		m := c.next(c.receiver("q", second(1)))
		if m == nil || m.Properties.MessageID != "inside" || m.ApplicationProperties != nil || m.Annotations["x-opt-partition-key"] != nil || m.Header.TTL != 0 {
			t.Errorf("%+v", m)
		}
	})
}

// Links to entities have the properties that SDKs need.
func TestEntity_Attached(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		sessions(b)
		if s := c.sender("q", nil); s.MaxMessageSize() == 0 || s.Properties()["com.microsoft:max-message-batch-size"] != uint64(256<<10) {
			t.Errorf("%d, %v", s.MaxMessageSize(), s.Properties())
		}
		c.sendsTo("s", "A", "m")
		for _, options := range []*amqp.ReceiverOptions{nextSession(time.Second), ofSession("B")} {
			r := c.receiver("s", options)
			id := r.LinkSourceFilterValue(sessionFilter)
			ticks, _ := r.Properties()["com.microsoft:locked-until-utc"].(int64)
			until := time.UnixMilli((ticks - 621355968000000000) / 10000)
			if left := time.Until(until); id != "A" && id != "B" || left < 59*time.Second || left > time.Minute {
				t.Errorf("session %v until %s", id, until)
			}
		}
		_, err := c.session.NewReceiver(context.Background(), "s", ofSession("A"))
		if condition(err) != "com.microsoft:session-cannot-be-locked" {
			t.Error(err)
		}
	})
}

// Locks are renewed by an array of tokens; a lost lock is answered with Service Bus's error.
func TestEntity_RenewedLocks(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		c.put(c.sender("q", nil), "m")
		m, n := c.next(c.receiver("q", second(1))), c.node("q")
		b.Advance(30 * time.Second)
		code, answer := n.ask("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{tokenOf(m)}})
		ends, _ := answer["expirations"].([]time.Time)
		if code != 200 || len(ends) != 1 || time.Until(ends[0]) < 59*time.Second || time.Until(ends[0]) > time.Minute {
			t.Errorf("%d, %v", code, answer)
		}
		to, ctx := "mine", context.Background()
		err := n.requests.Send(ctx, &amqp.Message{
			Properties: &amqp.MessageProperties{MessageID: "id", ReplyTo: &to}, Value: map[string]any{"lock-tokens": []amqp.UUID{{1}}},
			ApplicationProperties: map[string]any{"operation": "com.microsoft:renew-lock"},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lost := c.next(n.answers)
		want := map[string]any{
			"statusCode": int32(410), "errorCondition": amqp.ErrCond(servicebus.LockLost),
			"statusDescription": "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.",
		}
		for key, value := range want {
			got := lost.ApplicationProperties[key]
			if text, is := got.(string); is && key == "errorCondition" {
				got = amqp.ErrCond(text)
			}
			if got != value {
				t.Errorf("%s: %T %v", key, got, got)
			}
		}
	})
}
