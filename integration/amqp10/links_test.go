package amqp10

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	protocol "candlemark/protocol/amqp10"
	"candlemark/supervision"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

func TestOutcomes(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("q", amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		dead := c.receiver("/queues/dead", nil)
		ctx := context.Background()
		var s *amqp.Sender
		var r *amqp.Receiver
		for want, giveBack := range map[string]func(*amqp.Message) error{
			"released": func(m *amqp.Message) error { return r.ReleaseMessage(ctx, m) },
			"modified": func(m *amqp.Message) error {
				return r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true})
			},
		} {
			s, r = c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
			c.put(s, want)
			m := c.next(r)
			if m == nil || !m.Header.FirstAcquirer {
				t.Fatalf("%s: %+v", want, m)
			}
			if err := giveBack(m); err != nil {
				t.Fatal(err)
			}
			if m = c.next(r); m == nil || string(m.GetData()) != want || m.Header.FirstAcquirer {
				t.Fatalf("%s: %+v", want, m)
			}
			if err := r.AcceptMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(ctx); err != nil {
				t.Fatal(err)
			}
		}
		r = c.receiver("/queues/q", nil)
		c.put(s, "rejected", "undeliverable")
		m := c.next(r)
		for i := 0; m != nil && i < 2; i++ {
			var err error
			if string(m.GetData()) == "rejected" {
				err = r.RejectMessage(ctx, m, nil)
			} else {
				err = r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{UndeliverableHere: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			m = c.next(r)
		}
		got := map[string]bool{}
		for range 2 {
			if m := c.next(dead); m != nil && m.Annotations["x-last-death-reason"] == "rejected" && !m.Header.FirstAcquirer {
				got[string(m.GetData())] = true
				_ = dead.AcceptMessage(ctx, m)
			}
		}
		if !got["rejected"] || !got["undeliverable"] {
			t.Errorf("dead-lettered: %v", got)
		}
		if i := b.Describe("q"); i.Ready+i.Unacked != 0 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
	})
}

// A message that is released, or modified without delivery-failed, does not count as delivered; modified annotations are part of
// the next delivery and of the dead letter.
func TestOutcomes_Counts(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		_, err := ch.QueueDeclare("q", true, false, false, false, amqp091.Table{
			"x-queue-type": "quorum", "x-delivery-limit": int32(1), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		s, r, dead := c.sender("/queues/q", nil), c.receiver("/queues/q", nil), c.receiver("/queues/dead", nil)
		c.put(s, "m")
		modify := func(m *amqp.Message, failed, here bool, note string) {
			t.Helper()
			err := r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{
				DeliveryFailed: failed, UndeliverableHere: here, Annotations: amqp.Annotations{"x-opt-note": note, "x-exchange": "forged", "plain": 1},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			m := c.next(r)
			if m == nil || m.Header.DeliveryCount != 0 || m.Header.FirstAcquirer != (i == 0) {
				t.Fatalf("%d: %+v", i, m)
			}
			if i%2 == 0 {
				modify(m, false, false, "released")
			} else if err := r.ReleaseMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		m := c.next(r)
		if m == nil || m.Annotations["x-opt-note"] != "released" || m.Annotations["x-exchange"] != "" || m.Annotations["plain"] != nil {
			t.Fatalf("%+v", m)
		}
		modify(m, true, false, "failed")
		if m = c.next(r); m == nil || m.Header.DeliveryCount != 1 || m.Annotations["x-opt-note"] != "failed" {
			t.Fatalf("%+v", m)
		}
		modify(m, true, true, "given up")
		if m = c.next(dead); m == nil || m.Annotations["x-opt-note"] != "given up" || m.Annotations["x-last-death-reason"] != "rejected" {
			t.Fatalf("%+v", m)
		}
	})
}

// Unsettled messages are requeued when the link is detached or the session ends.
func TestDetach_GivesBack(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		c.put(c.sender("/queues/q", nil), "1", "2", "3")
		for name, end := range map[string]func(*amqp.Receiver) error{
			"detach": func(r *amqp.Receiver) error { return r.Close(context.Background()) },
			"end": func(*amqp.Receiver) error {
				defer func() { c.session = c.begin() }()
				return c.session.Close(context.Background())
			},
		} {
			r := c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: 2})
			if c.next(r) == nil {
				t.Fatal(name, "nothing")
			}
			if i := b.Describe("q"); i.Unacked != 2 {
				t.Errorf("%s: %d unacked", name, i.Unacked)
			}
			if err := end(r); err != nil {
				t.Fatal(name, err)
			}
			b.Advance(time.Second)
			if i := b.Describe("q"); i.Ready != 3 || i.Unacked != 0 || i.Consumers != 0 {
				t.Errorf("%s: %d ready, %d unacked, %d consumers", name, i.Ready, i.Unacked, i.Consumers)
			}
		}
	})
}

