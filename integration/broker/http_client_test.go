package broker

import (
	"net"
	"net/url"
	"runtime"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

type connection struct {
	Name, User, VHost, State, Protocol, Type string
	GivenName                                string `json:"user_provided_name"`
	Host                                     string
	PeerHost                                 string `json:"peer_host"`
	Port                                     int
	PeerPort                                 int `json:"peer_port"`
	Channels                                 int
	Properties                               map[string]any `json:"client_properties"`
	BytesIn                                  int            `json:"recv_oct"`
	BytesOut                                 int            `json:"send_oct"`
}

// lasting is a socket that stays open when the client closes it.
type lasting struct{ net.Conn }

// Close implements net.Conn.
func (lasting) Close() error { return nil }

// A closed connection is listed as closing while its socket is open.
func TestHTTPConnectionClosing(t *testing.T) {
	h := newHTTPBroker(t)
	var socket net.Conn
	c, err := amqp.DialConfig("amqp://guest:guest@"+h.at.String()+"/", amqp.Config{Dial: func(network, address string) (net.Conn, error) {
		var err error
		socket, err = net.Dial(network, address)
		return lasting{socket}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if list := get[[]connection](h.web, "/api/connections"); len(list) != 1 || list[0].State != "closing" {
		t.Errorf("%+v", list)
	}
	_ = socket.Close() // the client is done with it
	for len(get[[]connection](h.web, "/api/connections")) > 0 {
		runtime.Gosched()
	}
}

// A connection is listed from the moment at which its open is answered until its socket is closed.
func TestHTTPConnectionListed(t *testing.T) {
	h := newHTTPBroker(t)
	for range 50 {
		c := h.dial("mine")
		list := get[[]connection](h.web, "/api/connections")
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		local, peer := c.LocalAddr().String(), list[0]
		if peer.Name != local+" -> "+h.at.String() || peer.User != "guest" || peer.VHost != "/" || peer.GivenName != "mine" ||
			peer.State != "running" || peer.Protocol != "AMQP 0-9-1" || peer.Type != "network" || peer.Host != "127.0.0.1" ||
			peer.PeerHost != "127.0.0.1" || peer.Port == 0 || peer.PeerPort == 0 || peer.Properties["connection_name"] != "mine" ||
			peer.Channels != 0 || peer.BytesIn == 0 || peer.BytesOut == 0 {
			t.Fatalf("%+v", peer)
		}
		if _, err := c.Channel(); err != nil {
			t.Fatal(err)
		}
		one := get[connection](h.web, "/api/connections/"+url.PathEscape(peer.Name))
		if one.Channels != 1 {
			t.Fatalf("%+v", one)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for {
			list := get[[]connection](h.web, "/api/connections")
			if len(list) == 0 {
				break
			}
			if list[0].State != "closing" {
				t.Fatalf("still there: %+v", list)
			}
		}
	}
}

func TestHTTPCloseConnection(t *testing.T) {
	h := newHTTPBroker(t)
	for _, test := range []struct{ header, want string }{
		{"", "CONNECTION_FORCED - Closed via management plugin"},
		{"I want to 100%", "CONNECTION_FORCED - I want to 100%"},
	} {
		c := h.dial("victim")
		closed := c.NotifyClose(make(chan *amqp.Error, 1))
		path := "/api/connections/" + url.PathEscape(c.LocalAddr().String()+" -> "+h.at.String())
		if got := h.ask("", "DELETE", path, "", "X-Reason", test.header); got.Code != 204 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
		select {
		case err := <-closed:
			if err == nil || err.Code != 320 || err.Reason != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("not closed")
		}
		for h.ask("", "GET", path, "").Code == 200 { // the client closes its socket
			runtime.Gosched()
		}
		h.want(404, notThere, "GET", path, "")
		h.want(404, notThere, "DELETE", path, "")
	}
}

type channelState struct {
	Number      int
	Confirm     bool
	Prefetch    int `json:"prefetch_count"`
	Global      int `json:"global_prefetch_count"`
	Consumers   int `json:"consumer_count"`
	Unacked     int `json:"messages_unacknowledged"`
	Unconfirmed int `json:"messages_unconfirmed"`
	Stats       counted
}

type counted struct {
	Publish      int `json:"publish"`
	Confirm      int `json:"confirm"`
	Returned     int `json:"return_unroutable"`
	Dropped      int `json:"drop_unroutable"`
	Deliver      int `json:"deliver"`
	DeliverNoAck int `json:"deliver_no_ack"`
	DeliverGet   int `json:"deliver_get"`
	Get          int `json:"get"`
	GetNoAck     int `json:"get_no_ack"`
	GetEmpty     int `json:"get_empty"`
	Ack          int `json:"ack"`
	Redeliver    int `json:"redeliver"`
	PublishRate  struct {
		Rate float64 `json:"rate"`
	} `json:"publish_details"`
}

// Every message is counted at each place that it passes, and totals outlive their channels.
func TestHTTPCounts(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, c := bubbleWeb(b), b.Connect()
		ch := c.Open()
		ch.Confirms()
		ch.Declare("q", nil)
		stats := func(path string) counted {
			t.Helper()
			b.Advance(0)
			return get[struct {
				Stats counted `json:"message_stats"`
			}](w, path).Stats
		}
		stats("/api/queues/%2F/q")
		for _, key := range []string{"q", "q", "q", "q", "nowhere"} {
			ch.Publish("", key, testkit.Text("x"))
		}
		ch.Await(ch.Begin("", "nowhere", true, testkit.Text("x")))
		d, _, err := ch.Get("q", false)
		must(t, err)
		must(t, d.Nack(false, true))
		ch.Fetch("q") // with automatic acknowledgement; it is the requeued message
		deliveries := ch.Subscribe("q", 2)
		first := testkit.Receive(b, deliveries)
		testkit.Receive(b, deliveries)
		must(t, first.Ack(false))
		third := testkit.Receive(b, deliveries)
		b.Advance(10 * time.Second)
		if _, _, err := ch.Get("q", true); err != nil {
			t.Fatal(err)
		}
		list := get[[]channelState](w, "/api/channels")
		want := counted{Publish: 6, Confirm: 6, Returned: 1, Dropped: 1, Deliver: 3, DeliverGet: 5, Get: 1, GetNoAck: 1, GetEmpty: 1, Ack: 1, Redeliver: 1}
		if len(list) != 1 || list[0].Consumers != 1 || list[0].Unacked != 2 || !list[0].Confirm || list[0].Unconfirmed != 0 {
			t.Errorf("%+v", list)
		}
		if got := stats("/api/channels/" + url.PathEscape("pipe -> pipe (1)")); got != want {
			t.Errorf("channel:\n got %+v\nwant %+v", got, want)
		}
		if got := stats("/api/overview"); got != want {
			t.Errorf("overview:\n got %+v\nwant %+v", got, want)
		}
		want.Publish, want.Confirm, want.Returned, want.Dropped = 4, 0, 0, 0
		want.PublishRate.Rate = 0.4
		if got := stats("/api/queues/%2F/q"); got != want {
			t.Errorf("queue:\n got %+v\nwant %+v", got, want)
		}
		must(t, third.Ack(true))
		c.Leave()
		if got := stats("/api/overview"); got.Publish != 6 || got.Ack != 3 {
			t.Errorf("after the channel: %+v", got)
		}
	})
}

type consumerState struct {
	Tag      string `json:"consumer_tag"`
	Active   bool
	Activity string `json:"activity_status"`
	Ack      bool   `json:"ack_required"`
	Prefetch int    `json:"prefetch_count"`
	Timeout  int    `json:"consumer_timeout"`
	Queue    struct{ Name, VHost string }
	Channel  struct {
		Number     int
		Connection string `json:"connection_name"`
	} `json:"channel_details"`
	Arguments map[string]any
}

func TestHTTPConsumers_DEC11(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, c := bubbleWeb(b), b.Connect()
		one, two := c.Open(), c.Open()
		one.Declare("q", amqp.Table{"x-single-active-consumer": true})
		for i, ch := range []*testkit.Channel{one, two} {
			must(t, ch.Qos(3+i, 0, false))
			_, err := ch.Consume("q", string(rune('a'+i)), i == 1, false, false, false, amqp.Table{"k": "v"})
			must(t, err)
		}
		list := get[[]consumerState](w, "/api/consumers/%2F")
		if len(list) != 2 || !list[0].Active || list[1].Active || list[0].Activity != "up" || list[1].Activity != "waiting" ||
			!list[0].Ack || list[1].Ack || list[0].Prefetch != 3 || list[0].Timeout == 0 || list[0].Queue.Name != "q" ||
			list[0].Channel.Number != 1 || list[1].Channel.Number != 2 || list[0].Channel.Connection != "pipe -> pipe" || list[0].Arguments["k"] != "v" {
			t.Errorf("%+v", list)
		}
		q := get[map[string]any](w, "/api/queues/%2F/q")
		if q["single_active_consumer_tag"] != "a" || len(q["consumer_details"].([]any)) != 2 {
			t.Errorf("%v", q)
		}
		if list := get[[]consumerState](w, "/api/consumers"); len(list) != 2 {
			t.Errorf("%+v", list)
		}
	})
}

func TestHTTPTransaction(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q", nil)
		must(t, ch.Tx())
		ch.Send("", "q", testkit.Text("x"))
		b.Advance(time.Second)
		type state struct {
			Transactional bool
			Uncommitted   int `json:"messages_uncommitted"`
		}
		if list := get[[]state](w, "/api/channels"); len(list) != 1 || list[0] != (state{true, 1}) {
			t.Errorf("%+v", list)
		}
		must(t, ch.TxCommit())
		if list := get[[]state](w, "/api/channels"); list[0].Uncommitted != 0 {
			t.Errorf("%+v", list)
		}
	})
}
