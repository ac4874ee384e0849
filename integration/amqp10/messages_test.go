package amqp10

import (
	"bytes"
	"context"
	"reflect"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

func TestPublishAndReceive(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		c.put(s, "1", "2", "3")
		c.want(r, "1", "2", "3")
		if i := b.Describe("q"); i.Ready != 0 || i.Unacked != 0 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
	})
}

// TestSettled: neither a sender nor a receiver of settled messages has to wait for outcomes or send them.
func TestSettled(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s := c.sender("/queues/q", &amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeSettled.Ptr()})
		for range 1000 { // more than the credit
			if err := s.Send(context.Background(), amqp.NewMessage([]byte("x")), nil); err != nil {
				t.Fatal(err)
			}
		}
		b.Advance(time.Second)
		if i := b.Describe("q"); i.Ready != 1000 {
			t.Fatalf("%d ready", i.Ready)
		}
		r := c.receiver("/queues/q", &amqp.ReceiverOptions{SettlementMode: nil, RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr(), Credit: 100})
		for range 1000 {
			if m := c.next(r); m == nil {
				t.Fatal("lost")
			}
		}
		if i := b.Describe("q"); i.Ready != 0 || i.Unacked != 0 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
	})
}

// A message larger than a frame is split into several transfers, in both directions.
func TestLarge(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		for _, frame := range []uint32{512, 4096, 65536, 1 << 20} {
			c := connect(b, func(o *amqp.ConnOptions) { o.MaxFrameSize = frame })
			b.Connect().Open().Declare("q", nil)
			s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
			for _, size := range []int{0, 100, int(frame) - 1, int(frame), 300_000, 3_000_000} {
				body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
				c.send(s, amqp.NewMessage(body))
				m := c.next(r)
				if m == nil || !bytes.Equal(m.GetData(), body) {
					t.Fatalf("frames of %d: %d bytes did not come back", frame, size)
				}
				if err := r.AcceptMessage(context.Background(), m); err != nil {
					t.Fatal(err)
				}
			}
			_ = c.conn.Close()
		}
	})
}

// A message of AMQP 1.0 is received exactly as it was sent.
func TestMessage_RoundTrip(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		text := func(v string) *string { return &v }
		at, seq := time.UnixMilli(1_700_000_000_000).UTC(), uint32(7)
		sent := &amqp.Message{
			Header: &amqp.MessageHeader{Durable: true, Priority: 7, TTL: time.Minute},
			Properties: &amqp.MessageProperties{
				MessageID: "m", UserID: []byte("guest"), To: text("to"), Subject: text("s"), ReplyTo: text("r"), CorrelationID: amqp.UUID{1, 2, 3},
				ContentType: text("text/plain"), ContentEncoding: text("gzip"), CreationTime: &at, AbsoluteExpiryTime: &at,
				GroupID: text("g"), GroupSequence: &seq, ReplyToGroupID: text("rg"),
			},
			Annotations:           amqp.Annotations{"x-own": "a"},
			ApplicationProperties: map[string]any{"text": "v", "long": int64(5), "int": int32(-1), "bool": true, "double": 1.5, "binary": []byte{1}, "none": nil},
			Data:                  [][]byte{[]byte("body")},
		}
		c.send(s, sent)
		got := c.next(r)
		if got == nil {
			t.Fatal("nothing")
		}
		for _, t := range []**time.Time{&got.Properties.CreationTime, &got.Properties.AbsoluteExpiryTime} {
			if *t != nil && (*t).Equal(at) {
				*t = &at
			}
		}
		if !reflect.DeepEqual(got.Properties, sent.Properties) {
			t.Errorf("properties %+v\nsent %+v", got.Properties, sent.Properties)
		}
		if !reflect.DeepEqual(got.ApplicationProperties, sent.ApplicationProperties) {
			t.Errorf("application properties %v", got.ApplicationProperties)
		}
		if h := got.Header; !h.Durable || h.Priority != 7 || h.TTL != time.Minute || !h.FirstAcquirer {
			t.Errorf("header %+v", h)
		}
		if got.Annotations["x-own"] != "a" || got.Annotations["x-exchange"] != "" || got.Annotations["x-routing-key"] != "q" {
			t.Errorf("annotations %v", got.Annotations)
		}
	})
}

