package amqp10

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Requests of AMQP 1.0 that expire are answered, in a queue of the requester or over a direct reply, with their ids of any type; also if no
// correlation-id but a message-id is given.
func TestExpiredRequests_ANS1_ANS3(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		old := b.Connect().Open()
		old.Declare("rpc", amqp091.Table{"x-expired-requests": "answer", "x-message-ttl": 1000})
		old.Declare("my replies", nil)
		direct, own, rpc := c.requester(100), c.receiver("/queues/my%20replies", nil), c.sender("/queues/rpc", nil)
		for to, from := range map[string]*amqp.Receiver{direct.Address(): direct, "/queues/my%20replies": own} {
			for _, id := range []any{"text", uint64(1 << 60), amqp.UUID{1, 2, 3}, []byte{0, 255}, strings.Repeat("x", 300)} {
				for _, p := range []*amqp.MessageProperties{{CorrelationID: id, MessageID: "m"}, {MessageID: id}} {
					group := "g"
					p.ReplyTo, p.ReplyToGroupID = &to, &group
					c.send(rpc, &amqp.Message{Properties: p, Data: [][]byte{[]byte("price?")}})
					b.Advance(time.Second)
					m := c.next(from)
					if m == nil {
						t.Fatalf("no answer to %T at %s", id, to)
					}
					if fmt.Sprintf("%T%v", m.Properties.CorrelationID, m.Properties.CorrelationID) != fmt.Sprintf("%T%v", id, id) || *m.Properties.ContentType != "application/json" ||
						m.Properties.ReplyTo != nil || *m.Properties.GroupID != group || m.Annotations["x-basic-type"] != "candlemark.error" || m.Header.TTL != 30*time.Second ||
						string(m.GetData()) != `{"error":"expired","reason":"the request expired","queue":"rpc"}` {
						t.Errorf("%T at %s: %+v %+v %v", id, to, m.Properties, m.Header, m.Annotations)
					}
					if from == own {
						_ = from.AcceptMessage(b.Context(), m)
					}
				}
			}
		}
	})
}

// A request of 0-9-1 is answered when a receiver of AMQP 1.0 rejects it, and one of AMQP 1.0 when a consumer of 0-9-1 does.
func TestRejectedRequests_ANS1(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		old := b.Connect().Open()
		old.Confirms()
		old.Declare("rpc", amqp091.Table{"x-expired-requests": "answer"})
		old.Declare("replies", nil)
		old.Publish("", "rpc", amqp091.Publishing{CorrelationId: "id", ReplyTo: "replies", Body: []byte("price?")})
		r := c.receiver("/queues/rpc", nil)
		if err := r.RejectMessage(b.Context(), c.next(r), nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(b.Context()); err != nil {
			t.Fatal(err)
		}
		b.Advance(time.Second)
		d, ok, err := old.Get("replies", true)
		if err != nil || !ok || d.CorrelationId != "id" || d.Type != "candlemark.error" || string(d.Body) != `{"error":"rejected","reason":"a consumer has rejected the request","queue":"rpc"}` {
			t.Errorf("%+v %v", d, err)
		}
		direct := c.requester(1)
		to := direct.Address()
		c.send(c.sender("/queues/rpc", nil), &amqp.Message{Properties: &amqp.MessageProperties{CorrelationID: uint64(7), ReplyTo: &to}, Data: [][]byte{[]byte("price?")}})
		if d, ok, err = old.Get("rpc", false); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := d.Reject(false); err != nil {
			t.Fatal(err)
		}
		if m := c.next(direct); m == nil || m.Properties.CorrelationID != uint64(7) || !strings.HasPrefix(string(m.GetData()), `{"error":"rejected"`) {
			t.Errorf("%+v", m)
		}
	})
}
