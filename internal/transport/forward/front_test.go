package forward_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/internal/transport/forward"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a follower's front and the leader's.
type pair struct {
	testing.TB
	follower, leader *forward.Front
	served           net.Listener // of the leader
	dialed           chan net.Conn
	dials            atomic.Int64
	refuse           atomic.Bool
}

var first = forward.Leader{Identity: "n1/1", Term: 1}

func newPair(t testing.TB, change func(*forward.Config)) *pair {
	t.Helper()
	p := &pair{TB: t, dialed: make(chan net.Conn, 1000)}
	between, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := forward.Config{Most: 10, Wait: time.Minute, Log: zerolog.Nop(), Dial: func(l forward.Leader, c forward.Client) (net.Conn, error) {
		p.dials.Add(1)
		if p.refuse.Load() {
			return nil, errors.New("refused")
		}
		conn, err := net.Dial("tcp", between.Addr().String())
		if err != nil {
			return nil, err
		}
		other, err := between.Accept()
		if err != nil {
			return nil, err
		}
		p.dialed <- conn
		go p.leader.Take(other, c)
		return conn, nil
	}}
	if change != nil {
		change(&cfg)
	}
	p.follower = forward.New(cfg)
	p.leader = forward.New(forward.Config{Most: 10, Log: zerolog.Nop(), Dial: func(forward.Leader, forward.Client) (net.Conn, error) {
		return nil, errors.New("a leader passes nothing on")
	}})
	for _, f := range []*forward.Front{p.follower, p.leader} {
		if err := f.Open(forward.AMQP, "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	if p.served, err = p.leader.Listener(forward.AMQP, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = between.Close()
		_ = p.served.Close()
		_ = p.follower.Close()
		_ = p.leader.Close()
		eventually(t, "nothing is left", func() bool { return p.follower.Count() == 0 })
	})
	return p
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain:", what)
		}
	}
}

