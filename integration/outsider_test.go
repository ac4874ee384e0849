package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/httpapi/websocket"

	amqp10 "github.com/Azure/go-amqp"
	library "github.com/coder/websocket"
	amqp "github.com/rabbitmq/amqp091-go"
)

// outsider tries what it may not do at the ports of a broker, and notes how that ends.
type outsider struct {
	*testing.T
	b         *broker
	authority *testkit.Authority
	hosts     []string          // of this machine, the first one is a loopback one
	ports     map[string]string // by way of logging in
	attempts  sync.WaitGroup

	mu  sync.Mutex
	saw []string
}

// loginWays are the ways of logging in.
var loginWays = []string{"amqp", "amqps", "amqp 1.0", "websocket", "http", "https"}

// ownPort matches what differs from run to run.
var ownPort = regexp.MustCompile(`:\d{4,5}\b`)

// note notes the end of an attempt.
func (o *outsider) note(what string, end any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.saw = append(o.saw, what+": "+ownPort.ReplaceAllString(fmt.Sprint(end), ":port"))
}

// login is one attempt to log in.
type login struct {
	way, user, password string
	from, host          string // "" for the loopback address
	vhost               string // "" for /
	own                 []tls.Certificate
	headers             http.Header
}

// reach connects for a login, and starts TLS if the way has it.
func (o *outsider) reach(ctx context.Context, l login) (net.Conn, error) {
	d := net.Dialer{Timeout: patience}
	if l.from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(l.from)}
	}
	host := l.host
	if host == "" {
		host = "127.0.0.1"
	}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, o.ports[l.way]))
	if err == nil && (l.way == "amqps" || l.way == "https") {
		conn = tls.Client(conn, &tls.Config{RootCAs: o.authority.Roots(), ServerName: "127.0.0.1", Certificates: l.own})
	}
	return conn, err
}

// try logs in, and returns what ends the connection. Requests of HTTP end with status and body.
func (o *outsider) try(l login) (end func(), _ error) {
	ctx, cancel := context.WithTimeout(o.Context(), patience)
	defer cancel()
	sasl := []amqp.Authentication{&amqp.PlainAuth{Username: l.user, Password: l.password}}
	if l.user == "" {
		sasl = []amqp.Authentication{&amqp.ExternalAuth{}}
	}
	vhost := l.vhost
	if vhost == "" {
		vhost = "/"
	}
	through := &http.Transport{DisableKeepAlives: true}
	through.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return o.reach(ctx, l) }
	through.DialTLSContext = through.DialContext
	switch l.way {
	case "http", "https":
		return func() {}, o.request(ctx, l, through)
	case "amqp 1.0":
		conn, err := o.reach(ctx, l)
		if err != nil {
			return nil, err
		}
		opts := &amqp10.ConnOptions{HostName: "vhost:" + vhost}
		if l.user != "" {
			opts.SASLType = amqp10.SASLTypePlain(l.user, l.password)
		}
		opened, err := amqp10.NewConn(ctx, conn, opts)
		if err == nil {
			_, err = opened.NewSession(ctx, nil) // a refused client is told after it was opened
		}
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		return func() { _ = opened.Close() }, nil
	}
	conn, err := o.reach(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.way == "websocket" {
		_ = conn.Close()
		socket, _, err := library.Dial(ctx, "ws://localhost"+websocket.Path, &library.DialOptions{Subprotocols: []string{"amqp"}, HTTPHeader: l.headers, HTTPClient: &http.Client{Transport: through}})
		if err != nil {
			return nil, err
		}
		conn = library.NetConn(o.Context(), socket, library.MessageBinary)
	}
	opened, err := amqp.Open(conn, amqp.Config{SASL: sasl, Vhost: vhost, Heartbeat: time.Minute})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func() { _ = opened.Close() }, nil
}

// request sends one request of HTTP.
func (o *outsider) request(ctx context.Context, l login, through *http.Transport) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.way+"://localhost/api/whoami", nil)
	if err != nil {
		return err
	}
	if l.headers != nil {
		r.Header = l.headers
	}
	r.SetBasicAuth(l.user, l.password)
	answer, err := (&http.Client{Transport: through}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", answer.StatusCode, text)
	}
	return err
}

// logs notes how an attempt ends, which may be later.
func (o *outsider) logs(what string, l login) {
	o.attempts.Go(func() {
		end, err := o.try(l)
		if err == nil {
			end()
		}
		o.note(fmt.Sprintf("%s by %s", what, l.way), err)
	})
}

