package testkit

import (
	"net"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Client is one connection to the broker.
type Client struct {
	*amqp.Connection
	// Socket is the client's end of the connection; tests may close it.
	Socket net.Conn
	// Closed gets the reason why the broker, or a broken socket, closed the connection.
	Closed <-chan *amqp.Error
	b      *Bubble
}

// Open opens a channel.
func (c *Client) Open() *Channel {
	c.b.Helper()
	ch, err := c.Channel()
	if err != nil {
		c.b.Fatal("channel:", err)
	}
	return &Channel{
		Channel: ch, b: c.b,
		Closed:    ch.NotifyClose(make(chan *amqp.Error, 1)),
		Cancelled: ch.NotifyCancel(make(chan string, 100)),
		Returns:   ch.NotifyReturn(make(chan amqp.Return, 1<<9)),
	}
}

// Leave closes the connection as a client should.
func (c *Client) Leave() {
	c.b.Helper()
	if err := c.Close(); err != nil {
		c.b.Fatal("connection.close:", err)
	}
}

// Cut closes the socket without closing the connection.
func (c *Client) Cut() { _ = c.Socket.Close() }
