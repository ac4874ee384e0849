package broker

import (
	"encoding/json"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
)

// change is a request with its status and body.
var change = regexp.MustCompile(`^(GET|PUT|POST|DELETE) (\S+) (\d+) ?(.*)$`)

// Tools for automation and monitoring get the answers that they read: telegraf, rabbitmq_exporter, Nagios' checks, KEDA, rabbitmqadmin and
// Ansible's modules. With -rabbitmq RabbitMQ is asked, so that the list is right about it, too.
func TestTools(t *testing.T) {
	var h *web
	var named *strings.Replacer
	if *rabbitmq != "" {
		h, named = atRabbitMQ(t)
	} else {
		b := newHTTPBroker(t)
		b.node.Announce("http", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 15672}, nil)
		conn := b.dial("eco-traffic")
		defer func() { _ = conn.Close() }()
		furnish(t, conn)
		b.define()
		h, named = b.web, names(conn, get[struct{ Node string }](b.web, "/api/overview").Node, b.at.String())
	}
	text, err := os.ReadFile("testdata/tools.txt")
	must(t, err)
	tool := ""
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		request, lines, _ := strings.Cut(part, "\n")
		name, is := strings.CutPrefix(request, "## ")
		switch {
		case is:
			tool = name
		case change.MatchString(request):
			for line := range strings.Lines(part) {
				h.changes(tool, strings.TrimSpace(line))
			}
		case strings.HasPrefix(request, "GET "):
			h.reads(tool, request, named, lines)
		}
	}
}

// changes sends a request and compares the status.
func (w *web) changes(tool, line string) {
	w.Helper()
	m := change.FindStringSubmatch(line)
	if m == nil {
		w.Fatalf("%s: %q", tool, line)
	}
	answer := w.ask("", m[1], m[2], m[4], "Content-Type", "application/json")
	if strconv.Itoa(answer.Code) != m[3] {
		w.Errorf("%s: %s: %d %s", tool, line, answer.Code, answer.Body)
	}
}

// reads sends a request and looks for the keys in the answer. RabbitMQ without plugins for shovels and federation has no lists of them.
func (w *web) reads(tool, request string, named *strings.Replacer, lines string) {
	w.Helper()
	answer := w.ask("", "GET", named.Replace(strings.TrimPrefix(request, "GET ")), "")
	var v any
	if err := json.Unmarshal(answer.Body.Bytes(), &v); answer.Code != 200 || err != nil {
		if *rabbitmq == "" || lines != ". list" {
			w.Errorf("%s: %s: %d %s", tool, request, answer.Code, answer.Body)
		}
		return
	}
	s := shape{}
	s.add("", v)
	for line := range strings.Lines(lines) {
		s.compare(w.T, tool+": "+request, strings.TrimSpace(line))
	}
}

// A queue in use has no idle_since: rabbitmq_exporter shows one that has as idle.
func TestHTTPIdleSince(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		w.want(201, "", "PUT", "/api/queues/%2F/q", `{}`)
		w.want(200, `{"idle_since":null}`, "GET", "/api/queues/%2F/q?columns=idle_since", "")
		since := time.Now().UTC().Format("2006-01-02T15:04:05.000+00:00")
		b.Advance(6 * time.Second)
		w.want(200, `{"idle_since":"`+since+`"}`, "GET", "/api/queues/%2F/q?columns=idle_since", "")
	})
}
