package broker

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// httpBroker is a broker on a real socket, outside of any bubble.
type httpBroker struct {
	*web
	node *supervision.Node
	at   net.Addr
}

func newHTTPBroker(t *testing.T) *httpBroker {
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
	return &httpBroker{newWeb(t, node.API(), users), node, at}
}

// dial connects a client that calls itself name.
func (h *httpBroker) dial(name string) *amqp.Connection {
	h.Helper()
	return dial(h.T, h.at.String(), name)
}

func dial(t *testing.T, at, name string) *amqp.Connection {
	t.Helper()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	c, err := amqp.DialConfig("amqp://guest:guest@"+at, amqp.Config{Properties: properties})
	must(t, err)
	return c
}

// shapesFile has the keys and types of RabbitMQ's replies; TestRecordShapes writes it.
const shapesFile = "testdata/rabbitmq-4.3.6.txt"

// exceptions are keys of RabbitMQ that Candlemark lacks, with reasons. A plain name stands for that key at every path.
var exceptions = map[string]string{
	"garbage_collection": "Erlang's", "reductions": "Erlang's", "reductions_details": "Erlang's", "context_switches": "Erlang's",
	"context_switches_details": "Erlang's", "metrics_gc_queue_length": "Erlang's", "cowboy_opts": "of another HTTP server",
	"ssl_opts": "of another HTTP server", "socket_opts": "of another server", "storage_version": "of another store",
	"crypto_lib_version": "Erlang's", "cached_segments": "of another store", "ra_open_file_metrics": "of another store", "open_files": "of another store", "messages_ready_high": "of another store",
	"messages_ready_normal": "of another store", "messages_ready_returned": "of another store",
	"messages_active_priorities": "messages are not counted by priority", "messages_by_priority": "likewise", "publishers": "queues do not know who publishes",
	"GET /api/extensions": "there are no pages in a browser that could have any",
	"message_bytes_dlx":   "the bytes of dead letters on their way are among the unacknowledged ones",
}

// store are the prefixes of counters of RabbitMQ's message store and schema database.
var store = []string{"io_", "mnesia_", "msg_store_", "queue_index_"}

// excepted returns the reason for which a key may be missing, "" if it may not.
func excepted(path string) string {
	for key := range strings.SplitSeq(path, ".") {
		if why := exceptions[strings.TrimSuffix(key, "[]")]; why != "" {
			return why
		}
		if slices.ContainsFunc(store, func(begin string) bool { return strings.HasPrefix(key, begin) }) {
			return "of another store"
		}
	}
	return ""
}

// shape counts, for each path in replies, the values of each kind.
type shape map[string]map[string]int

func (s shape) add(path string, v any) {
	if s[path] == nil {
		s[path] = map[string]int{}
	}
	s[path][kindOfJSON(v)]++
	switch v := v.(type) {
	case map[string]any:
		for key, inside := range v {
			s.add(path+"."+key, inside)
		}
	case []any:
		for _, item := range v {
			s.add(path+"[]", item)
		}
	}
}

// count returns the number of values at a path.
func (s shape) count(path string) (n int) {
	for _, times := range s[path] {
		n += times
	}
	return n
}

