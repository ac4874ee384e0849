package broker

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var rabbitmq = flag.String("rabbitmq", "", "the URL of a RabbitMQ's HTTP API, http://guest:guest@127.0.0.1:15672: TestRecordShapes records its replies, and TestTools asks it instead of Candlemark")

// foreign are objects whose keys are the client's own, or Erlang's.
var foreign = []string{
	"arguments", "client_properties", "cluster_state", "cluster_tags", "definition", "effective_policy_definition", "garbage_collection", "limits",
	"metrics_gc_queue_length", "node_tags", "open_files", "ra_open_file_metrics", "sample_retention_policies", "socket_opts", "value",
}

// atRabbitMQ returns RabbitMQ's HTTP API and a connection to it, and the names that stand in requests, furnished as Candlemark is for
// TestHTTPShapes.
func atRabbitMQ(t *testing.T) (*web, *strings.Replacer) {
	u, err := url.Parse(*rabbitmq)
	must(t, err)
	h := &web{t, httputil.NewSingleHostReverseProxy(u)}
	over := get[struct {
		Node      string
		Listeners []struct {
			Protocol string
			Port     int
		}
	}](h, "/api/overview")
	at := ""
	for _, l := range over.Listeners {
		if l.Protocol == "amqp" {
			at = fmt.Sprintf("%s:%d", u.Hostname(), l.Port)
		}
	}
	conn := dial(t, at, "eco-traffic")
	t.Cleanup(func() { _ = conn.Close() })
	furnish(t, conn)
	h.define()
	for range 60 { // figures appear with RabbitMQ's next samples, every five seconds
		if body := h.ask("", "GET", "/api/vhosts/%2F", "").Body.String(); strings.Contains(body, `"deliver_get":1`) && strings.Contains(body, `"send_oct":`) {
			break
		}
		<-time.After(500 * time.Millisecond)
	}
	<-time.After(10 * time.Second) // rates need a second sample
	return h, names(conn, over.Node, at)
}

// names replaces what stands in braces in requests.
func names(conn *amqp.Connection, node, at string) *strings.Replacer {
	name := url.PathEscape(conn.LocalAddr().String() + " -> " + at)
	return strings.NewReplacer("{port}", at[strings.LastIndexByte(at, ':')+1:], "{connection}", name, "{channel}", name+"%20(1)", "{node}", url.PathEscape(node))
}

// TestRecordShapes records the shapes of a RabbitMQ's replies to the requests of the file:
//
//	go test ./integration/broker -run TestRecordShapes -rabbitmq http://guest:guest@127.0.0.1:15672
//
// RabbitMQ must be a new broker without any further objects, with the management and Prometheus plugins only.
func TestRecordShapes(t *testing.T) {
	if *rabbitmq == "" {
		t.Skip("-rabbitmq is not given")
	}
	h, named := atRabbitMQ(t)
	text, err := os.ReadFile(shapesFile)
	must(t, err)
	head, _, _ := strings.Cut(string(text), "\n\n")
	requests := []string{}
	for reply := range strings.SplitSeq(string(text), "\n\n") {
		if request, _, _ := strings.Cut(strings.TrimSpace(reply), "\n"); strings.HasPrefix(request, "GET ") {
			requests = append(requests, request)
		}
	}
	slices.Sort(requests)
	out := head + "\n"
	for _, request := range slices.Compact(requests) {
		answer := h.ask("", "GET", named.Replace(strings.TrimPrefix(request, "GET ")), "")
		var v any
		if err := json.Unmarshal(answer.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %d %s", request, answer.Code, answer.Body)
			continue
		}
		s := shape{}
		s.add("", v)
		out += "\n" + request + "\n" + s.text()
	}
	must(t, os.WriteFile(shapesFile, []byte(out), 0o644))
}

// text writes a shape as the file has it.
func (s shape) text() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s)) {
		inside := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
		if len(inside) > 1 && slices.ContainsFunc(inside[:len(inside)-1], func(key string) bool { return slices.Contains(foreign, key) }) {
			continue
		}
		parent, mark := path, ""
		if at := strings.LastIndexByte(path, '.'); at >= 0 && !strings.HasSuffix(path, "[]") {
			parent = path[:at]
		}
		if parent != path && s.count(path) < s[parent]["object"] {
			mark = "?"
		}
		shown := path
		if path == "" {
			shown = "."
		}
		fmt.Fprintf(&b, "%s%s %s\n", shown, mark, strings.Join(slices.Sorted(maps.Keys(s[path])), "|"))
	}
	return b.String()
}
