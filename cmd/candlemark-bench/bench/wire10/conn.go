package wire10

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// frameMax is the default maximum size in bytes of a frame from the broker.
const frameMax = 128 << 10

// minFrame is how many bytes a frame has to be allowed: that which begins a message has its properties and the beginning of its body.
const minFrame = 2 << 10

// Conn is a connection.
type Conn struct {
	net.Conn
	frameMax uint32 // bytes that the broker takes in a frame
	in       wire.Input
	links    []*link // by channel - 1
	answer   amqp10.Composite
	beat     time.Duration // how often the broker wants to hear something; 0 for not at all
	gone     chan struct{}
	once     sync.Once

	decoder hotpath.Decoder
}

// link is the link of a session.
type link struct {
	sender, settled bool // whether we send; whether deliveries are settled by their sender

	next        uint32 // id of the delivery that we send next
	frames      uint64 // of a message that we send
	confirmed   uint64 // number of the last publish that was
	credit      uint64 // number of the last publish that link and session have credit for, each
	window      uint64
	acked, seen uint32 // ids of the deliveries to us that come next
	prefetch    uint32 // messages, as credit
	given       uint32 // delivery-count at which it ends
	count       uint32 // delivery-count
	incoming    uint32 // number of the transfer that comes next
	began       bool   // a delivery has come
	body        []byte // of a delivery in several frames
	head        []byte // of the last message up to its body; empty for none to compare with
	size        int    // of that message in bytes
	before      bool   // whether it was redelivered
}

// Dial connects, logs in and opens the virtual host. Heartbeats are sent as often as the broker wants.
func Dial(cfg wire.Config) (*Conn, error) {
	nc, err := cfg.Connect()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: nc, in: wire.NewInput(nc, cfg.ReadBuffer), gone: make(chan struct{})}
	if err := c.enter(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", cfg.Address(), err), nc.Close())
	}
	return c, nc.SetDeadline(time.Time{})
}

// enter shakes hands.
func (c *Conn) enter(cfg wire.Config) error {
	user, password := cfg.Login()
	if err := c.greet(amqp10.SASLProtocolHeader); err != nil {
		return err
	}
	if err := c.send(0, &amqp10.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00" + user + "\x00" + password)}); err != nil {
		return err
	}
	for {
		p, err := c.await(0)
		if err != nil {
			return err
		}
		if outcome, is := p.(*amqp10.SASLOutcome); is {
			if outcome.Result != amqp10.SASLOK {
				return &wire.Closed{Scope: "connection", Text: "the login was refused"}
			}
			break
		}
	}
	if err := c.greet(amqp10.ProtocolHeader); err != nil {
		return err
	}
	open := &amqp10.Open{ContainerID: fmt.Sprint("candlemark-bench ", c.LocalAddr()), Hostname: cfg.URI.Host, MaxFrameSize: frameMax, ChannelMax: 65535}
	if cfg.VHost() != "/" {
		open.Hostname = "vhost:" + cfg.VHost()
	}
	if cfg.FrameMax > 0 {
		open.MaxFrameSize = cfg.FrameMax
	}
	if err := c.send(0, open); err != nil {
		return err
	}
	p, err := c.await(0)
	theirs, is := p.(*amqp10.Open)
	if !is {
		return otherwise(err, p)
	}
	c.frameMax = min(theirs.MaxFrameSize, 1<<20)
	if err := enough(c.frameMax, open.MaxFrameSize); err != nil {
		return err
	}
	if idle := theirs.IdleTimeout.Or(0); idle > 0 {
		c.beat = time.Duration(idle) * time.Millisecond / 3
		go c.heartbeats()
	}
	return nil
}

// enough refuses too small frame sizes.
func enough(toBroker, fromBroker uint32) error {
	if min(toBroker, fromBroker) < minFrame {
		return fmt.Errorf("frames of %d bytes to the broker and %d from it: a benchmark needs %d", toBroker, fromBroker, minFrame)
	}
	return nil
}

// greet writes a protocol header and reads the broker's, which must be the same.
func (c *Conn) greet(header [8]byte) error {
	if _, err := c.Write(header[:]); err != nil {
		return err
	}
	for len(c.in.Bytes()) < len(header) {
		if err := c.in.Fill(len(header)); err != nil {
			return err
		}
	}
	if got := c.in.Bytes()[:8]; string(got) != string(header[:]) {
		return fmt.Errorf("the broker does not speak AMQP 1.0 here: %q", got)
	}
	c.in.Skip(8)
	return nil
}

func (c *Conn) heartbeats() {
	beat := time.NewTicker(c.beat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			_, _ = c.Write(amqp10.AppendHeartbeat(nil)) // readers see that the connection has ended
		case <-c.gone:
			return
		}
	}
}

// otherwise is err, or that the broker said something else than it should.
func otherwise(err error, p amqp10.Composite) error {
	if err == nil {
		err = fmt.Errorf("unexpected %s", strings.TrimPrefix(fmt.Sprintf("%T", p), "*amqp10."))
	}
	return err
}

// Stamp is wire.Now at the last read from the network.
func (c *Conn) Stamp() int64 { return c.in.Stamp }

// Buffered reports whether a whole frame has arrived and is not read yet.
func (c *Conn) Buffered() bool {
	b := c.in.Bytes()
	return len(b) >= 8 && len(b) >= int(binary.BigEndian.Uint32(b))
}

func (c *Conn) send(ch uint16, p amqp10.Composite) error {
	_, err := c.Write(amqp10.AppendFrame(nil, ch, p))
	return err
}

// End closes the connection without waiting for the answer.
func (c *Conn) End() error { return c.send(0, &amqp10.Close{}) }

// Leave closes the connection in order and disconnects.
func (c *Conn) Leave() error {
	err := c.End()
	if err == nil {
		if _, err = c.await(0); errors.Is(err, errClosed) {
			err = nil
		}
	}
	return errors.Join(err, c.Close())
}

// Close disconnects.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.gone) })
	return c.Conn.Close()
}
