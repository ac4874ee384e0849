package amqp10

import (
	"context"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// volatile returns the options of a link for direct replies.
func volatile(credit int32) *amqp.ReceiverOptions {
	return &amqp.ReceiverOptions{
		DynamicAddress: true, SourceCapabilities: []string{"rabbitmq:volatile-queue"}, SourceExpiryPolicy: amqp.ExpiryPolicyLinkDetach,
		RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr(), Credit: credit,
	}
}

func (c *client) requester(credit int32) *amqp.Receiver {
	c.Helper()
	return c.receiver("", volatile(credit))
}

func reply(to, body string) *amqp.Message {
	return &amqp.Message{Properties: &amqp.MessageProperties{To: &to, CorrelationID: "id"}, Data: [][]byte{[]byte(body)}}
}

// A requester names its address in a request; a responder replies to that address, over a link to it or over an anonymous one.
// Each link has an address of its own, even within one session, and replies are delivered in order.
func TestDirectReplies(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		r, other := c.requester(10), c.requester(10)
		if a := r.Address(); !strings.HasPrefix(a, "/queues/amq.rabbitmq.reply-to.") || a == other.Address() {
			t.Fatal(a, other.Address())
		}
		responder := connect(b, nil)
		defer func() { _ = responder.conn.Close() }()
		anywhere, direct := responder.sender("", nil), responder.sender(other.Address(), nil)
		for _, body := range []string{"1", "2", "3"} {
			if got := stateOf(responder.send(anywhere, reply(r.Address(), body))); got != "accepted" {
				t.Fatal(got)
			}
		}
		responder.put(direct, "x")
		for _, want := range []string{"1", "2", "3"} {
			if m := c.next(r); m == nil || string(m.GetData()) != want || m.Properties.CorrelationID != "id" {
				t.Fatalf("%+v, want %s", m, want)
			}
		}
		if m := c.next(other); m == nil || string(m.GetData()) != "x" {
			t.Fatalf("%+v", m)
		}
	})
}

// Replies wait for credit within a bound. When the requester is gone, both responders that reply and clients that query its
// address are told.
func TestDirectReplies_Gone(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		r := c.requester(-1)
		address := r.Address()
		responder := connect(b, nil)
		defer func() { _ = responder.conn.Close() }()
		s := responder.sender("", nil)
		if got := stateOf(responder.send(s, reply(address, "early"))); got != "accepted" {
			t.Fatal(got)
		}
		if m := c.next(r); m != nil {
			t.Fatalf("it came without credit: %v", m)
		}
		manager := responder.pair(10)
		name := strings.TrimPrefix(address, "/queues/")
		if code, _ := manager.ask("GET", "/queues/"+name, nil); code != "200" {
			t.Errorf("somebody waits: %s", code)
		}
		if err := r.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		if m := c.next(r); m == nil || string(m.GetData()) != "early" {
			t.Fatalf("%+v", m)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(responder.send(s, reply(address, "late"))); got != "released" {
			t.Errorf("nobody waits: %s", got)
		}
		if code, _ := manager.ask("GET", "/queues/"+name, nil); code != "404" {
			t.Errorf("nobody waits: %s", code)
		}
		if _, err := responder.session.NewSender(context.Background(), address, nil); condition(err) != amqp.ErrCondNotFound {
			t.Errorf("link to nobody: %v", err)
		}
	})
}

// Requesters and responders of both protocols interoperate.
func TestDirectReplies_BothProtocols(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		old := b.Connect().Open()
		for _, q := range []string{"for091", "for10"} {
			if _, err := old.QueueDeclare(q, false, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
		}
		r := c.requester(10)
		address := r.Address()
		c.send(c.sender("/queues/for091", nil), &amqp.Message{Properties: &amqp.MessageProperties{ReplyTo: &address, MessageID: "m"}, Data: [][]byte{[]byte("ask")}})
		request, ok, err := old.Get("for091", true)
		if err != nil || !ok || "/queues/"+request.ReplyTo != address {
			t.Fatalf("%v %v %q", err, ok, request.ReplyTo)
		}
		old.Confirms()
		if !old.Publish("", request.ReplyTo, amqp091.Publishing{CorrelationId: request.MessageId, Body: []byte("answer")}) {
			t.Fatal("refused")
		}
		if m := c.next(r); m == nil || string(m.GetData()) != "answer" || m.Properties.CorrelationID != "m" {
			t.Fatalf("%+v", m)
		}

		replies, err := old.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !old.Publish("", "for10", amqp091.Publishing{ReplyTo: "amq.rabbitmq.reply-to", Body: []byte("ask")}) {
			t.Fatal("refused")
		}
		m := c.next(c.receiver("/queues/for10", nil))
		if m == nil || !strings.HasPrefix(*m.Properties.ReplyTo, "/queues/amq.rabbitmq.reply-to.") {
			t.Fatalf("%+v", m)
		}
		c.send(c.sender("", nil), reply(*m.Properties.ReplyTo, "answer"))
		if d := <-replies; string(d.Body) != "answer" || d.CorrelationId != "id" {
			t.Fatalf("%+v", d)
		}
	})
}

// For a requester without credit, replies are held up to a bound; further replies are rejected until it gives credit.
func TestDirectReplies_Bound(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		r := c.requester(-1)
		responder := connect(b, nil)
		defer func() { _ = responder.conn.Close() }()
		s := responder.sender(r.Address(), nil)
		body, taken, refused := strings.Repeat("x", 100_000), 0, false
		for range 1000 {
			switch got := stateOf(responder.send(s, amqp.NewMessage([]byte(body)))); {
			case got == "accepted" && !refused:
				taken++
			case got == "rejected":
				refused = true
			default:
				t.Fatal(got)
			}
		}
		if !refused || taken == 0 {
			t.Fatalf("%d of 1000 were taken", taken)
		}
		if err := r.IssueCredit(uint32(taken)); err != nil {
			t.Fatal(err)
		}
		for range taken {
			if m := c.next(r); m == nil || len(m.GetData()) != len(body) {
				t.Fatal("a reply is lost")
			}
		}
		b.Advance(0)
		responder.put(s, "again")
	})
}

// Dynamic sources of other kinds are refused.
func TestDirectReplies_Refused(t *testing.T) {
	for name, change := range map[string]func(o *amqp.ReceiverOptions){
		"no capability": func(o *amqp.ReceiverOptions) { o.SourceCapabilities = nil },
		"unsettled":     func(o *amqp.ReceiverOptions) { o.RequestedSenderSettleMode = nil },
		"durable":       func(o *amqp.ReceiverOptions) { o.SourceDurability = amqp.DurabilityUnsettledState },
		"never expires": func(o *amqp.ReceiverOptions) { o.SourceExpiryPolicy = amqp.ExpiryPolicyNever },
		"has a timeout": func(o *amqp.ReceiverOptions) { o.SourceExpiryTimeout = 10 },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(_ *testkit.Bubble, c *client) {
				o := volatile(1)
				change(o)
				if _, err := c.session.NewReceiver(context.Background(), "", o); condition(err) != amqp.ErrCondNotImplemented {
					t.Error(err)
				}
			})
		})
	}
}
