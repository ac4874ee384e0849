package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// answersMargin is the memory in bytes that the broker may use for the answers of TestLargeAnswers_ACC12, of which one user's
// clients request more than five times as much.
const answersMargin = 250_000_000

// deaf sends a request as a user, and reads nothing of the answer until close is called.
func (b *broker) deaf(user, method, path, body string) (end func()) {
	b.Helper()
	conn, err := net.Dial("tcp", b.http)
	if err != nil {
		b.Fatal(err)
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	login := base64.StdEncoding.EncodeToString([]byte(user + ":" + user))
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nContent-Length: %d\r\n\r\n%s", method, path, login, len(body), body); err != nil {
		b.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

// Answers that the clients of a user do not read take no more memory than the share of the user, and keep nobody else from
// reading; lists in parts are whole.
func TestLargeAnswers_ACC12(t *testing.T) {
	t.Parallel()
	b := start(t, watermarkAt(400_000_000)...)
	c := b.dial()
	for _, name := range []string{"deaf", "other"} {
		b.request("PUT", "/api/users/"+name, `{"password":"`+name+`","tags":"management"}`, 201)
		b.request("PUT", "/api/permissions/%2F/"+name, `{"configure":".*","write":".*","read":".*"}`, 201)
	}
	c.queue("big", nil)
	for range 3000 {
		c.must(c.PublishWithContext(t.Context(), "", "big", false, false, amqp.Publishing{Body: []byte(strings.Repeat("x", 7000))}))
	}
	c.send("big", "last")
	const queues = 430
	for i := range queues - 1 {
		c.queue(fmt.Sprint("q", i), nil)
	}
	rest, most := b.memory(), b.watchMemory()
	const get = `{"count":1000000000,"ackmode":"ack_requeue_true","encoding":"base64"}`
	for range 40 {
		defer b.deaf("deaf", "POST", "/api/queues/%2F/big/get", get)()
	}
	for range 5 {
		status, text := b.askAs("other", "GET", "/api/queues", "")
		var list []struct{ Name string }
		if err := json.Unmarshal(text, &list); err != nil || status != 200 {
			t.Fatalf("%d %v", status, err)
		}
		names := map[string]bool{}
		for _, q := range list {
			names[q.Name] = true
		}
		if len(list) != queues || len(names) != queues {
			t.Errorf("%d queues, %d names", len(list), len(names))
		}
	}
	status, text := b.askAs("other", "POST", "/api/queues/%2F/big/get", strings.Replace(get, "1000000000", "1", 1))
	if status != 200 {
		t.Errorf("%d %s", status, text)
	}
	if used := most() - rest; used > answersMargin && !racing {
		t.Errorf("answers took %d MB", used/1e6)
	}
}
