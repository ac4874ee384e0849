package integration

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"candlemark/internal/admin/httpapi/websocket"

	library "github.com/coder/websocket"
	amqp "github.com/rabbitmq/amqp091-go"
)

// asks sends a request with these headers, "Name: value", where Host is the name in the address, and returns status and body.
func asks(t *testing.T, address, method, path string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const (
	asGuest = "Authorization: Basic Z3Vlc3Q6Z3Vlc3Q="
	asAda   = "Authorization: Basic YWRhOmFkYQ=="
)

// A page whose name was made to resolve to this machine reaches no port of the broker, and what it can hide as a request of
// another client does not count as one from this machine. Neither does a request that a proxy on this machine passes on.
func TestHostsAndProxies_ACC6_ACC7(t *testing.T) {
	t.Parallel()
	b := start(t, "--metrics", "127.0.0.1:0", "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator", "--http-allowed-hosts", "mq.example,*.mq.example")
	b.http = b.listener("http")
	b.request("PUT", "/api/users/ada", `{"password":"ada","tags":"administrator"}`, 201)
	metrics := b.listener("http/prometheus")
	administration, token := b.log.address("Service Bus listener started"), "Authorization: SharedAccessSignature any"
	const evil, page, hidden = "Host: evil.example:15672", "Accept-Language: en", "User-Agent: curl"
	for _, c := range []struct {
		address, method, path string
		headers               []string
		want                  int
	}{
		{b.http, "GET", "/", []string{page}, 200},
		{b.http, "GET", "/", []string{page, evil}, 403},
		{b.http, "GET", "/api/openapi.yaml", []string{page, evil}, 403},
		{b.http, "GET", "/healthz", []string{hidden, "Host: broker.svc.cluster.local"}, 200},
		{b.http, "GET", "/api/overview", []string{asGuest, hidden}, 200},
		{b.http, "GET", "/api/overview", []string{asGuest, hidden, evil}, 401}, // guest is not on this machine
		{b.http, "GET", "/api/overview", []string{asAda, hidden, evil}, 200},
		{b.http, "GET", "/api/overview", []string{asAda, page, evil}, 403},
		{b.http, "GET", "/api/overview", []string{asGuest, page, "Host: mq.example"}, 200},
		{b.http, "GET", "/api/overview", []string{asGuest, page, "Host: a.mq.example:1"}, 200},
		{b.http, "PUT", "/api/vhosts/rebound", []string{asGuest, evil, "Origin: http://evil.example:15672", "Sec-Fetch-Site: same-origin"}, 403},
		{b.http, "PUT", "/api/vhosts/rebound", []string{asAda, evil, "Origin: http://evil.example:15672"}, 403},
		{b.http, "POST", "/api/login", []string{evil, "Origin: http://evil.example:15672"}, 403},
		{b.http, "POST", "/api/x/session", []string{evil, "Origin: http://evil.example:15672", "X-Candlemark-Session: 1"}, 403},
		{b.http, "GET", "/api/overview", []string{asGuest, "X-Forwarded-For: 192.0.2.1"}, 401},
		{b.http, "GET", "/api/overview", []string{asGuest, "Forwarded: for=192.0.2.1"}, 401},
		{b.http, "GET", "/api/overview", []string{asAda, "X-Forwarded-For: 192.0.2.1"}, 200},
		{metrics, "GET", "/metrics", []string{hidden, "Host: broker:15692"}, 200},
		{metrics, "GET", "/metrics", []string{page, evil}, 403},
		{metrics, "GET", "/metrics", []string{page}, 200},
		{administration, "GET", "/$Resources/queues", []string{token, hidden}, 200},
		{administration, "GET", "/$Resources/queues", []string{token, hidden, evil}, 401},
		{administration, "GET", "/$Resources/queues", []string{token, page, evil}, 403},
		{administration, "GET", "/$Resources/queues", []string{token, "X-Forwarded-For: 192.0.2.1"}, 401},
		{administration, "GET", "/$Resources/queues", []string{token, "Origin: http://other.example"}, 403},
	} {
		if status, text := asks(t, c.address, c.method, c.path, c.headers...); status != c.want {
			t.Errorf("%s %s %q: %d %.200s, want %d", c.method, c.path, c.headers, status, text, c.want)
		}
	}
	b.checkWebSockets(map[string]bool{"": true, "X-Forwarded-For: 192.0.2.1": false, "Via: 1.1 proxy": false})
	proxied := start(t, "--http-behind-proxy")
	if status, text := asks(t, proxied.http, "GET", "/api/overview", asGuest); status != 401 || !strings.Contains(text, "localhost") {
		t.Errorf("%d %s", status, text)
	}
	proxied.checkWebSockets(map[string]bool{"": false})
}

// listener returns the address of a listener of HTTP, as the log names it.
func (b *broker) listener(name string) string {
	b.Helper()
	for line := range strings.Lines(b.log.String()) {
		var one struct{ Address, Listener string }
		if json.Unmarshal([]byte(line), &one) == nil && one.Listener == name {
			return one.Address
		}
	}
	b.Fatal("there is no listener ", name)
	return ""
}

// checkWebSockets checks whether guest can log in with AMQP over WebSocket, for requests with a header.
func (b *broker) checkWebSockets(logins map[string]bool) {
	b.Helper()
	for header, want := range logins {
		name, value, _ := strings.Cut(header, ": ")
		headers := http.Header{}
		if name != "" {
			headers.Set(name, value)
		}
		conn, err := amqp.DialConfig("amqp://"+b.http, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Dial: func(string, string) (net.Conn, error) {
			socket, _, err := library.Dial(b.Context(), "ws://"+b.http+websocket.Path, &library.DialOptions{Subprotocols: []string{"amqp"}, HTTPHeader: headers})
			if err != nil {
				return nil, err
			}
			return library.NetConn(b.Context(), socket, library.MessageBinary), nil
		}})
		if (err == nil) != want {
			b.Errorf("WebSocket with %q: %v", header, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
