package amqp10

import (
	"context"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

var temporary = []string{"temporary-queue"}

// A request that carries the address of a temporary queue is answered to that address by another connection.
func TestDEC18_TemporaryQueues(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		c := connect(b, func(o *amqp.ConnOptions) { o.ContainerID = "box" })
		defer func() { _ = c.conn.Close() }()
		r := c.receiver("", &amqp.ReceiverOptions{Name: "my/link", DynamicAddress: true, SourceCapabilities: temporary})
		if a := r.Address(); !strings.HasPrefix(a, "/queues/amq.dyn-box-my%2Flink-") {
			t.Fatal(a)
		}
		other := connect(b, nil)
		defer func() { _ = other.conn.Close() }()
		other.send(other.sender("", nil), reply(r.Address(), "answer"))
		c.want(r, "answer")
		_, err := other.session.NewReceiver(context.Background(), r.Address(), nil)
		if condition(err) != amqp.ErrCondResourceLocked {
			t.Errorf("exclusive to the connection: %v", err)
		}

		s := c.sender("", &amqp.SenderOptions{Name: strings.Repeat("z", 200), DynamicAddress: true, TargetCapabilities: temporary})
		if a := s.Address(); !strings.HasPrefix(a, "/queues/amq.dyn.gen-") {
			t.Fatal(a)
		}
		c.put(s, "1")
		at := c.receiver(s.Address(), nil)
		c.want(at, "1")
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := at.Receive(context.Background(), nil); condition(err) != amqp.ErrCondResourceDeleted {
			t.Errorf("the queue is deleted with its link: %v", err)
		}
	})
}

// Temporary queues are deleted with their link, session or connection.
func TestDEC18_Ends(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		c := connect(b, nil)
		first, second := c.session, c.begin()
		var receivers []*amqp.Receiver
		var senders []*amqp.Sender
		for _, c.session = range []*amqp.Session{first, second, second} {
			receivers = append(receivers, c.receiver("", &amqp.ReceiverOptions{DynamicAddress: true, SourceCapabilities: temporary}))
			senders = append(senders, c.sender("", &amqp.SenderOptions{DynamicAddress: true, TargetCapabilities: temporary}))
		}
		want := func(n int) {
			t.Helper()
			b.Advance(1)
			if got := b.VHost().Directory().QueueCount(); got != n {
				t.Errorf("%d queues, want %d", got, n)
			}
		}
		want(6)
		if err := receivers[2].Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := senders[2].Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		want(4)
		if err := second.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		want(2)
		_ = c.conn.Close()
		want(0)
	})
}

// A dynamic target needs write permission on the default exchange, which is checked before the queue is declared.
func TestDEC18_Write(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		b.Log.Allow("session ended by the broker")
		user(b, "reader", "", "", ".*")
		c := login(b, "reader")
		defer func() { _ = c.conn.Close() }()
		_, err := c.session.NewSender(context.Background(), "", &amqp.SenderOptions{DynamicAddress: true, TargetCapabilities: temporary})
		if err == nil || !strings.Contains(err.Error(), "write access to exchange 'amq.default'") {
			t.Error(err)
		}
	})
}
