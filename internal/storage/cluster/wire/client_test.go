package wire_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"candlemark/internal/storage/cluster/wire"

	"github.com/rs/zerolog"
)

// openClients opens a port that takes the clients of term 7.
func openClients(t *testing.T, judged chan<- wire.Hello, got chan<- wire.Client) *wire.Port {
	t.Helper()
	var at func() string
	p, err := wire.Listen("127.0.0.1:0", wire.Config{
		Secret: []byte("secret"), Log: zerolog.Nop(), Lost: func(string) {}, Hello: func() wire.Hello { return wire.Hello{From: "n1/1", Cluster: "c"} },
		Addresses: func(string) []string { return []string{at()} },
		Judge: func(h wire.Hello) wire.Answer {
			judged <- h
			if h.Client.Term != 7 {
				return wire.Answer{Error: "another term"}
			}
			return wire.Answer{}
		},
		Client: func(conn net.Conn, c wire.Client) {
			got <- c
			_, _ = conn.Write([]byte("x"))
			_ = conn.Close()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	at = func() string { return p.Addr().String() }
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestClient_CLU20: a node tells the address of a client to a node with the same secret, and nobody else can.
func TestClient_CLU20(t *testing.T) {
	got, judged := make(chan wire.Client, 1), make(chan wire.Hello, 10)
	p := openClients(t, judged, got)
	want := wire.Client{Listener: "amqp", Remote: "192.0.2.7:1234", Local: "192.0.2.1:5672", Term: 7}
	conn, err := p.DialClient("n1/1", want, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(conn); err != nil || string(b) != "x" {
		t.Errorf("got %q, %v", b, err)
	}
	_ = conn.Close()
	if c := <-got; c != want {
		t.Errorf("got %+v", c)
	}
	<-judged
	if _, err := p.DialClient("n1/1", wire.Client{Term: 6}, time.Second); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("got %v", err)
	}
	<-judged
	conn, err = net.Dial("tcp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]string{{"CmNode\x00\x01", `{"oldest":1,"newest":1,"kind":"client","from":"n2/evil","nonce":"AAAA","client":{"listener":"amqp","remote":"127.0.0.1:1","local":"127.0.0.1:2","term":7}}`}, {"", `{"sum":"AAAA"}`}} {
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte(part[0]), uint32(len(part[1]))), part[1]...))
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.ReadAll(conn)
	_ = conn.Close()
	select {
	case h := <-judged:
		t.Errorf("a forged client was judged: %+v", h)
	case c := <-got:
		t.Errorf("a forged client was served: %+v", c)
	default:
	}
}
