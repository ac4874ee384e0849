package amqp10

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"
	"candlemark/supervision"

	"github.com/Azure/go-amqp"
)

func TestOpen(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := connect(b, nil)
		p := c.conn.Properties()
		if p["product"] != "RabbitMQ" || p["version"] != "4.3.6" || !strings.HasPrefix(fmt.Sprint(p["product_version"]), "Candlemark") {
			t.Errorf("%v", p)
		}
		_ = c.conn.Close() // the library does not recognize the error of a closed pipe
	})
}

// The broker answers as RabbitMQ does when a client logs in (here by AMQPLAIN), opens a connection and begins a session.
func TestOpen_Answers(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ours, theirs := net.Pipe()
		b.Node.Connect(ours)
		r := &raw{T: t, Conn: theirs}
		defer func() { _ = r.Close() }()
		r.say(amqp10.SASLProtocolHeader[:])
		r.header()
		offered := r.want(amqp10.CodeSASLMechanisms).(*amqp10.SASLMechanisms).ServerMechanisms
		if want := []amqp10.Symbol{"PLAIN", "AMQPLAIN"}; !slices.Equal(offered, want) { // passwordless guests (ANONYMOUS) need a setting
			t.Errorf("%q", offered)
		}
		r.send(0, &amqp10.SASLInit{Mechanism: "AMQPLAIN", InitialResponse: []byte("\x05LOGINS\x00\x00\x00\x05guest\x08PASSWORDS\x00\x00\x00\x05guest")})
		if o := r.want(amqp10.CodeSASLOutcome).(*amqp10.SASLOutcome); o.Result != 0 {
			t.Fatalf("%+v", o)
		}
		r.say(amqp10.ProtocolHeader[:])
		r.header()
		r.send(0, &amqp10.Open{ContainerID: "c", MaxFrameSize: 1 << 16, ChannelMax: 10})
		o := r.want(amqp10.CodeOpen).(*amqp10.Open)
		if o.ContainerID == "" || o.MaxFrameSize != 131072 || o.ChannelMax != 63 || !slices.Equal(o.OfferedCapabilities, []amqp10.Symbol{"LINK_PAIR_V1_0", "ANONYMOUS-RELAY", "DELAYED_DELIVERY"}) {
			t.Errorf("%+v", o)
		}
		for _, key := range []string{"product", "version", "product_version", "platform", "cluster_name", "copyright", "information", "node"} {
			if v, _ := o.Properties.Get(key); v == nil || v == "" {
				t.Errorf("no %s in %v", key, o.Properties)
			}
		}
		r.send(1, beginning())
		if begun := r.want(amqp10.CodeBegin).(*amqp10.Begin); begun.RemoteChannel.Or(0) != 1 || begun.HandleMax != 255 || begun.IncomingWindow == 0 {
			t.Errorf("%+v", begun)
		}
	})
}

// A refused login releases its socket, which counts against the limit of open sockets.
func TestLogin_Refused(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Limits = supervision.Limits{NoHeartbeat: true, Sockets: 1} }, func(b *testkit.Bubble) {
		b.Log.Allow("login refused")
		for name, sasl := range map[string]amqp.SASLType{"password": amqp.SASLTypePlain("guest", "wrong"), "anonymous": amqp.SASLTypeAnonymous(), "none": nil} {
			conn, err := dial(b, func(o *amqp.ConnOptions) { o.SASLType = sasl })
			if name == "none" && err == nil { // the error comes after the exchange of open
				<-conn.Done()
				err = conn.Err()
				if got := condition(err); got != amqp.ErrCondUnauthorizedAccess {
					t.Errorf("without SASL: %v", err)
				}
			}
			if err == nil {
				t.Error(name, "is let in")
			}
			b.Advance(time.Minute)
		}
		c := connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		if _, err := dial(b, nil); err == nil {
			t.Error("one socket too many")
		}
	})
}