// logins are attempts with the wrong address, password, certificate or virtual host.
func (o *outsider) logins() {
	for _, way := range loginWays {
		for i, host := range o.hosts {
			o.logs(fmt.Sprint("guest at address ", i), login{way: way, user: "guest", password: "guest", host: host})
			o.logs(fmt.Sprint("app at address ", i), login{way: way, user: "app", password: "app", host: host})
		}
		o.logs("wrong password", login{way: way, user: "app", password: "wrong"})
		o.logs("blank password", login{way: way, user: "app"})
		o.logs("unknown user", login{way: way, user: "nobody", password: "app"})
		o.logs("another virtual host", login{way: way, user: "app", password: "app", vhost: "closed"})
		o.logs("no virtual host", login{way: way, user: "app", password: "app", vhost: "missing"})
	}
	for _, way := range []string{"http", "websocket"} {
		for _, header := range []string{"X-Forwarded-For: 192.0.2.1", "Forwarded: for=127.0.0.1", "Origin: http://evil.example"} {
			name, value, _ := strings.Cut(header, ": ")
			o.logs("guest with "+header, login{way: way, user: "guest", password: "guest", headers: http.Header{name: {value}}})
		}
	}
	for i, host := range o.hosts {
		o.logs(fmt.Sprint("without SASL at address ", i), login{way: "amqp 1.0", host: host})
	}
	for what, own := range map[string][]tls.Certificate{
		"no certificate": nil, "certificate of app": {o.authority.Issue(pkix.Name{CommonName: "app"})}, "certificate of nobody": {o.authority.Issue(pkix.Name{CommonName: "nobody"})},
		"certificate of guest": {o.authority.Issue(pkix.Name{CommonName: "guest"})},
	} {
		for i, host := range o.hosts {
			o.logs(fmt.Sprint(what, " at address ", i), login{way: "amqps", own: own, host: host})
		}
	}
	stranger, err := o.try(login{way: "amqps", own: []tls.Certificate{testkit.NewAuthority(o.T).Issue(pkix.Name{CommonName: "app"})}})
	o.note("certificate of another authority", []bool{stranger == nil, err != nil}) // the error depends on which end notices first
}

// bytes are beginnings that no client of the port sends, and the answers up to the end of the connection.
func (o *outsider) bytes() {
	for way, all := range map[string]map[string]string{
		"amqp": {
			"PROXY 1": "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nAMQP\x00\x00\x09\x01", "PROXY 2": "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x01\x00\x02AMQP\x00\x00\x09\x01",
			"HTTP": "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		},
		"amqps": {"no TLS": "AMQP\x00\x00\x09\x01"},
	} {
		for what, say := range all {
			for i, host := range o.hosts {
				conn, err := net.Dial("tcp", net.JoinHostPort(host, o.ports[way]))
				if err != nil {
					o.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(conn, say)
				answer, err := io.ReadAll(conn)
				if errors.Is(err, context.DeadlineExceeded) {
					o.Error(what, err)
				}
				_ = conn.Close()
				o.note(fmt.Sprintf("%s at address %d by %s", what, i, way), hex.EncodeToString(answer))
			}
		}
	}
}

// permissions are operations of a user that may only use what is its own.
func (o *outsider) permissions() {
	for what, do := range map[string]func(*amqp.Channel) error{
		"declare": func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("other", true, false, false, false, nil)
			return err
		},
		"declare own": func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("mine", true, false, false, false, nil)
			return err
		},
		"declare exchange": func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare("other", "fanout", true, false, false, false, nil)
		},
		"bind":   func(ch *amqp.Channel) error { return ch.QueueBind("theirs", "", "amq.topic", false, nil) },
		"delete": func(ch *amqp.Channel) error { _, err := ch.QueueDelete("theirs", false, false, false); return err },
		"purge":  func(ch *amqp.Channel) error { _, err := ch.QueuePurge("theirs", false); return err },
		"consume": func(ch *amqp.Channel) error {
			_, err := ch.Consume("theirs", "", true, false, false, false, nil)
			return err
		},
		"get": func(ch *amqp.Channel) error { _, _, err := ch.Get("theirs", true); return err },
		"publish": func(ch *amqp.Channel) error {
			closed := ch.NotifyClose(make(chan *amqp.Error, 1))
			if err := ch.Publish("amq.topic", "", false, false, amqp.Publishing{}); err != nil {
				return err
			}
			return <-closed
		},
	} {
		conn, err := amqp.DialConfig("amqp://app:app@127.0.0.1:"+o.ports["amqp"]+"/", amqp.Config{Vhost: "/"})
		if err != nil {
			o.Fatal(err)
		}
		ch, err := conn.Channel()
		if err != nil {
			o.Fatal(err)
		}
		o.note(what, do(ch))
		_ = conn.Close()
	}
	for _, request := range []string{"PUT /api/queues/%2F/other", "GET /api/users", "DELETE /api/queues/%2F/theirs", "PUT /api/x/cluster/drained/rabbit@n1", "GET /api/definitions"} {
		method, path, _ := strings.Cut(request, " ")
		status, text := o.b.askAs("app", method, path, "{}")
		o.note(request, fmt.Sprintf("%d %s", status, text))
	}
}