// dial connects with the follower.
func (p *pair) dial() *net.TCPConn {
	p.Helper()
	conn, err := net.Dial("tcp", p.follower.Addresses(forward.AMQP)[0].String())
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

func (p *pair) accept() net.Conn {
	p.Helper()
	conn, err := p.served.Accept()
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (p *pair) expect(conn net.Conn, want string) {
	p.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != want {
		p.Errorf("got %q, %v, want %q", b, err, want)
	}
}

func (p *pair) send(conn net.Conn, what string) {
	p.Helper()
	if _, err := conn.Write([]byte(what)); err != nil {
		p.Error(err)
	}
}

// over expects the end of a connection.
func (p *pair) over(conn net.Conn) {
	p.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		p.Errorf("read %d bytes, %v", n, err)
	}
}

// TestFront_CLU20: the leader's broker gets the client's bytes and addresses; each direction ends by itself.
func TestFront_CLU20(t *testing.T) {
	p := newPair(t, nil)
	p.follower.Follow(first)
	client := p.dial()
	server := p.accept()
	if server.RemoteAddr().String() != client.LocalAddr().String() || server.LocalAddr().String() != client.RemoteAddr().String() {
		t.Errorf("the leader sees %v at %v", server.RemoteAddr(), server.LocalAddr())
	}
	p.send(client, "question")
	p.expect(server, "question")
	_ = client.CloseWrite()
	p.over(server)
	p.send(server, "answer")
	p.expect(client, "answer")
	_ = server.Close()
	p.over(client)
}

// TestWaiting_CLU20: clients wait for a leader, and are closed when there is none in time; there may be so many.
func TestWaiting_CLU20(t *testing.T) {
	p := newPair(t, func(c *forward.Config) { c.Most = 2 })
	one, two := p.dial(), p.dial()
	eventually(t, "two wait", func() bool { return p.follower.Count() == 2 })
	p.over(p.dial())
	p.refuse.Store(true)
	p.follower.Follow(first)
	eventually(t, "refused", func() bool { return p.dials.Load() > 2 })
	p.refuse.Store(false)
	p.send(one, "1")
	p.send(two, "2")
	got := [2]byte{}
	for i := range got {
		if _, err := p.accept().Read(got[i : i+1]); err != nil {
			t.Error(err)
		}
	}
	if got != [2]byte{'1', '2'} && got != [2]byte{'2', '1'} {
		t.Errorf("got %q", got)
	}
	late := newPair(t, func(c *forward.Config) { c.Wait = time.Millisecond })
	late.over(late.dial())
}

// TestAnotherLeader_CLU20: connections end when another node leads, or the same in another term; those to the new one go on.
func TestAnotherLeader_CLU20(t *testing.T) {
	p := newPair(t, nil)
	for _, next := range []forward.Leader{{Identity: "n2/2", Term: 2}, {Identity: "n2/2", Term: 3}, {}} {
		p.follower.Follow(forward.Leader{Identity: next.Identity + "before", Term: next.Term})
		client := p.dial()
		server := p.accept()
		p.send(client, "x")
		p.expect(server, "x") // it is passed on
		p.follower.Follow(next)
		p.over(client)
		p.over(server)
	}
}

// TestOwnBroker_CLU20: connections that wait are this node's when it leads; it serves them while it has a listener.
func TestOwnBroker_CLU20(t *testing.T) {
	p := newPair(t, nil)
	client := p.dial()
	eventually(t, "it waits", func() bool { return p.follower.Count() == 1 })
	l, err := p.follower.Listener(forward.AMQP, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.follower.Listener(forward.AMQP, "127.0.0.1:0"); err == nil {
		t.Error("two brokers have one listener")
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p.send(client, "x")
	p.expect(server, "x")
	_ = server.Close()
	if !p.follower.Serves(forward.AMQP) || p.follower.Serves(forward.AMQPS) {
		t.Error("it serves AMQP, and nothing else")
	}
	_ = l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || p.follower.Serves(forward.AMQP) {
		t.Error("it serves no more")
	}
}

// lines are those of a log.
type lines chan string

// Write implements io.Writer.
func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestSlowClient_CLU20: a client that reads nothing ends, as it does on the leader, and the log says why; one that is gone ends while the leader does not read.
func TestSlowClient_CLU20(t *testing.T) {
	log := make(lines, 10)
	p := newPair(t, func(c *forward.Config) { c.SendTimeout, c.Log = 300*time.Millisecond, zerolog.New(log) })
	p.follower.Follow(first)
	p.dial()
	server := p.accept()
	b := make([]byte, 1<<20)
	for {
		if _, err := server.Write(b); err != nil { // the follower has ended it
			break
		}
	}
	if line := <-log; !strings.Contains(line, "the client has read nothing for 300ms") || !strings.Contains(line, server.RemoteAddr().String()) {
		t.Error(line)
	}
	client := p.dial()
	p.accept()
	_ = client.SetLinger(0)
	_ = client.Close()
	eventually(t, "it has ended", func() bool { return p.follower.Count() == 0 })
	if len(log) > 0 {
		t.Error(<-log)
	}
}

// TestLeaderStopsReading_CLU20: a client that vanishes while the leader does not read its bytes ends, too.
func TestLeaderStopsReading_CLU20(t *testing.T) {
	p := newPair(t, nil)
	p.follower.Follow(first)
	client := p.dial()
	p.accept()
	_ = client.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for b := make([]byte, 1<<20); ; {
		if _, err := client.Write(b); err != nil {
			break
		}
	}
	_ = client.SetLinger(0)
	_ = client.Close()
	eventually(t, "it has ended", func() bool { return p.follower.Count() == 0 })
}

// TestHungLeader_CLU20: clients do not wait for a leader that answers nothing when another one is known, however many wait for it.
func TestHungLeader_CLU20(t *testing.T) {
	hung, asked := make(chan struct{}), make(chan struct{}, 1000)
	second := forward.Leader{Identity: "n2/2", Term: 2}
	p := newPair(t, func(c *forward.Config) {
		dial := c.Dial
		c.Most, c.Dial = 100, func(l forward.Leader, c forward.Client) (net.Conn, error) {
			if l == first {
				asked <- struct{}{}
				<-hung
			}
			return dial(l, c)
		}
	})
	p.follower.Follow(first)
	var clients []net.Conn
	for range 20 {
		clients = append(clients, p.dial())
	}
	for range 8 {
		<-asked
	}
	eventually(t, "all wait", func() bool { return p.follower.Count() == len(clients) })
	p.follower.Follow(second)
	for range clients {
		p.send(p.accept(), "x")
	}
	for _, client := range clients {
		p.expect(client, "x")
	}
	close(hung)
	for range 8 {
		p.over(p.accept()) // too late for a client
	}
}
