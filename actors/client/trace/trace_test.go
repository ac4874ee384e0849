package trace

import (
	"fmt"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOrigin(t *testing.T) {
	o := Origin{Node: "n", VHost: "/", Connection: "c", User: "u", Channel: 3}
	body := []byte("body")
	m := message.Message{Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: body, TTL: 5, Number: 9}
	const origin = "{vhost /} {connection c} {channel 3} {user u}"
	const about = "{exchange_name x} {routing_keys [k]} {properties []} {node n}"
	for _, c := range []struct {
		copy      message.Message
		key, want string
		own       bool
	}{
		{o.Published(&m, protocol.Array{"q"}), "publish.x", "[" + about + " " + origin + " {routed_queues [q]}]", false},
		{o.Delivered("q", &m, m.Header, true), "deliver.q", "[" + about + " {redelivered 1} " + origin + "]", true},
	} {
		p, err := protocol.DecodeProperties(c.copy.Header)
		if got := fmt.Sprint(p.Headers); err != nil || got != c.want || string(c.copy.RoutingKey) != c.key {
			t.Errorf("%s: %s, %v\nwant %s", c.copy.RoutingKey, got, err, c.want)
		}
		if c.copy.TTL != message.NoTTL || c.copy.Number != 0 || c.copy.Owned != c.own || (&c.copy.Body[0] != &body[0]) != c.own {
			t.Errorf("%+v", c.copy)
		}
	}
}