// compare reports differences from a line of RabbitMQ's shape, "path kind|kind".
func (s shape) compare(t *testing.T, request, line string) {
	path, kinds, _ := strings.Cut(line, " ")
	path, optional := strings.CutSuffix(path, "?")
	path = strings.TrimPrefix(path, ".")
	if path != "" && !strings.HasPrefix(path, "[]") {
		path = "." + path
	}
	why := excepted(path)
	parent := strings.TrimSuffix(path, "[]")
	if at := strings.LastIndexByte(path, '.'); parent == path && at >= 0 {
		parent = path[:at]
	}
	switch there, of := s.count(path), s[parent]["object"]; {
	case why != "":
		if there > 0 {
			t.Errorf("%s%s is there: it needs no exception", request, path)
		}
	case strings.HasSuffix(path, "[]"):
		if there == 0 && s.count(parent) > 0 && len(s[parent]) > 0 && path == "[]" {
			t.Errorf("%s is an empty list", request)
		}
	case there == 0 && of > 0, !optional && there < of && kinds != "list|null": // null counts as absent
		t.Errorf("%s%s: in %d of %d", request, path, there, of)
	}
	for kind := range s[path] {
		// null in either reply only says that there was no value.
		if !slices.Contains(strings.Split(kinds, "|"), kind) && kinds != "null" && kind != "null" {
			t.Errorf("%s%s is a %s, want %s", request, path, kind, kinds)
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
		return "boolean"
	}
	return "null"
}

// Replies have every key of RabbitMQ 4.3.6 with the same types, except for the listed exceptions.
func TestHTTPShapes(t *testing.T) {
	h := newHTTPBroker(t)
	h.node.Announce("http", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 15672}, nil)
	h.node.Announce("http/prometheus", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 15692}, nil)
	conn := h.dial("eco-traffic")
	defer func() { _ = conn.Close() }()
	furnish(t, conn)
	h.define()
	text, err := os.ReadFile(shapesFile)
	must(t, err)
	named := names(conn, get[struct{ Node string }](h.web, "/api/overview").Node, h.at.String())
	for reply := range strings.SplitSeq(string(text), "\n\n") {
		request, lines, _ := strings.Cut(strings.TrimSpace(reply), "\n")
		path, is := strings.CutPrefix(request, "GET ")
		if !is || exceptions[request] != "" {
			continue
		}
		answer := h.ask("", "GET", named.Replace(path), "")
		var v any
		if err := json.Unmarshal(answer.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %d %s %v", request, answer.Code, answer.Body, err)
		}
		ours := shape{}
		ours.add("", v)
		for line := range strings.Lines(lines) {
			ours.compare(t, request, strings.TrimSpace(line))
		}
	}
	for path, want := range map[string]string{
		"exchanges/%2F/orders?columns=message_stats.publish_in,message_stats.publish_out": `{"message_stats":{"publish_in":1,"publish_out":2}}`,
		"vhosts/%2F?columns=message_stats.publish,message_stats.deliver":                  `{"message_stats":{"deliver":1,"publish":1}}`,
		"queues/%2F/orders.q?columns=messages_persistent,message_bytes_persistent":        `{"message_bytes_persistent":5,"messages_persistent":1}`,
		"queues/%2F/orders.qq?columns=messages_persistent,message_bytes_persistent":       `{"message_bytes_persistent":5,"messages_persistent":1}`,
	} {
		h.want(200, want, "GET", "/api/"+path, "")
	}
	h.want(400, reason("bad_request", "Invalid port"), "GET", "/api/health/checks/port-listener/x", "")
	h.want(404, notThere, "GET", "/api/health/checks/no-such-check", "")
	h.want(404, notThere, "GET", "/api/nodes/other@host", "")
	h.want(404, notThere, "GET", "/api/aliveness-test/none", "")
	streams := false
	for _, f := range get[[]map[string]any](h.web, "/api/feature-flags") {
		streams = streams || f["name"] == "stream_queue" && f["state"] == "enabled"
	}
	if !streams {
		t.Error("NServiceBus looks for the flag stream_queue")
	}
}

// define creates the definitions that existed when RabbitMQ's replies were recorded.
func (h *web) define() {
	h.Helper()
	for _, d := range []struct {
		path, body string
		want       int
	}{
		{"policies/%2F/ttl", `{"pattern":"^orders","definition":{"message-ttl":500000},"priority":1,"apply-to":"queues"}`, 201},
		{"operator-policies/%2F/cap", `{"pattern":"^orders","definition":{"message-ttl":400000},"priority":1,"apply-to":"queues"}`, 201},
		{"topic-permissions/%2F/guest", `{"exchange":"orders","write":".*","read":".*"}`, 201},
		{"vhosts/other", ``, 201},
		{"vhost-limits/other/max-connections", `{"value":100}`, 204},
		{"queues/%2F/short", `{"durable":true,"arguments":{"x-message-ttl":1000,"x-dead-letter-exchange":"dlx"}}`, 201},
	} {
		if w := h.ask("", "PUT", "/api/"+d.path, d.body, "Content-Type", "application/json"); w.Code != d.want {
			h.Fatalf("%s: %d %s", d.path, w.Code, w.Body)
		}
	}
}

// furnish declares and uses the objects that existed when RabbitMQ's replies were recorded.
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
	d, err := ch.PublishWithDeferredConfirm("orders", "order.1", false, false, amqp.Publishing{Body: []byte("hello"), DeliveryMode: amqp.Persistent})
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