// A link gets as many messages as it has credit, and a drain uses up the remaining credit.
func TestCreditAndDrain(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: -1})
		c.put(s, "1", "2", "3")
		if m := c.next(r); m != nil {
			t.Fatal("without credit:", m)
		}
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		c.want(r, "1", "2")
		if m := c.next(r); m != nil {
			t.Fatal("beyond the credit:", m)
		}
		if err := r.IssueCredit(5); err != nil {
			t.Fatal(err)
		}
		b.Advance(time.Second) // otherwise the library sends only the drain
		if err := r.DrainCredit(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		c.want(r, "3")
		c.put(s, "4")
		if m := c.next(r); m != nil {
			t.Fatal("after the drain:", m)
		}
		if err := r.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		c.want(r, "4")
	})
}

// Outcomes of unroutable or refused messages, and of messages from anonymous senders.
func TestPublisherOutcomes(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("full", amqp091.Table{"x-max-length": int32(0), "x-overflow": "reject-publish"})
		ch.Exchange("x", "topic")
		ch.Declare("äö/ +", nil)
		ch.Bind("äö/ +", "a.*", "x")
		for address, want := range map[string]string{
			"/queues/full": "rejected", "/exchanges/x/b": "released", "/exchanges/x/a.b": "accepted",
			"/exchanges/x": "released", "/queues/%C3%A4%C3%B6%2F%20+": "accepted",
		} {
			if got := stateOf(c.send(c.sender(address, nil), amqp.NewMessage([]byte("m")))); got != want {
				t.Errorf("%s: %s", address, got)
			}
		}
		s := c.sender("", nil)
		for to, want := range map[string]string{
			"/queues/none": "released", "/exchanges/x/a.b": "accepted", "/exchanges/none/k": "rejected amqp:not-found", "plain": "rejected amqp:precondition-failed",
			"/exchanges/amq.default/q": "rejected amqp:precondition-failed", "/queues/%zz": "rejected amqp:precondition-failed",
		} {
			if got := stateOf(c.send(s, &amqp.Message{Properties: &amqp.MessageProperties{To: &to}, Data: [][]byte{{1}}})); got != want {
				t.Errorf("to %s: %s", to, got)
			}
		}
		if got := stateOf(c.send(s, &amqp.Message{Properties: &amqp.MessageProperties{UserID: []byte("other")}, Data: [][]byte{{1}}})); got != "rejected amqp:precondition-failed" {
			t.Error("no to:", got)
		}
		q := "/queues/none"
		if got := stateOf(c.send(s, &amqp.Message{Properties: &amqp.MessageProperties{To: &q, UserID: []byte("other")}, Data: [][]byte{{1}}})); got != "rejected amqp:unauthorized-access" {
			t.Error("another's name:", got)
		}
	})
}

func stateOf(state amqp.DeliveryState) string {
	switch s := state.(type) {
	case *amqp.StateAccepted:
		return "accepted"
	case *amqp.StateReleased:
		return "released"
	case *amqp.StateRejected:
		if s.Error != nil {
			return "rejected " + string(s.Error.Condition)
		}
		return "rejected"
	}
	return fmt.Sprintf("%T", state)
}

