package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"candlemark/internal/storage/cluster/wire"

	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// port opens a port; lost gets the peers whose connections have ended.
func port(t *testing.T, secret string, judge func(wire.Hello) wire.Answer, log io.Writer) (p *wire.Port, lost chan string) {
	t.Helper()
	lost = make(chan string, 10)
	var at func() string
	p, err := wire.Listen("127.0.0.1:0", wire.Config{
		Secret: []byte(secret), Judge: judge, Log: zerolog.New(log), Lost: func(peer string) { lost <- peer },
		Hello:     func() wire.Hello { return wire.Hello{From: "n1/1", Cluster: "c"} },
		Addresses: func(string) []string { return []string{at()} },
	})
	if err != nil {
		t.Fatal(err)
	}
	at = func() string { return p.Addr().String() }
	t.Cleanup(func() { _ = p.Close() })
	return p, lost
}

// restarting is a network in which nobody listens at first.
type restarting struct{ refusals int }

func (r *restarting) Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

func (r *restarting) Dial(address string, patience time.Duration) (net.Conn, error) {
	if r.refusals++; r.refusals < 4 {
		return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	return net.DialTimeout("tcp", address, patience)
}

// TestCommand_CLU22: a command reaches a node that starts its program again meanwhile; one to a node that refuses it fails at once.
func TestCommand_CLU22(t *testing.T) {
	for refusal, want := range map[string]error{"": nil, "not now": wire.ErrRefused, "n2" + wire.Starting: nil} {
		t.Run(refusal, func(t *testing.T) {
			network, said := &restarting{}, atomic.Int32{}
			p, err := wire.Listen("127.0.0.1:0", wire.Config{
				Secret: []byte("secret"), Network: network, Log: zerolog.Nop(), Lost: func(string) {},
				Judge: func(wire.Hello) wire.Answer {
					if said.Add(1) > 2 && want == nil {
						return wire.Answer{Node: "n2/2"}
					}
					return wire.Answer{Node: "n2/2", Error: refusal}
				},
				Hello: func() wire.Hello { return wire.Hello{From: "n1/1", Cluster: "c"} },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := p.Command("n1/1", p.Addr().String(), "drain"); !errors.Is(err, want) || network.refusals < 4 || errors.Is(err, wire.ErrRefused) && network.refusals > 4 {
				t.Errorf("%v after %d attempts", err, network.refusals)
			}
		})
	}
}

func welcome(wire.Hello) wire.Answer { return wire.Answer{Node: "n2/2"} }

// TestHello_CLU4: a connection of the log carries bytes; its end is reported.
func TestHello_CLU4(t *testing.T) {
	p, lost := port(t, "secret", welcome, io.Discard)
	conn, err := p.Dial("n2/2", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(other, b); err != nil || string(b) != "abc" {
		t.Errorf("got %q, %v", b, err)
	}
	_ = conn.Close()
	if _, err := other.Read(b); err == nil {
		t.Error("the connection goes on")
	}
	if peer := <-lost; peer != "n1/1" {
		t.Errorf("lost %q", peer)
	}
	_ = other.Close()
	if a, err := p.Ask(p.Addr().String(), wire.KindAsk); err != nil || a.Node != "n2/2" || a.Version != wire.Places {
		t.Errorf("got %+v, %v", a, err)
	}
}

// safe is a buffer for a log that other goroutines write.
type safe struct{ got chan string }

func (s safe) Write(b []byte) (int, error) {
	s.got <- string(b)
	return len(b), nil
}

// TestRefusals_CLU4: both sides learn why there is no connection.
func TestRefusals_CLU4(t *testing.T) {
	log := safe{make(chan string, 10)}
	p, _ := port(t, "secret", func(wire.Hello) wire.Answer { return wire.Answer{Error: "another cluster"} }, log)
	if _, err := p.Dial("n2/2", time.Second); !errors.Is(err, wire.ErrRefused) || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("got %v", err)
	}
	if line := <-log.got; !strings.Contains(line, "another cluster") {
		t.Errorf("logged %s", line)
	}

	log = safe{make(chan string, 10)}
	p, _ = port(t, "secret", welcome, log)
	q, _ := port(t, "other", welcome, io.Discard)
	if _, err := q.Ask(p.Addr().String(), wire.KindAsk); !errors.Is(err, wire.ErrSecret) {
		t.Errorf("got %v", err)
	}
	if line := <-log.got; !strings.Contains(line, "secret of the cluster differs") {
		t.Errorf("logged %s", line)
	}
}

// TestNoSecretNoAnswer_CLU4: nobody judges, and nobody answers, a hello of a dialer that cannot show that it has the secret.
func TestNoSecretNoAnswer_CLU4(t *testing.T) {
	judged := make(chan wire.Hello, 1)
	p, _ := port(t, "secret", func(h wire.Hello) wire.Answer {
		judged <- h
		return wire.Answer{Node: "n2/2", Cluster: "the cluster"}
	}, io.Discard)
	conn, err := net.Dial("tcp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, part := range []string{`{"oldest":1,"newest":1,"kind":"join","from":"n2/evil","nonce":"AAAA"}`, `{"sum":"AAAA"}`} {
		prefix := ""
		if part[2] == 'o' {
			prefix = "CmNode\x00\x01"
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte(prefix), uint32(len(part))), part...))
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got, _ := io.ReadAll(conn); bytes.Contains(got, []byte("the cluster")) {
		t.Errorf("a stranger got %q", got)
	}
	select {
	case h := <-judged:
		t.Errorf("a stranger's hello was judged: %+v", h)
	default:
	}
}

// TestStrangers_CLU4: what is no hello of a node ends the connection, and nothing else.
func TestStrangers_CLU4(t *testing.T) {
	p, _ := port(t, "secret", welcome, io.Discard)
	for name, what := range map[string][]byte{
		"AMQP":        []byte("AMQP\x00\x00\x09\x01AMQP\x00\x00\x09\x01"),
		"HTTP":        []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"long":        append([]byte("CmNode\x00\x01\x7f\xff\xff\xff"), bytes.Repeat([]byte("x"), 1<<16)...),
		"no JSON":     []byte("CmNode\x00\x01\x00\x00\x00\x04xxxx"),
		"no versions": []byte("CmNode\x00\x01\x00\x00\x00\x1a{\"oldest\":7,\"newest\":9,  }"),
	} {
		conn, err := net.Dial("tcp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(what)
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(conn); errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
	if _, err := p.Ask(p.Addr().String(), wire.KindAsk); err != nil {
		t.Error(err)
	}
}

// TestRefuses: a port that is closed refuses, one that is open does not.
func TestRefuses(t *testing.T) {
	p, _ := port(t, "secret", welcome, io.Discard)
	if p.Refuses("n2/2") {
		t.Error("an open port refuses")
	}
	_ = p.Close()
	if !p.Refuses("n2/2") {
		t.Error("a closed port does not refuse")
	}
	if _, err := p.Dial(raft.ServerAddress("n2/2"), time.Second); err == nil {
		t.Error("dialed a closed port")
	}
}

// TestSilentStrangers_CLU4: connections that say nothing keep no node out.
func TestSilentStrangers_CLU4(t *testing.T) {
	p, _ := port(t, "secret", welcome, io.Discard)
	for range 100 {
		conn, err := net.Dial("tcp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	if a, err := p.Ask(p.Addr().String(), wire.KindAsk); err != nil || a.Node != "n2/2" {
		t.Errorf("got %+v, %v", a, err)
	}
}
