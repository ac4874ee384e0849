package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"candlemark/internal/auth"
	"candlemark/internal/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// house is a broker on a real socket, outside of any bubble.
type house struct {
	*web
	node *supervision.Node
	at   net.Addr
}

func newHouse(t *testing.T) *house {
	users := auth.NewGuest()
	journal := memory.New(memory.Options{})
	node, err := supervision.Start(supervision.Config{Users: users, Journal: journal, Log: zerolog.Nop(), ProductVersion: "0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		_ = journal.Close()
	})
	at, err := node.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &house{newWeb(t, node, users), node, at}
}

// dial connects a client that calls itself name.
func (h *house) dial(name string) *amqp.Connection {
	h.Helper()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	c, err := amqp.DialConfig("amqp://guest:guest@"+h.at.String(), amqp.Config{Properties: properties})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// erlang are the fields of RabbitMQ that tell of what we do not have, or do not
// count.
var erlang = map[string]bool{
	"garbage_collection": true, "reductions": true, "reductions_details": true, "storage_version": true,
	"message_bytes_persistent": true, "messages_persistent": true, "disk_reads": true, "disk_reads_details": true,
	"disk_writes": true, "disk_writes_details": true, "socket_opts": true, "ssl_opts": true, "cowboy_opts": true,
	"messages_dlx": true, "message_bytes_dlx": true, "open_files": true, "publishers": true,
	"messages_ready_high": true, "messages_ready_normal": true, "messages_ready_returned": true,
	"context_switches": true, "context_switches_details": true, "ra_open_file_metrics": true, "metrics_gc_queue_length": true,
	"idle_since": true, "publish_in": true,
}

// store are the counters of RabbitMQ's message store and schema database.
func store(key string) bool {
	for _, prefix := range []string{"io_", "mnesia_", "msg_store_", "queue_index_"} {
		if len(key) > len(prefix) && key[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}

// compareShape reports what of RabbitMQ's form is not in ours.
func compareShape(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is no object: %v", at, got)
			return
		}
		for key, inside := range want {
			if erlang[key] || store(key) || key == "online" && inside == "null" || at == "exchange" && key == "message_stats" {
				continue
			}
			value, there := fields[key]
			if !there {
				t.Errorf("%s has no %s", at, key)
				continue
			}
			compareShape(t, at+"."+key, inside, value)
		}
	case []any:
		items, ok := got.([]any)
		if !ok {
			t.Errorf("%s is no list: %v", at, got)
			return
		}
		if len(want) > 0 && len(items) == 0 && !strings.Contains(at, ".") {
			t.Errorf("%s is empty", at)
		}
		for i, item := range items {
			if len(want) > 0 {
				compareShape(t, fmt.Sprintf("%s[%d]", at, i), want[0], item)
			}
		}
	default:
		if kind := kindOfJSON(got); want != kind && want != "null" && want != "any" && kind != "null" {
			t.Errorf("%s is a %s, want %s", at, kind, want)
		}
	}
}

func kindOfJSON(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "bool"
	}
	return "null"
}

