package integration

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/httpapi/websocket"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	library "github.com/coder/websocket"
	amqp "github.com/rabbitmq/amqp091-go"
)

// overWebSocket opens a connection to an HTTP listener, over TLS if there is an authority.
func overWebSocket(ctx context.Context, address string, a *testkit.Authority, protocols ...string) (net.Conn, *http.Response, error) {
	scheme, opts := "ws://", &library.DialOptions{Subprotocols: protocols}
	if a != nil {
		scheme = "wss://"
		opts.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Roots()}}}
	}
	socket, answer, err := library.Dial(ctx, scheme+address+websocket.Path, opts)
	if err != nil {
		return nil, answer, err
	}
	return library.NetConn(context.Background(), socket, library.MessageBinary), answer, nil
}

// A client of AMQP 0-9-1 over WebSocket publishes messages larger than a read, consumes them in order and is shown with its own
// address and TLS. A broken socket ends its connection.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	authority := testkit.NewAuthority(t)
	b, _ := secured(t, authority, t.TempDir(), "--https", "127.0.0.1:0")
	for name, a := range map[string]*testkit.Authority{"plain": nil, "TLS": authority} {
		t.Run(name, func(t *testing.T) {
			address, tlsShown := b.log.address("HTTP listener started"), `"ssl":false`
			if a != nil {
				address, tlsShown = b.log.address("HTTP listener with TLS started"), `"ssl":true`
			}
			var socket net.Conn
			conn, err := amqp.DialConfig("amqp://"+address, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Dial: func(string, string) (net.Conn, error) {
				c, _, err := overWebSocket(t.Context(), address, a, "amqp")
				socket = c
				return c, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			q, err := ch.QueueDeclare("", false, true, true, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			bodies := []string{strings.Repeat("large", 1<<20), "", strings.Repeat("x", 70_000), "last"}
			for _, body := range bodies {
				if err := ch.Publish("", q.Name, false, false, amqp.Publishing{Body: []byte(body)}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := ch.Consume(q.Name, "", true, false, false, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range bodies {
				if d := <-got; string(d.Body) != want {
					t.Fatalf("message %d has %d bytes, want %d", i, len(d.Body), len(want))
				}
			}
			eventually(t, "it is shown", func() bool {
				shown := b.asked("/api/connections")
				return strings.Count(shown, `"peer_host":"127.0.0.1"`) == 1 && strings.Contains(shown, tlsShown)
			})
			if err := socket.Close(); err != nil {
				t.Log(err) // the broker may have closed it first
			}
			eventually(t, "it is gone", func() bool { return b.asked("/api/connections") == "[]" })
		})
	}
}

// stalling is a connection that stops reading at some time.
type stalling struct {
	net.Conn
	from chan struct{}
}

func (s *stalling) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	select {
	case <-s.from:
		select {} // the goroutine blocks until the tests end
	default:
		return n, err
	}
}

// A client over WebSocket that does not read is disconnected like any other.
func TestWebSocketUnread(t *testing.T) {
	t.Parallel()
	b := start(t, "--send-timeout", "1s")
	b.bystander().queueWith("big", 1<<20)
	stall := &stalling{from: make(chan struct{})}
	conn, err := amqp.DialConfig("amqp://127.0.0.1", amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Dial: func(string, string) (c net.Conn, err error) {
		stall.Conn, _, err = overWebSocket(t.Context(), b.log.address("HTTP listener started"), nil, "amqp")
		return stall, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	close(stall.from)
	for range 64 {
		if err := ch.Publish("", "nowhere", true, false, amqp.Publishing{Body: make([]byte, 1<<20)}); err != nil {
			break // already disconnected
		}
	}
	eventually(t, "it is cut off", func() bool { return strings.Contains(b.log.String(), "the client has read nothing for 1s") })
	eventually(t, "the other one is left", func() bool { return strings.Count(b.asked("/api/connections"), `"peer_host"`) == 1 })
}

// Azure's clients work over WebSocket as over TCP: the client for Go connects to the administration's listener.
func TestAzureClient_WebSocket(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-config", sampleConfig, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address := b.log.address("Service Bus listener started")
	client, err := azservicebus.NewClientFromConnectionString(
		"Endpoint=sb://"+address+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;",
		&azservicebus.ClientOptions{NewWebSocketConn: func(ctx context.Context, _ azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
			c, _, err := overWebSocket(ctx, address, nil, "amqp")
			return c, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	a := &azure{t, ctx, client}
	a.send("failures", "over WebSocket")
	r := a.receiver("failures", nil)
	a.ok(r.CompleteMessage(ctx, a.receive(r, "over WebSocket"), nil))
	a.ok(client.Close(ctx))
	eventually(t, "it is gone", func() bool { return b.asked("/api/connections") == "[]" })
}

// The client for JavaScript supports WebSocket over TLS only.
func TestAzureClient_JavaScriptWebSocket(t *testing.T) {
	t.Parallel()
	f := foreign{name: "@azure/service-bus over ws", where: npm, probe: []string{"node", "-e", "require('@azure/service-bus'); require('ws')"}, run: []string{"node"}}
	f.want(t)
	folder := t.TempDir()
	authority := testkit.NewAuthority(t)
	b, _ := secured(t, authority, folder, "--https", "127.0.0.1:0", "--servicebus-config", sampleConfig, "--servicebus-emulator")
	_, port, err := net.SplitHostPort(b.log.address("HTTP listener with TLS started"))
	if err != nil {
		t.Fatal(err)
	}
	f.env = []string{"NODE_EXTRA_CA_CERTS=" + filepath.Join(folder, "ca")}
	f.do(t, "node/servicebus.js", port, "wss")
}

// Debian's client for Python supports ports other than 5671 over WebSocket only, and TLS only. It logs in with MSSBCBS and uses
// URLs as addresses.
func TestAzureClient_Python(t *testing.T) {
	t.Parallel()
	f := foreign{name: "azure-servicebus", where: "Debian's python3-azure", probe: []string{python, "-c", "import azure.servicebus"}, run: []string{python, "-B"}}
	f.want(t)
	folder := t.TempDir()
	b, _ := secured(t, testkit.NewAuthority(t), folder, "--https", "127.0.0.1:0", "--servicebus-config", sampleConfig, "--servicebus-emulator")
	_, port, err := net.SplitHostPort(b.log.address("HTTP listener with TLS started"))
	if err != nil {
		t.Fatal(err)
	}
	f.do(t, "azure/servicebus.py", port, filepath.Join(folder, "ca"))
}

// TestAzureClient_Python_CLK5: Azure's client for Python works while the broker's clock is moved.
func TestAzureClient_Python_CLK5(t *testing.T) {
	t.Parallel()
	f := foreign{name: "azure-servicebus", where: "Debian's python3-azure", probe: []string{python, "-c", "import azure.servicebus"}, run: []string{python, "-B"}}
	f.want(t)
	folder := t.TempDir()
	b, _ := secured(t, testkit.NewAuthority(t), folder, "--https", "127.0.0.1:0", "--servicebus-config", sampleConfig, "--servicebus-emulator", "--test-clock")
	_, port, err := net.SplitHostPort(b.log.address("HTTP listener with TLS started"))
	if err != nil {
		t.Fatal(err)
	}
	f.do(t, "azure/testclock.py", port, filepath.Join(folder, "ca"))
}
