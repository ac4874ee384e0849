package integration

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// secret is in the place of every secret of TestSecretsAreNotRecorded_ACC11.
const secret = "S3cr3tM4rk"

// secretAddresses are addresses with a secret, also such as no broker has.
var secretAddresses = []string{
	"amqp://u:%s@127.0.0.1:1/v", "amqps://u:p@127.0.0.1:1/v?password=%s", "amqp://u@127.0.0.1:1?heartbeat=x&token=%s", "amqp://u:%s@127.0.0.1:x", "amqp:/u:%s@127.0.0.1:1",
	"u:%s@127.0.0.1:1", "http://u:%s@127.0.0.1:1/", "amqp://u:%s@127.0.0.1:1/a/b", "amqp://u:a/%s@127.0.0.1:1", "amqp://u:a?%s@127.0.0.1:1", "amqp://127.0.0.1:1?sas=%s", "amqps://127.0.0.1:1?certfile=/c&key=%s", "amqp://%%zz:%s@127.0.0.1:1", "amqp://u:a %s@127.0.0.1:1",
	`amqp://u:a\"%s@127.0.0.1:1`, "sb://h/;SharedAccessKeyName=n;SharedAccessKey=%s",
}

// secretPuts returns bodies of requests with secrets, by path. The broker takes some and refuses others.
func secretPuts() (all [][2]string) {
	for i, address := range secretAddresses {
		address = fmt.Sprintf(address, secret)
		for _, v := range []string{`"` + address + `"`, `["amqp://",["` + address + `"]]`, `["` + address + `"]`} {
			all = append(all,
				[2]string{fmt.Sprint("/api/parameters/shovel/%2F/s", i), `{"value":{"src-uri":` + v + `,"src-queue":"a","dest-uri":"amqp://","dest-queue":"b","reconnect-delay":1}}`},
				[2]string{fmt.Sprint("/api/parameters/federation-upstream/%2F/u", i), `{"value":{"uri":` + v + `}}`},
				[2]string{"/api/parameters/federation-upstream-set/%2F/s", `{"value":[{"upstream":"u","uri":` + v + `}]}`})
		}
	}
	hidden := `"` + secret + `"`
	for _, v := range []string{hidden, `{"a":` + hidden + `}`, `[` + hidden + `]`, `{"url":"amqp://u:` + secret + `@h"}`} {
		all = append(all, [2]string{"/api/global-parameters/g", `{"value":` + v + `}`})
	}
	shovel := `{"value":{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp://","dest-queue":"b",%s}}`
	for _, more := range []string{`"password":` + hidden, `"src-queue-args":{"api-key":` + hidden + `}`, `"dest-publish-properties":{"headers":{"authorization":` + hidden + `}}`} {
		all = append(all, [2]string{"/api/parameters/shovel/%2F/more", fmt.Sprintf(shovel, more)})
	}
	schedule := `{"every":"1h","queue":"q","body":` + hidden + `,"headers":{"a":` + hidden + `},"properties":{"app_id":` + hidden + `}}`
	return append(all,
		[2]string{"/api/x/schedules/%2F/one", schedule},
		[2]string{"/api/parameters/schedule/%2F/two", `{"value":` + schedule + `}`},
		[2]string{"/api/users/ann", `{"password":` + hidden + `,"tags":""}`},
		[2]string{"/api/users/ann", `{"password":` + hidden + `,"tags":"x","hashing_algorithm":"none"}`},
		[2]string{"/api/users/ann", `{"password_hash":` + hidden + `,"tags":"x"}`},
		[2]string{"/api/queues/%2F/q?password=" + secret, `{"arguments":{"password":` + hidden + `,"from":"amqp://u:` + secret + `@h"}}`},
		[2]string{"/api/queues/%2F/q2?token=" + secret, `{"arguments":{"x-queue-type":"amqp://u:` + secret + `@h"}}`})
}

// leaks is a broker whose outputs must not have the secret.
type leaks struct {
	*broker
	c      *client
	stream *bufio.Scanner
}

// leaksOf returns the broker with readers of all its events.
func leaksOf(b *broker) *leaks {
	b.Helper()
	l := &leaks{broker: b, c: b.dial()}
	l.c.must(l.c.QueueBind(l.c.queue("copies", nil), "#", "amq.rabbitmq.event", false, nil))
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+b.http+"/api/x/events", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = answer.Body.Close() })
	l.stream = bufio.NewScanner(answer.Body)
	l.stream.Buffer(nil, 1<<20)
	return l
}

// check reports the secret in a text.
func (l *leaks) check(what, text string) {
	l.Helper()
	if at := strings.Index(text, secret); at >= 0 {
		l.Errorf("%s: %s", what, text[max(0, at-150):min(len(text), at+50)])
	}
}