// An invalid attach ends its session and no other.
func TestAttach_Refused(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) {
		cfg.Permissions = &users.Fixed{Refused: []users.Refusal{
			{User: "guest", Resource: auth.Resource{Kind: auth.Queue, Name: "secret"}, Permission: auth.Read},
			{User: "guest", Resource: auth.Resource{Kind: auth.Exchange, Name: "amq.fanout"}, Permission: auth.Write},
		}}
	}, func(b *testkit.Bubble) {
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("secret", nil)
		bystander := c.receiver("/queues/q", nil)
		ctx := context.Background()
		for address, want := range map[string]amqp.ErrCond{
			"/queues/none": "amqp:not-found", "/queues/secret": "amqp:unauthorized-access", "/q": "amqp:invalid-field", "/queues/": "amqp:invalid-field",
			"/exchanges/amq.topic": "amqp:invalid-field",
		} {
			_, err := c.begin().NewReceiver(ctx, address, nil)
			if condition(err) != want {
				t.Errorf("from %s: %v", address, err)
			}
		}
		for address, want := range map[string]amqp.ErrCond{
			"/exchanges/none/k": "amqp:not-found", "/queues/none": "amqp:not-found", "/exchanges/amq.fanout": "amqp:unauthorized-access", "/q": "amqp:invalid-field",
			"/exchanges//k": "amqp:invalid-field", "/management/": "amqp:invalid-field",
		} {
			_, err := c.begin().NewSender(ctx, address, nil)
			if condition(err) != want {
				t.Errorf("to %s: %v", address, err)
			}
		}
		if _, err := c.begin().NewReceiver(ctx, "/queues/q", &amqp.ReceiverOptions{SettlementMode: amqp.ReceiverSettleModeSecond.Ptr()}); condition(err) != "amqp:not-implemented" {
			t.Error("second:", err)
		}
		c.session = c.begin()
		if _, err := c.session.NewSender(ctx, "/queues/none", nil); condition(err) != "amqp:not-found" {
			t.Error(err)
		}
		c.put(c.sender("/queues/q", nil), "m")
		c.want(bystander, "m")
	})
}

// Links that receive from or send to a deleted queue are detached; links of other queues stay attached.
func TestQueueDeleted(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("other", nil)
		s, r, bystander := c.sender("/queues/q", nil), c.receiver("/queues/q", nil), c.receiver("/queues/other", nil)
		through, other := c.sender("/exchanges/amq.direct/q", nil), c.sender("/queues/other", nil)
		c.put(s, "m")
		if c.next(r) == nil {
			t.Fatal("nothing")
		}
		if _, err := ch.QueueDelete("q", false, false, false); err != nil {
			t.Fatal(err)
		}
		_, err := r.Receive(context.Background(), nil)
		if condition(err) != amqp.ErrCond("amqp:resource-deleted") {
			t.Error(err)
		}
		b.Advance(0) // the sender's link is detached by mail of its own
		if err := s.Send(context.Background(), amqp.NewMessage([]byte("m")), nil); condition(err) != amqp.ErrCond("amqp:resource-deleted") {
			t.Error(err)
		}
		if got := stateOf(c.send(through, amqp.NewMessage([]byte("m")))); got != "released" {
			t.Error(got)
		}
		c.put(other, "x")
		c.want(bystander, "x")
	})
}

// A message to a deleted exchange is released, and its link is detached; links to other exchanges stay attached.
func TestExchangeDeleted(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		ch.Exchange("x", "fanout")
		ch.Declare("q", nil)
		ch.Bind("q", "", "x")
		other := c.sender("/exchanges/amq.fanout", nil)
		r := openRaw(b, opening()) // go-amqp may report the detach instead of the outcome that precedes it
		r.send(1, beginning())
		attach := sending(0, "")
		attach.Target.Address = protocol.Some("/exchanges/x/k")
		r.send(1, attach)
		for id, want := range []protocol.StateKind{protocol.Accepted, protocol.Released} {
			r.say(transferFrame(0, uint32(id), false, append(protocol.AppendDataHead(nil, 1), 'x')))
			if d := r.want(protocol.CodeDisposition).(*protocol.Disposition); d.State.Kind != want {
				t.Errorf("%d: %+v", id, d)
			}
			if want == protocol.Accepted {
				if err := ch.ExchangeDelete("x", false, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := r.want(protocol.CodeDetach).(*protocol.Detach); !d.Closed || d.Error == nil || d.Error.Condition != protocol.NotFound {
			t.Errorf("%+v", d)
		}
		if got := stateOf(c.send(other, amqp.NewMessage([]byte("4")))); got != "released" {
			t.Error(got)
		}
	})
}

// An exclusive queue of another connection is locked.
func TestExclusiveQueue(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("mine", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.begin().NewReceiver(context.Background(), "/queues/mine", nil); condition(err) != amqp.ErrCond("amqp:resource-locked") {
			t.Error(err)
		}
	})
}

