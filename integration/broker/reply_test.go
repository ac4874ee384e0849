package broker

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

const replyName = "amq.rabbitmq.reply-to"

// requester returns a channel with a consumer of direct replies.
func requester(c *testkit.Client) (*testkit.Channel, <-chan amqp.Delivery) {
	ch := c.Open()
	return ch, ch.Tail(replyName)
}

func request(body string) amqp.Publishing {
	return amqp.Publishing{Body: []byte(body), ReplyTo: replyName, CorrelationId: "id of " + body}
}

// Several requesters, on one connection and on others, call one server; each gets the replies to its own calls, in order.
func TestReplyTo_RPC(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		server := b.Connect().Open()
		server.Declare("rpc", nil)
		calls := server.Tail("rpc")
		go func() {
			for d := range calls {
				server.Send("", d.ReplyTo, amqp.Publishing{Body: []byte("answer to " + string(d.Body)), CorrelationId: d.CorrelationId})
			}
		}()
		one, two := b.Connect(), b.Connect()
		type client struct {
			*testkit.Channel
			answers <-chan amqp.Delivery
		}
		var clients []client
		for _, c := range []*testkit.Client{one, one, one, two} {
			ch, answers := requester(c)
			clients = append(clients, client{ch, answers})
		}
		for call := range 20 {
			for i, c := range clients {
				c.Send("", "rpc", request(fmt.Sprintf("%d/%d", i, call)))
			}
		}
		names := map[string]bool{}
		for i, c := range clients {
			for call := range 20 {
				d := testkit.Receive(b, c.answers)
				body := fmt.Sprintf("%d/%d", i, call)
				if string(d.Body) != "answer to "+body || d.CorrelationId != "id of "+body || d.Exchange != "" || d.Redelivered ||
					!strings.HasPrefix(d.RoutingKey, replyName+".") {
					t.Fatalf("%+v, want the answer to %s", d, body)
				}
				names[d.RoutingKey] = true
			}
			testkit.Silent(b, c.answers, time.Second)
		}
		if len(names) != len(clients) {
			t.Errorf("%d names for %d requesters", len(names), len(clients))
		}
	})
}

// A server can query whether its client still exists, and is also told by the return of a mandatory reply.
func TestReplyTo_GoneClient(t *testing.T) {
	for how, leave := range map[string]func(c *testkit.Client, ch *testkit.Channel){
		"channel.close":    func(_ *testkit.Client, ch *testkit.Channel) { _ = ch.Close() },
		"connection.close": func(c *testkit.Client, _ *testkit.Channel) { c.Leave() },
		"a cut":            func(c *testkit.Client, _ *testkit.Channel) { c.Cut() },
		"a second consumer": func(_ *testkit.Client, ch *testkit.Channel) {
			_, err := ch.Consume(replyName, "", true, false, false, false, nil)
			if e, ok := err.(*amqp.Error); !ok || e.Code != 406 || e.Reason != "PRECONDITION_FAILED - reply consumer already set" {
				t.Error(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				b.Log.Allow("client unexpectedly closed", "channel closed by the broker")
				server := b.Connect().Open()
				server.Declare("rpc", nil)
				server.Confirms()
				c := b.Connect()
				ch, answers := requester(c)
				ch.Send("", "rpc", request("call"))
				b.Advance(0)
				name := server.Fetch("rpc").ReplyTo
				if q, err := server.QueueDeclarePassive(name, false, false, false, false, nil); err != nil || q.Consumers != 1 || q.Messages != 0 {
					t.Errorf("%+v %v", q, err)
				}
				if !server.Await(server.Begin("", name, true, testkit.Text("answer"))) || string(testkit.Receive(b, answers).Body) != "answer" {
					t.Error("no answer")
				}
				leave(c, ch)
				b.Advance(time.Second)
				if !server.Publish("", name, testkit.Text("too late")) || !server.Await(server.Begin("", name, true, testkit.Text("returned"))) {
					t.Error("not confirmed")
				}
				if r := testkit.Receive(b, server.Returns); string(r.Body) != "returned" || r.ReplyCode != 312 {
					t.Errorf("%+v", r)
				}
				_, err := server.QueueDeclarePassive(name, false, false, false, false, nil)
				if e, ok := err.(*amqp.Error); !ok || e.Code != 404 || e.Reason != "NOT_FOUND - no queue '"+name+"' in vhost '/'" {
					t.Error(err)
				}
			})
		})
	}
}

// stallableSocket is a client's socket on which the client can stop reading.
type stallableSocket struct {
	net.Conn
	stalled atomic.Bool
	end     chan struct{}
}

func (s *stallableSocket) Read(b []byte) (int, error) {
	if s.stalled.Load() {
		<-s.end
		return 0, io.EOF
	}
	return s.Conn.Read(b)
}

// A client that does not read its replies delays no other client, and has a limited number of replies kept for it.
func TestReplyTo_StalledClient(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("client unexpectedly closed")
		ours, theirs := net.Pipe()
		b.Node.Connect(ours)
		socket := &stallableSocket{Conn: theirs, end: make(chan struct{})}
		conn, err := amqp.Open(socket, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/"})
		if err != nil {
			t.Fatal(err)
		}
		server := b.Connect().Open()
		server.Declare("rpc", nil)
		ch, err := conn.Channel()
		if err == nil {
			_, err = ch.Consume(replyName, "", true, false, false, false, nil)
		}
		if err == nil {
			err = ch.PublishWithContext(context.Background(), "", "rpc", false, false, request("call"))
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Advance(0)
		name := server.Fetch("rpc").ReplyTo
		server.Confirms()
		socket.stalled.Store(true)
		refused := 0
		for range 40 {
			if !server.Publish("", name, amqp.Publishing{Body: make([]byte, 1<<20)}) {
				refused++
			}
		}
		if refused < 20 || refused > 26 { // messages in the socket count as read
			t.Errorf("%d of 40 replies of 1 MiB were refused", refused)
		}
		close(socket.end)
		_ = theirs.Close()
		b.Advance(time.Second)
	})
}

// Answers of the broker's own administration arrive in the same way.
func TestReplyTo_Administration(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch, answers := requester(b.Connect())
		ch.Send("candlemark.admin", "policy.list", amqp.Publishing{Body: []byte(`{}`), ReplyTo: replyName, CorrelationId: "1"})
		if d := testkit.Receive(b, answers); d.CorrelationId != "1" || len(d.Body) == 0 {
			t.Errorf("%+v", d)
		}
	})
}
