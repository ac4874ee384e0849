package websocket

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	library "github.com/coder/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// discarding accepts connections and discards all input.
type discarding struct{}

func (discarding) Patient(socket net.Conn) net.Conn { return socket }

func (discarding) Connect(conn net.Conn) {
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
}

// Requests without WebSocket, with another subprotocol, or from a page of another site are refused; so are text
// messages.
func TestWebSocketRefuses(t *testing.T) {
	s := httptest.NewServer(NewHandler(discarding{}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	for name, test := range map[string]struct {
		protocol, origin, host string
		want                   int
	}{
		"another protocol":           {protocol: "mqtt", want: http.StatusBadRequest},
		"another site":               {protocol: "amqp", origin: "http://elsewhere.example", want: http.StatusForbidden},
		"a page of ours":             {protocol: "AMQPWSB10", origin: "http://" + address, want: http.StatusSwitchingProtocols},
		"no browser and no protocol": {want: http.StatusSwitchingProtocols},
	} {
		opts := &library.DialOptions{HTTPHeader: http.Header{}, Host: test.host}
		if test.protocol != "" {
			opts.Subprotocols = []string{test.protocol}
		}
		if test.origin != "" {
			opts.HTTPHeader.Set("Origin", test.origin)
		}
		socket, answer, err := library.Dial(t.Context(), "ws://"+address+Path, opts)
		if answer == nil || answer.StatusCode != test.want {
			t.Errorf("%s: %v %v, want %d", name, answer, err, test.want)
		}
		if err != nil {
			continue
		}
		if err := socket.Write(t.Context(), library.MessageText, []byte("AMQP\x00\x00\x09\x01")); err != nil {
			t.Error(err)
		}
		if _, _, err := socket.Read(t.Context()); library.CloseStatus(err) != library.StatusUnsupportedData {
			t.Errorf("%s: text ended with %v", name, err)
		}
	}
	answer, err := http.Get(s.URL + Path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUpgradeRequired {
		t.Error(answer.Status)
	}
}

// A socket is closed even if its peer has announced a message of enormous length, whether the message is of the wrong
// kind or the connection is refused while it is received.
func TestWebSocketFarewell(t *testing.T) {
	for name, opcode := range map[string]byte{"text": 0x81, "binary": 0x82} {
		t.Run(name, func(t *testing.T) {
			taken := make(chan net.Conn, 1)
			s := httptest.NewServer(NewHandler(taking(taken)))
			defer s.Close()
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			const upgrade = "GET " + Path + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
			if _, err := conn.Write(append([]byte(upgrade), opcode, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4)); err != nil {
				t.Fatal(err)
			}
			c := <-taken
			go func() { _, _ = io.Copy(io.Discard, c) }()
			_ = c.Close()
			if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the socket is open")
			}
		})
	}
}

// taking sends each connection to a channel.
type taking chan net.Conn

func (taking) Patient(socket net.Conn) net.Conn { return socket }

func (t taking) Connect(conn net.Conn) { t <- conn }