// The hostname names a virtual host, which must exist.
func TestVHost(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("handshake failed")
		refused, err := dial(b, func(o *amqp.ConnOptions) { o.HostName = "vhost:none" })
		if err != nil {
			t.Fatal(err)
		}
		if <-refused.Done(); condition(refused.Err()) != amqp.ErrCondNotAllowed {
			t.Error(refused.Err())
		}
		connection, err := dial(b, func(o *amqp.ConnOptions) { o.HostName = "vhost:/" })
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
	})
}

// Clients receive the reason when the broker stops or an administrator closes their connection.
func TestForced(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := connect(b, nil)
		b.Connect().Open().Declare("q", nil)
		r := c.receiver("/queues/q", nil)
		go func() { _ = b.Node.Stop(context.Background()) }()
		_, err := r.Receive(context.Background(), nil)
		if condition(err) != amqp.ErrCondConnectionForced {
			t.Error(err)
		}
		b.Advance(time.Minute)
		b.Node = nil
	})
}

// The broker sends empty frames on an idle connection, and detects a dead client.
func TestIdle(t *testing.T) {
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Limits = supervision.Limits{Heartbeat: 20} }, func(b *testkit.Bubble) {
		r := openRaw(b, &amqp10.Open{ContainerID: "c", MaxFrameSize: 1 << 16, IdleTimeout: amqp10.Some(uint32(3000))})
		begin, last := time.Now(), time.Now()
		for {
			f, err := r.frame()
			if err != nil {
				break
			}
			if len(f.Body) == 0 {
				if gap := time.Since(last); gap > 3*time.Second {
					t.Errorf("%v without a frame", gap)
				}
				last = time.Now()
			}
		}
		if lived := time.Since(begin); lived < 20*time.Second || lived > 30*time.Second {
			t.Errorf("the dead client was noticed after %v", lived)
		}
	})
}

// raw is a client that sends frames of the test's choice.
type raw struct {
	*testing.T
	net.Conn
	in []byte
}

// openRaw logs in and opens a connection.
func openRaw(b *testkit.Bubble, open *amqp10.Open) *raw {
	b.Helper()
	ours, theirs := net.Pipe()
	b.Node.Connect(ours)
	r := &raw{T: b.T, Conn: theirs}
	b.Cleanup(func() { _ = theirs.Close() })
	r.say(amqp10.SASLProtocolHeader[:])
	r.header()
	r.want(amqp10.CodeSASLMechanisms)
	r.send(0, &amqp10.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00guest\x00guest")})
	r.want(amqp10.CodeSASLOutcome)
	r.say(amqp10.ProtocolHeader[:])
	r.header()
	r.send(0, open)
	r.want(amqp10.CodeOpen)
	return r
}

func (r *raw) say(bytes []byte) {
	r.Helper()
	if _, err := r.Write(bytes); err != nil {
		r.Fatal("write:", err)
	}
}

func (r *raw) send(channel uint16, frames ...amqp10.Composite) {
	r.Helper()
	var b []byte
	for _, p := range frames {
		b = amqp10.AppendFrame(b, channel, p)
	}
	r.say(b)
}

func (r *raw) header() {
	r.Helper()
	for len(r.in) < 8 {
		if err := r.fill(); err != nil {
			r.Fatal("header:", err)
		}
	}
	r.in = r.in[8:]
}

func (r *raw) fill() error {
	b := make([]byte, 1<<16)
	_ = r.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := r.Read(b)
	r.in = append(r.in, b[:n]...)
	return err
}

func (r *raw) frame() (amqp10.Frame, error) {
	for {
		f, n, _, err := amqp10.ParseFrame(r.in, 1<<20)
		if n > 0 || err != nil {
			r.in = r.in[n:]
			return f, err
		}
		if err := r.fill(); err != nil {
			return f, err
		}
	}
}

// want reads frames until one with this code arrives.
func (r *raw) want(code uint64) amqp10.Composite {
	r.Helper()
	for {
		f, err := r.frame()
		if err != nil {
			r.Fatalf("instead of 0x%02x: %v", code, err)
		}
		if got, ok := f.Code(); ok && got == code {
			p, _, err := f.Decode()
			if err != nil {
				r.Fatal(err)
			}
			return p
		}
	}
}