// Bodies other than one data section are preserved, too; a client of 0-9-1 gets the encoded sections.
func TestMessage_Bodies(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		for _, m := range []*amqp.Message{
			{Value: "text"},
			{Value: map[string]any{"a": int64(1)}},
			{Sequence: [][]any{{"a", int64(1)}, {true}}},
			{Data: [][]byte{[]byte("a"), []byte("b")}},
		} {
			c.send(s, m)
			got := c.next(r)
			if got == nil || !reflect.DeepEqual(got.Value, m.Value) || !reflect.DeepEqual(got.Sequence, m.Sequence) || !reflect.DeepEqual(got.Data, m.Data) {
				t.Errorf("%+v: %+v", m, got)
			}
			if err := r.AcceptMessage(context.Background(), got); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.send(s, &amqp.Message{Value: "text"})
		if d := ch.Fetch("q"); d.Type != "amqp-1.0" || !bytes.HasSuffix(d.Body, []byte("text")) {
			t.Errorf("%s %q", d.Type, d.Body)
		}
	})
}

// Each protocol reads the messages that the other publishes.
func TestBothProtocols(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		s := c.sender("/queues/q", nil)
		id := "id"
		c.send(s, &amqp.Message{
			Header: &amqp.MessageHeader{Durable: true, Priority: 3}, Data: [][]byte{[]byte("from 1.0")},
			Properties:            &amqp.MessageProperties{MessageID: "m", CorrelationID: uint64(5), GroupID: &id, ContentType: &id},
			ApplicationProperties: map[string]any{"k": "v"}, Annotations: amqp.Annotations{"x-a": int32(1), "x-basic-type": "t"},
		})
		d := ch.Fetch("q")
		if string(d.Body) != "from 1.0" || d.MessageId != "m" || d.CorrelationId != "5" || d.AppId != "id" || d.ContentType != "id" || d.Type != "t" ||
			d.DeliveryMode != 2 || d.Priority != 3 || d.Headers["k"] != "v" || d.Headers["x-a"] != int32(1) {
			t.Errorf("%+v", d)
		}
		ch.Send("", "q", amqp091.Publishing{
			Body: []byte("from 0-9-1"), MessageId: "urn:uuid:01020300-0000-0000-0000-000000000000", Type: "t", Expiration: "5000", DeliveryMode: 2,
			Headers: amqp091.Table{"k": int64(1), "x-list": []any{"a"}}, Timestamp: time.Unix(1_700_000_000, 0),
		})
		m := c.next(c.receiver("/queues/q", nil))
		if m == nil || string(m.GetData()) != "from 0-9-1" || m.Properties.MessageID != (amqp.UUID{1, 2, 3}) || m.Annotations["x-basic-type"] != "t" ||
			m.Header.TTL != 5*time.Second || !m.Header.Durable || m.ApplicationProperties["k"] != int64(1) ||
			!m.Properties.CreationTime.Equal(time.Unix(1_700_000_000, 0)) || !reflect.DeepEqual(m.Annotations["x-list"], []any{"a"}) {
			t.Errorf("%+v %+v %+v", m, m.Properties, m.Header)
		}
	})
}

// The ttl of the header expires a message on time, never early.
func TestTTL(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		s := c.sender("/queues/q", nil)
		c.send(s, &amqp.Message{Header: &amqp.MessageHeader{TTL: 5 * time.Second}, Data: [][]byte{[]byte("late")}})
		b.Advance(4990 * time.Millisecond)
		if i := b.Describe("q"); i.Ready != 1 {
			t.Fatal("early")
		}
		b.Advance(20 * time.Millisecond)
		r := c.receiver("/queues/dead", nil)
		m := c.next(r)
		if m == nil || m.Header.TTL != 0 || m.Annotations["x-first-death-reason"] != "expired" {
			t.Fatalf("%+v", m)
		}
		if deaths, ok := m.Annotations["x-opt-deaths"].([]map[any]any); !ok || len(deaths) != 1 {
			t.Errorf("%T %v", m.Annotations["x-opt-deaths"], m.Annotations["x-opt-deaths"])
		}
	})
}