// A message larger than the broker's limit detaches the link.
func TestMessageSizeExceeded(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { cfg.MaxMessage = 1 << 20 }, func(b *testkit.Bubble) {
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		b.Connect().Open().Declare("q", nil)
		s := c.sender("/queues/q", nil)
		if s.MaxMessageSize() != 1<<20 {
			t.Error(s.MaxMessageSize())
		}
		receipt, err := s.SendWithReceipt(context.Background(), amqp.NewMessage(make([]byte, 1<<20-100)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receipt.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := s.Send(context.Background(), amqp.NewMessage(make([]byte, 2<<20)), nil); err == nil {
			t.Error("the library lets it pass")
		}
		c.put(c.sender("/queues/q", nil), "m")
	})
}

// Consumers of higher priority are served first.
func TestPriority(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		low := c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: 10})
		high := c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: 10, Properties: map[string]any{"rabbitmq:priority": int32(5)}})
		b.Advance(time.Second)
		c.put(c.sender("/queues/q", nil), "1", "2")
		c.want(high, "1", "2")
		if m := c.next(low); m != nil {
			t.Error(m)
		}
	})
}

// TestConsumerTimeout_ADR10: the link property rabbitmq:consumer-timeout acts as the argument of basic.consume, in ms.
func TestConsumerTimeout_ADR10(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		c.put(c.sender("/queues/q", nil), "1")
		r := c.receiver("/queues/q", &amqp.ReceiverOptions{Properties: map[string]any{"rabbitmq:consumer-timeout": uint32(1000)}})
		if m := c.next(r); m == nil {
			t.Fatal("it is not delivered")
		}
		b.Advance(999 * time.Millisecond)
		if i := b.Describe("q"); i.Ready != 0 || i.Unacked != 1 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
		b.Advance(time.Millisecond)
		if i := b.Describe("q"); i.Ready != 1 || i.Unacked != 0 {
			t.Errorf("%d ready, %d unacked", i.Ready, i.Unacked)
		}
		_, err := c.session.NewReceiver(context.Background(), "/queues/q", &amqp.ReceiverOptions{Properties: map[string]any{"rabbitmq:consumer-timeout": "1s"}})
		if e := (*amqp.Error)(nil); !errors.As(err, &e) || e.Condition != amqp.ErrCondInvalidField {
			t.Error(err)
		}
	})
}

// A client may choose the initial delivery-count of a link (RabbitMQ's client for Erlang begins just below 2³²); its credit
// counts from there.
func TestInitialDeliveryCount(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		b.Connect().Open().Declare("q", nil)
		r := openRaw(b, opening())
		defer func() { _ = r.Close() }()
		r.send(1, &protocol.Begin{IncomingWindow: 100, OutgoingWindow: 100, HandleMax: 10})
		r.want(protocol.CodeBegin)
		first := uint32(math.MaxUint32 - 2)
		attach := sending(0, "q")
		attach.InitialDeliveryCount = protocol.Some(first)
		r.send(1, attach)
		r.want(protocol.CodeAttach)
		if f := r.want(protocol.CodeFlow).(*protocol.Flow); f.DeliveryCount.Or(0) != first || f.LinkCredit.Value != 500 {
			t.Errorf("%+v", f)
		}
		for id := range uint32(250) {
			r.say(transferFrame(0, id, false, []byte{0, 0x53, 0x75, 0xa0, 0}))
		}
		f := r.want(protocol.CodeFlow).(*protocol.Flow)
		for !f.Handle.Set {
			f = r.want(protocol.CodeFlow).(*protocol.Flow)
		}
		if ends := f.DeliveryCount.Or(0) + f.LinkCredit.Value - first; ends != 750 {
			t.Errorf("after 250 messages the credit ends at %d", ends)
		}
	})
}

// A refused settled message detaches its link; on a link to the null target the error contains the delivery-tag.
func TestRefused_DeliveryTag(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ctx, to := context.Background(), "/exchanges/missing"
		s := c.sender("", &amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeMixed.Ptr()})
		m := &amqp.Message{DeliveryTag: []byte("tag"), Properties: &amqp.MessageProperties{To: &to}, Data: [][]byte{nil}}
		err := s.Send(ctx, m, &amqp.SendOptions{Settled: true})
		if err == nil { // the client has not processed the detach yet
			err = s.Send(ctx, amqp.NewMessage(nil), nil)
		}
		var link *amqp.LinkError
		var refused *amqp.Error
		if errors.As(err, &link) {
			refused = link.RemoteErr
		} else {
			errors.As(err, &refused)
		}
		if refused == nil || refused.Condition != amqp.ErrCondNotFound {
			t.Fatal(err)
		}
		if tag, _ := refused.Info["delivery-tag"].([]byte); string(tag) != "tag" {
			t.Errorf("%+v", refused.Info)
		}
	})
}
