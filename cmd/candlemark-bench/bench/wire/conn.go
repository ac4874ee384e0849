package wire

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/storage/parameters"
	"candlemark/protocol"
)

// patience is how long an answer of the broker may take.
const patience = 60 * time.Second

// Config has the settings of a connection.
type Config struct {
	URI        *parameters.URI
	TLS        *tls.Config // nil without
	Heartbeat  uint16      // seconds, 0 for none
	FrameMax   uint32      // bytes; 0 for what the broker offers
	ReadBuffer int         // bytes; 0 for 64 KiB
}

// Address is host and port of the broker.
func (c Config) Address() string {
	if c.URI.Local() {
		return "127.0.0.1:5672"
	}
	return net.JoinHostPort(c.URI.Host, strconv.Itoa(c.URI.Port))
}

// VHost returns the virtual host; an address that ends with / also names the virtual host /.
func (c Config) VHost() string { return cmp.Or(c.URI.VHost, "/") }

// Conn is a connection.
type Conn struct {
	net.Conn
	FrameMax uint32 // bytes
	Server   protocol.Table
	// Passed gets other events while an answer is awaited; nil: they are dropped.
	Passed func(*Event)

	in    Input
	parts []*content // by channel
	ev    Event
}

// Connect opens a connection without a word of AMQP; it has a minute for what comes next.
func (c Config) Connect() (net.Conn, error) {
	nc, err := net.DialTimeout("tcp", c.Address(), patience)
	if err != nil {
		return nil, err
	}
	if c.TLS != nil {
		nc = tls.Client(nc, c.TLS)
	}
	return nc, nc.SetDeadline(time.Now().Add(patience))
}

// Login returns the user and the password.
func (c Config) Login() (user, password string) {
	if c.URI.User == "" {
		return "guest", "guest"
	}
	return c.URI.User, c.URI.Password
}

// Dial connects, logs in and opens the virtual host.
func Dial(cfg Config) (*Conn, error) {
	nc, err := cfg.Connect()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: nc, in: NewInput(nc, cfg.ReadBuffer)}
	if err := c.enter(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", cfg.Address(), err), nc.Close())
	}
	return c, nc.SetDeadline(time.Time{})
}

// enter shakes hands.
func (c *Conn) enter(cfg Config) error {
	if _, err := c.Write(protocol.ProtocolHeader[:]); err != nil {
		return err
	}
	m, err := c.await(0)
	start, ok := m.(*protocol.ConnectionStart)
	if !ok {
		return otherwise(err, m)
	}
	c.Server = start.ServerProperties
	user, password := cfg.Login()
	m, err = c.Call(0, &protocol.ConnectionStartOk{
		ClientProperties: properties, Mechanism: "PLAIN", Response: []byte("\x00" + user + "\x00" + password), Locale: "en_US",
	})
	tune, ok := m.(*protocol.ConnectionTune)
	if !ok {
		return otherwise(err, m)
	}
	c.FrameMax = tune.FrameMax
	if cfg.FrameMax != 0 && (c.FrameMax == 0 || cfg.FrameMax < c.FrameMax) {
		c.FrameMax = cfg.FrameMax
	}
	if err := c.Send(0, &protocol.ConnectionTuneOk{ChannelMax: tune.ChannelMax, FrameMax: c.FrameMax, Heartbeat: cfg.Heartbeat}); err != nil {
		return err
	}
	_, err = c.Call(0, &protocol.ConnectionOpen{VirtualHost: cfg.VHost()})
	return err
}

// otherwise is err, or that the broker said something else than it should.
func otherwise(err error, m protocol.Method) error {
	if err == nil {
		err = fmt.Errorf("unexpected %T", m)
	}
	return err
}

// properties identify the client to the broker.
var properties = protocol.Table{
	{Key: "product", Value: "candlemark-bench"},
	{Key: "platform", Value: "Go"},
	{Key: "capabilities", Value: protocol.Table{
		{Key: "publisher_confirms", Value: true},
		{Key: "consumer_cancel_notify", Value: true},
		{Key: "basic.nack", Value: true},
		{Key: "connection.blocked", Value: true},
		{Key: "authentication_failure_close", Value: true},
	}},
}

// Product returns how the broker names itself: product and version.
func (c *Conn) Product() string {
	product, _ := c.Server.Get("product")
	version, _ := c.Server.Get("version")
	return strings.TrimSpace(fmt.Sprint(product, " ", version))
}

// Stamp is Now at the last read from the network.
func (c *Conn) Stamp() int64 { return c.in.Stamp }