// puts makes all requests with secrets, and imports what they put.
func (l *leaks) puts() {
	l.Helper()
	taken := 0
	var imports []string
	for _, put := range secretPuts() {
		status, answer := l.ask("PUT", put[0], put[1])
		if l.check(fmt.Sprint(put[0], " ", put[1], ": ", status), string(answer)); status/100 == 2 {
			taken++
		}
		if strings.Contains(put[1], `["amqp://",`) { // requests with a text and a list are enough
			continue
		}
		parts := strings.Split(put[0], "/") // /api/parameters/COMPONENT/VHOST/NAME
		switch value := strings.TrimPrefix(put[1], `{`); parts[2] {
		case "parameters":
			imports = append(imports, `{"parameters":[{"component":"`+parts[3]+`","vhost":"/","name":"`+parts[5]+`",`+value+`]}`)
		case "global-parameters":
			imports = append(imports, `{"global_parameters":[{"name":"g",`+value+`]}`)
		case "users":
			imports = append(imports, `{"users":[{"name":"bob",`+value+`]}`)
		}
	}
	if taken < 12 {
		l.Errorf("%d requests were successful", taken)
	}
	if text := l.request("GET", "/api/definitions", "", 200); !strings.Contains(text, secret) {
		l.Error("exported definitions have no secrets")
	}
	for _, text := range imports {
		_, answer := l.ask("POST", "/api/definitions", text)
		l.check(text, string(answer))
	}
	l.request("DELETE", "/api/global-parameters/g", "", 204)
	l.request("DELETE", "/api/users/ann", "", 204)
}

// shown reads what users read, the events up to a new virtual host, and the log.
func (l *leaks) shown() {
	l.Helper()
	for _, path := range []string{"/api/x/log", "/api/x/settings", "/api/shovels", "/api/shovels/%2F/s0", "/api/overview", "/api/queues/%2F/copies"} {
		_, text := l.ask("GET", path, "")
		l.check(path, string(text))
	}
	l.request("PUT", "/api/vhosts/last", "{}", 201)
	for l.stream.Scan() {
		if l.check("event", l.stream.Text()); strings.Contains(l.stream.Text(), `"name":"last"`) {
			break
		}
	}
	eventually(l.T, "the event of the virtual host", func() bool {
		for {
			d, found, err := l.c.Get("copies", true)
			if l.c.must(err); !found {
				return false
			}
			l.check("amq.rabbitmq.event", fmt.Sprintf("%s %v %q", d.RoutingKey, d.Headers, d.Body))
			if d.RoutingKey == "vhost.created" && d.Headers["name"] == "last" {
				return true
			}
		}
	})
	text := l.log.String()
	l.check("log", text)
	if !strings.Contains(text, `"event":"parameter.set"`) || !strings.Contains(text, "shovel terminated") {
		l.Error("the log is incomplete")
	}
}

// No secret is in the log, in events or in the texts that their readers get, in any way that it enters the broker,
// refused or not (ACC-11); exported definitions have secrets.
func TestSecretsAreNotRecorded_ACC11(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l := leaksOf(startIn(t, filepath.Join(folder, "data"), "--log-level", "debug", "--events-vhost", "/"))
	l.puts()
	l.failsToLogIn()
	for i, file := range []string{"management.ssl.password = ", "ssl_options.password = ", "default_pass.x = "} { // no broker starts with them
		name := filepath.Join(folder, fmt.Sprint(i, ".conf"))
		if err := os.WriteFile(name, []byte(file+secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out := l.exit("config", "check", "--config", name)
		if l.check(file, out); code == 0 {
			t.Errorf("%s is accepted", file)
		}
	}
	l.shown()
}

// failsToLogIn tries logins with secrets, which the broker refuses.
func (b *broker) failsToLogIn() {
	b.Helper()
	for _, login := range []string{"ann:x" + secret, "nobody:" + secret} {
		r, err := http.NewRequestWithContext(b.Context(), "GET", "http://"+b.http+"/api/whoami?token="+secret, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusUnauthorized {
			b.Errorf("%s: %s", login, answer.Status)
		}
		conn, err := amqp.DialConfig("amqp://"+b.amqp, amqp.Config{
			SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: strings.Split(login, ":")[0], Password: secret + "x"}},
			Properties: amqp.Table{"password": secret, "information": "amqp://u:" + secret + "@h"},
		})
		if err == nil {
			_ = conn.Close()
			b.Error("a wrong password is accepted")
		}
	}
	conn, err := amqp.DialConfig("amqp://guest:guest@"+b.amqp, amqp.Config{Properties: amqp.Table{"password": secret, "information": "amqp://u:" + secret + "@h"}})
	if err != nil {
		b.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		b.Error(err)
	}
}
