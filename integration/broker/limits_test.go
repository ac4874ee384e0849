package broker

import (
	"net"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// limit sets one limit of the virtual host / or of guest.
func limit(b *testkit.Bubble, set func(string, func(auth.Limits) auth.Limits) error, of, name string, n int64) {
	b.Helper()
	if err := set(of, func(l auth.Limits) auth.Limits {
		l[name] = n
		return l
	}); err != nil {
		b.Fatal(err)
	}
}

// refused opens a connection, which must be refused.
func refused(b *testkit.Bubble, text string) {
	b.Helper()
	conn, err := enter(b, "guest", "guest", "/")
	if err == nil {
		_ = conn.Close()
	}
	if !isCode(err, amqp.NotAllowed, "NOT_ALLOWED - "+text) {
		b.Errorf("\n got %v\nwant %s", err, text)
	}
}

const (
	vhostFull = "access to vhost '/' refused for user 'guest': connection limit (2) is reached"
	userFull  = "connection refused for user 'guest': user connection limit (2) is reached"
	nodeFull  = "connection refused: node connection limit (3) is reached"
)

// Connections above a lowered limit stay, new ones are refused, and a closed connection frees its slot at once.
func TestConnectionLimits(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) { c.Limits.Connections = 3 }, func(b *testkit.Bubble) {
		b.Log.Allow("limit (")
		a, c, d := b.Connect(), b.Connect(), b.Connect()
		refused(b, nodeFull)
		limit(b, b.Users.SetVHostLimits, "/", auth.MaxConnections, 2)
		limit(b, b.Users.SetUserLimits, "guest", auth.MaxConnections, 2)
		c.Open().Declare("q", nil)
		c.Leave()
		refused(b, vhostFull)
		limit(b, b.Users.SetVHostLimits, "/", auth.MaxConnections, -1)
		refused(b, userFull)
		limit(b, b.Users.SetUserLimits, "guest", auth.MaxConnections, 3)
		c = b.Connect()
		for range 20 { // its slot is free as soon as close-ok is sent
			c.Leave()
			c = b.Connect()
		}
		a.Cut()
		b.Advance(time.Second)
		a = b.Connect()
		refused(b, nodeFull)
		limit(b, b.Users.SetVHostLimits, "/", auth.MaxConnections, 0)
		a.Leave()
		refused(b, "access to vhost '/' refused for user 'guest': connection limit (0) is reached")
		d.Open().Declare("r", nil)
	})
}

func TestChannelLimits(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) { c.Limits.Channels = 4 }, func(b *testkit.Bubble) {
		b.Log.Allow("number of channels opened")
		limit(b, b.Users.SetUserLimits, "guest", auth.MaxChannels, 3)
		a, c := b.Connect(), b.Connect()
		first := a.Open()
		a.Open()
		c.Open()
		for range 20 {
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			first = a.Open()
		}
		_, err := c.Channel()
		if err == nil {
			t.Fatal("a fourth channel")
		}
		const text = "NOT_ALLOWED - number of channels opened for user 'guest' has reached the maximum allowed user limit of (3)"
		if got := testkit.Receive(b, c.Closed); !isCode(got, amqp.NotAllowed, text) {
			t.Errorf("%v", got)
		}
		limit(b, b.Users.SetUserLimits, "guest", auth.MaxChannels, -1)
		a.Open()
		a.Open()
		if _, err := a.Channel(); err == nil || a.Config.ChannelMax != 4 {
			t.Errorf("five of %d channels: %v", a.Config.ChannelMax, err)
		}
	})
}

func TestQueueLimit(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		conn := b.Connect()
		ch := conn.Open()
		ch.Declare("a", nil)
		ch.Declare("b", nil)
		ch.Declare("c", nil)
		b.Log.Allow("queue limit")
		limit(b, b.Users.SetVHostLimits, "/", auth.MaxQueues, 2)
		declare := func(name string) error {
			one, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			_, err = one.QueueDeclare(name, false, false, false, false, nil)
			return err
		}
		ch.Declare("a", nil)
		if err := declare("d"); !isCode(err, amqp.PreconditionFailed, "PRECONDITION_FAILED - cannot declare queue 'd': queue limit in vhost '/' (2) is reached") {
			t.Error(err)
		}
		for _, name := range []string{"a", "b"} {
			if _, err := ch.QueueDelete(name, false, false, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := declare("d"); err != nil {
			t.Error(err)
		}
		limit(b, b.Users.SetVHostLimits, "/", auth.MaxQueues, -1)
		if err := declare("e"); err != nil {
			t.Error(err)
		}
	})
}

// Connections beyond the limit of descriptors are closed without an answer; a closed one makes room for another.
func TestSocketLimit(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) { c.Limits.Sockets = 2 }, func(b *testkit.Bubble) {
		b.Log.Allow("a connection is refused")
		ours, silent := net.Pipe() // counts before it has logged in
		b.Node.Connect(ours)
		c := b.Connect()
		for range 50 {
			if conn, err := enter(b, "guest", "guest", "/"); err == nil {
				_ = conn.Close()
				t.Fatal("a third socket")
			}
		}
		if n := b.Log.Count("a connection is refused"); n != 1 {
			t.Errorf("%d lines in the log", n)
		}
		c.Open().Declare("q", nil)
		_ = silent.Close()
		b.Advance(time.Second)
		b.Connect().Open().Declare("q", nil)
	})
}