// Send writes a method.
func (c *Conn) Send(ch uint16, m protocol.Method) error {
	_, err := c.Write(protocol.AppendMethodFrame(nil, ch, m))
	return err
}

// Call writes a method and returns the next one that comes on the channel, which is its answer; see Passed for anything
// else. The error is a *Closed if the broker closed channel or connection.
func (c *Conn) Call(ch uint16, m protocol.Method) (protocol.Method, error) {
	_ = c.SetDeadline(time.Now().Add(patience))
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	if err := c.Send(ch, m); err != nil {
		return nil, c.Why(err)
	}
	return c.await(ch)
}

// await returns the next method on a channel.
func (c *Conn) await(ch uint16) (protocol.Method, error) {
	for {
		if err := c.Next(&c.ev); err != nil {
			return nil, err
		}
		if c.ev.Kind == Method {
			m, err := c.ev.Decode()
			if err == nil {
				err = c.closed(c.ev.Channel, m)
			}
			if err != nil || c.ev.Channel == ch {
				return m, err
			}
		}
		if c.Passed != nil {
			c.Passed(&c.ev)
		}
	}
}

// Why returns the reason that the broker gave before a write failed with err, or else err.
func (c *Conn) Why(err error) error {
	var reason *Closed
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	if _, why := c.await(0); errors.As(why, &reason) {
		return reason
	}
	return err
}

// Open opens a channel.
func (c *Conn) Open(ch uint16) error {
	_, err := c.Call(ch, &protocol.ChannelOpen{})
	return err
}

// Settle closes a channel, which the broker answers when it has taken all that was published on it, and opens it again.
func (c *Conn) Settle(ch uint16) error {
	if _, err := c.Call(ch, &protocol.ChannelClose{ReplyCode: protocol.ReplySuccess}); err != nil {
		return err
	}
	return c.Open(ch)
}

// Publisher opens a channel to publish on, with confirms if they are wanted.
func (c *Conn) Publisher(ch uint16, _ *Publish, confirms bool) error {
	err := c.Open(ch)
	if err == nil && confirms {
		_, err = c.Call(ch, &protocol.ConfirmSelect{})
	}
	return err
}

// Finish begins to close the channel of a publisher, which the broker answers when it has taken everything; see Finished.
func (c *Conn) Finish(ch uint16) error {
	return c.Send(ch, &protocol.ChannelClose{ReplyCode: protocol.ReplySuccess})
}

// Finished reports whether the event is the answer to Finish.
func (c *Conn) Finished(ev *Event) bool {
	if ev.Kind != Method {
		return false
	}
	m, _ := ev.Decode()
	_, is := m.(*protocol.ChannelCloseOk)
	return is
}

// Credit is without end: in AMQP 0-9-1 publishes need none.
func (c *Conn) Credit(uint16) uint64 { return math.MaxUint64 }

// Subscription has the settings of a consumer.
type Subscription struct {
	AutoAck   bool
	Prefetch  int // messages; 0 for no limit
	Arguments protocol.Table
}

// Subscribe opens a channel and starts a consumer on it. passed gets other events that arrive before the answer; nil
// drops them.
func (c *Conn) Subscribe(ch uint16, queue string, how Subscription, passed func(*Event)) error {
	c.Passed = passed
	defer func() { c.Passed = nil }()
	err := c.Open(ch)
	if err == nil && !how.AutoAck && how.Prefetch > 0 {
		_, err = c.Call(ch, &protocol.BasicQos{PrefetchCount: uint16(how.Prefetch)})
	}
	if err == nil {
		_, err = c.Call(ch, &protocol.BasicConsume{Queue: queue, ConsumerTag: "c", NoAck: how.AutoAck, Arguments: how.Arguments})
	}
	return err
}

// Acknowledge settles all deliveries of a channel up to a tag.
func (c *Conn) Acknowledge(ch uint16, tag uint64) error {
	var room [32]byte
	_, err := c.Write(protocol.AppendAckFrame(room[:0], ch, tag, true))
	return err
}

// End closes the connection without waiting for the answer.
func (c *Conn) End() error {
	return c.Send(0, &protocol.ConnectionClose{ReplyCode: protocol.ReplySuccess})
}

// Leave closes the connection in order and disconnects.
func (c *Conn) Leave() error {
	_, err := c.Call(0, &protocol.ConnectionClose{ReplyCode: protocol.ReplySuccess})
	return errors.Join(err, c.Close())
}