// What is served has every field of RabbitMQ 4.0.5's replies that means anything
// here, with its type. The forms in testdata were taken from real replies.
func TestHTTPShapes(t *testing.T) {
	h := newHouse(t)
	h.node.Announce("http", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 15672}, nil)
	conn := h.dial("eco-traffic")
	defer func() { _ = conn.Close() }()
	furnish(t, conn)
	port := h.at.(*net.TCPAddr).Port
	name := url.PathEscape(conn.LocalAddr().String() + " -> " + h.at.String())
	for _, test := range []struct{ form, path string }{
		{"queues", "/api/queues"},
		{"queues", "/api/queues/%2F"},
		{"queues_paged", "/api/queues?page=1&page_size=2&name=orders&use_regex=true&pagination=true"},
		{"queue_classic", "/api/queues/%2F/orders.q"},
		{"queue_quorum", "/api/queues/%2F/orders.qq"},
		{"queues_nostats", "/api/queues?disable_stats=true&enable_queue_totals=true"},
		{"exchanges", "/api/exchanges"},
		{"exchange", "/api/exchanges/%2F/orders"},
		{"bindings", "/api/bindings"},
		{"connections", "/api/connections"},
		{"connections", "/api/vhosts/%2F/connections"},
		{"connection_channels", "/api/connections/" + name + "/channels"},
		{"connection_channels", "/api/channels"},
		{"connection_channels", "/api/vhosts/%2F/channels"},
		{"consumers", "/api/consumers"},
		{"consumers", "/api/consumers/%2F"},
		{"nodes", "/api/nodes"},
		{"overview", "/api/overview"},
		{"feature-flags", "/api/feature-flags"},
		{"deprecated-features", "/api/deprecated-features"},
		{"cluster-name", "/api/cluster-name"},
		{"hc_port", fmt.Sprintf("/api/health/checks/port-listener/%d", port)},
		{"hc_proto", "/api/health/checks/protocol-listener/amqp091"},
		{"hc_qc", "/api/health/checks/node-is-quorum-critical"},
		{"hc_alarms", "/api/health/checks/alarms"},
		{"hc_alarms", "/api/health/checks/local-alarms"},
		{"hc_alarms", "/api/health/checks/virtual-hosts"},
		{"hc_alarms", "/api/health/checks/certificate-expiration/3/weeks"},
		{"aliveness", "/api/aliveness-test/%2F"},
	} {
		text, err := os.ReadFile("testdata/rabbitmq-4.0.5/" + test.form + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		compareShape(t, test.form, want, get[any](h.web, test.path))
	}
	h.want(503, fmt.Sprintf(`{"status":"failed","reason":"No active listener","missing":9,"ports":[%d,15672]}`, port), "GET", "/api/health/checks/port-listener/9", "")
	h.want(503, `{"status":"failed","reason":"No active listener","missing":"mqtt","protocols":["amqp","http"]}`, "GET", "/api/health/checks/protocol-listener/MQTT", "")
	h.want(400, reason("bad_request", "Invalid port"), "GET", "/api/health/checks/port-listener/x", "")
	h.want(200, `{"status":"ok"}`, "GET", "/api/health/checks/is-in-service", "")
	h.want(404, notThere, "GET", "/api/health/checks/no-such-check", "")
	h.want(404, notThere, "GET", "/api/nodes/other@host", "")
	h.want(404, notThere, "GET", "/api/aliveness-test/none", "")
	h.want(200, `"4.0.5"`, "GET", "/api/version", "")
	streams := false
	for _, f := range get[[]map[string]any](h.web, "/api/feature-flags") {
		streams = streams || f["name"] == "stream_queue" && f["state"] == "enabled"
	}
	if !streams {
		t.Error("NServiceBus looks for the flag stream_queue")
	}
}

// furnish declares what the replies were taken from, and uses it.
func furnish(t *testing.T, conn *amqp.Connection) {
	ch, err := conn.Channel()
	must(t, err)
	must(t, ch.Confirm(false))
	must(t, ch.Qos(10, 0, false))
	must(t, ch.ExchangeDeclare("dlx", "fanout", true, false, false, false, nil))
	must(t, ch.ExchangeDeclare("orders", "topic", true, false, false, false, nil))
	for name, args := range map[string]amqp.Table{
		"orders.q":  {"x-dead-letter-exchange": "dlx", "x-expires": 1800000, "x-message-ttl": 600000, "x-queue-type": "classic"},
		"orders.qq": {"x-delivery-limit": 5, "x-queue-type": "quorum"},
	} {
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		must(t, err)
	}
	must(t, ch.QueueBind("orders.qq", "order.#", "orders", false, amqp.Table{"k": "v"}))
	must(t, ch.QueueBind("orders.q", "order.#", "orders", false, nil))
	must(t, ch.ExchangeBind("dlx", "audit.#", "orders", false, nil))
	deliveries, err := ch.Consume("orders.qq", "tag1", false, false, false, false, nil)
	must(t, err)
	d, err := ch.PublishWithDeferredConfirm("orders", "order.1", false, false, amqp.Publishing{Body: []byte("hello")})
	must(t, err)
	select {
	case <-d.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("no confirm")
	}
	<-deliveries
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
