package amqp10

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	"github.com/Azure/go-amqp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a go-amqp client with one session.
type client struct {
	*testing.T
	b       *testkit.Bubble
	conn    *amqp.Conn
	session *amqp.Session
}

// run runs a test with a broker and a client in a bubble.
func run(t *testing.T, test func(b *testkit.Bubble, c *client)) {
	t.Helper()
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		test(b, c)
	})
}

// dial opens a connection as guest; change may change its options.
func dial(b *testkit.Bubble, change func(*amqp.ConnOptions)) (*amqp.Conn, error) {
	return dialTo(b.Node, change)
}

func dialTo(node *supervision.Node, change func(*amqp.ConnOptions)) (*amqp.Conn, error) {
	ours, theirs := net.Pipe()
	node.Connect(ours)
	opts := &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("guest", "guest"), IdleTimeout: -1, WriteTimeout: -1, HostName: "localhost"}
	if change != nil {
		change(opts)
	}
	conn, err := amqp.NewConn(context.Background(), theirs, opts)
	if err != nil {
		_ = theirs.Close()
	}
	return conn, err
}

func connect(b *testkit.Bubble, change func(*amqp.ConnOptions)) *client {
	b.Helper()
	conn, err := dial(b, change)
	if err != nil {
		b.Fatal("connect:", err)
	}
	c := &client{T: b.T, b: b, conn: conn}
	c.session = c.begin()
	return c
}

func (c *client) begin() *amqp.Session {
	c.Helper()
	s, err := c.conn.NewSession(context.Background(), nil)
	if err != nil {
		c.Fatal("begin:", err)
	}
	return s
}

func (c *client) sender(address string, opts *amqp.SenderOptions) *amqp.Sender {
	c.Helper()
	s, err := c.session.NewSender(context.Background(), address, opts)
	if err != nil {
		c.Fatal("attach:", err)
	}
	return s
}

func (c *client) receiver(address string, opts *amqp.ReceiverOptions) *amqp.Receiver {
	c.Helper()
	r, err := c.session.NewReceiver(context.Background(), address, opts)
	if err != nil {
		c.Fatal("attach:", err)
	}
	return r
}

// send sends a message and returns its outcome.
func (c *client) send(s *amqp.Sender, m *amqp.Message) amqp.DeliveryState {
	c.Helper()
	receipt, err := s.SendWithReceipt(context.Background(), m, nil)
	if err != nil {
		c.Fatal("send:", err)
	}
	state, err := receipt.Wait(context.Background())
	if err != nil {
		c.Fatal("outcome:", err)
	}
	return state
}

// put sends messages and fails the test unless they are accepted.
func (c *client) put(s *amqp.Sender, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		if state, ok := c.send(s, amqp.NewMessage([]byte(body))).(*amqp.StateAccepted); !ok {
			c.Fatalf("%s: %v", body, state)
		}
	}
}

// next returns the next message, nil if none is delivered within a second.
func (c *client) next(r *amqp.Receiver) *amqp.Message {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m, err := r.Receive(ctx, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		c.Fatal("receive:", err)
	}
	return m
}

// want receives messages with these bodies and accepts them.
func (c *client) want(r *amqp.Receiver, bodies ...string) {
	c.Helper()
	for _, body := range bodies {
		m := c.next(r)
		if m == nil || string(m.GetData()) != body {
			c.Fatalf("got %v, want %s", m, body)
		}
		if err := r.AcceptMessage(context.Background(), m); err != nil {
			c.Fatal("accept:", err)
		}
	}
}

// condition returns the condition of an error that the broker sent.
func condition(err error) amqp.ErrCond {
	var link *amqp.LinkError
	var attach *amqp.Error
	var session *amqp.SessionError
	var conn *amqp.ConnError
	switch {
	case errors.As(err, &link) && link.RemoteErr != nil:
		return link.RemoteErr.Condition
	case errors.As(err, &session) && session.RemoteErr != nil:
		return session.RemoteErr.Condition
	case errors.As(err, &conn) && conn.RemoteErr != nil:
		return conn.RemoteErr.Condition
	case errors.As(err, &attach):
		return attach.Condition
	}
	return ""
}