// limits makes more connections than a user and a virtual host may have, through all nodes together.
func (o *outsider) limits() {
	first := login{way: "amqp", user: "counted", password: "counted"}
	end, err := o.try(first)
	if err != nil {
		o.Fatal(err)
	}
	for _, way := range loginWays[:4] {
		o.logs("above the limit of the user", login{way: way, user: "counted", password: "counted"})
		o.logs("above the limit of the virtual host", login{way: way, user: "app", password: "app", vhost: "full"})
	}
	o.attempts.Wait()
	end()
	eventually(o.T, "there is room again", func() bool {
		end, err := o.try(first)
		if err == nil {
			end()
		}
		return err == nil
	})
}

// guesses are of passwords, from several addresses.
func (o *outsider) guesses() {
	from := func(n int) string {
		if runtime.GOOS != "linux" { // which has all of 127.0.0.0/8
			return ""
		}
		return fmt.Sprint("127.0.0.", n)
	}
	var all sync.WaitGroup
	var ignored atomic.Int32
	began := time.Now()
	for range 80 {
		all.Go(func() {
			if _, err := o.try(login{way: "http", user: "app", password: "wrong", from: from(2)}); err != nil && strings.HasPrefix(err.Error(), "429 ") {
				ignored.Add(1)
			}
		})
	}
	for _, way := range loginWays[:5] { // another address does not wait
		o.logs("another address", login{way: way, user: "app", password: "app", from: from(3)})
	}
	all.Wait()
	o.attempts.Wait()
	o.note("guesses from one address are not looked at", 80-ignored.Load() <= checked(time.Since(began)))
	if runtime.GOOS == "linux" {
		eventually(o.T, "the address of the guesses is in the log", func() bool { return strings.Contains(o.b.log.String(), `"source":"127.0.0.2/32"`) })
		o.note("of another address", strings.Contains(o.b.log.String(), `"source":"127.0.0.3/32"`))
	}
}

// attack makes all attempts on a broker, and returns how they end, in order.
func (o *outsider) attack() []string {
	o.logins()
	o.attempts.Wait()
	o.bytes()
	o.permissions()
	o.limits()
	o.guesses()
	slices.Sort(o.saw)
	return o.saw
}

// outsiderOf prepares a broker that start has started, with listeners on all addresses.
func outsiderOf(t *testing.T, a *testkit.Authority, start func(flags ...string) *broker) *outsider {
	cert, key, ca := a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "broker"}))
	const all = "0.0.0.0:0"
	b := start("--amqp", all, "--amqps", all, "--http", all, "--https", all, "--tls-cert", cert, "--tls-key", key, "--tls-ca", ca, "--tls-verify-peer", "--tls-login-from", "common_name")
	port := func(listener string) string {
		_, port, err := net.SplitHostPort(b.log.address(listener))
		if err != nil {
			t.Fatal(listener, err)
		}
		return port
	}
	web := port("HTTP listener started")
	o := &outsider{T: t, b: b, authority: a, hosts: []string{"127.0.0.1"}, ports: map[string]string{
		"amqp": port("AMQP listener started"), "amqp 1.0": port("AMQP listener started"), "amqps": port("AMQP listener with TLS started"),
		"http": web, "websocket": web, "https": port("HTTP listener with TLS started"),
	}}
	b.http = "127.0.0.1:" + web
	if host := elsewhere(t); host != "" {
		o.hosts = append(o.hosts, host)
	}
	for _, name := range []string{"app", "counted"} {
		b.put("/api/users/"+name, fmt.Sprintf(`{"password":"%s","tags":"management"}`, name))
		b.put("/api/permissions/%2F/"+name, `{"configure":"^mine","write":"^mine","read":"^mine"}`)
	}
	b.put("/api/vhosts/closed", `{}`)
	b.put("/api/vhosts/full", `{}`)
	b.put("/api/permissions/full/app", `{"configure":"","write":"","read":""}`)
	b.put("/api/vhost-limits/full/max-connections", `{"value":0}`)
	b.put("/api/user-limits/counted/max-connections", `{"value":1}`)
	b.put("/api/queues/%2F/theirs", `{"durable":true}`)
	return o
}

// TestThroughFollower_Outsiders_CLU20: what a client may not do ends at a node that does not lead as it ends on a broker alone.
func TestThroughFollower_Outsiders_CLU20(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	var alone, follower []string
	t.Run("attacks", func(t *testing.T) {
		t.Run("alone", func(t *testing.T) {
			t.Parallel()
			alone = outsiderOf(t, a, func(flags ...string) *broker { return startAlone(t, "", t.TempDir(), flags...) }).attack()
		})
		t.Run("follower", func(t *testing.T) {
			t.Parallel()
			follower = outsiderOf(t, a, func(flags ...string) *broker { return start(t, flags...) }).attack()
		})
	})
	if len(alone) != len(follower) {
		t.Fatalf("%d attempts, %d through a follower", len(alone), len(follower))
	}
	for i, one := range alone {
		if follower[i] != one {
			t.Errorf("alone %s\nthrough a follower %s", one, follower[i])
		}
	}
	if all := strings.Join(alone, "\n"); strings.Count(all, "<nil>") == 0 || strings.Count(all, "<nil>") == len(alone) {
		t.Errorf("attempts end alike: %s", all)
	}
}
