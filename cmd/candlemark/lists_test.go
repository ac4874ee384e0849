package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// serveNode starts a broker with one client and returns its HTTP address, the client's connection and a channel.
func serveNode(t *testing.T) (url string, conn *amqp.Connection, ch *amqp.Channel) {
	users, journal := auth.NewGuest(), memory.New(memory.Options{})
	node, err := supervision.Start(supervision.Config{Users: users, Journal: journal, Log: zerolog.Nop(), ProductVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(httpapi.NewHandler(node.API(), users, zerolog.Nop()))
	t.Cleanup(func() {
		s.Close()
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		_ = journal.Close()
	})
	at, err := node.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if conn, err = amqp.Dial("amqp://guest:guest@" + at.String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // a verb may have closed it
	if ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	return s.URL, conn, ch
}

// ports matches client addresses, which differ between runs.
var ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func TestObjectVerbs(t *testing.T) {
	url, conn, ch := serveNode(t)
	if _, err := ch.QueueDeclare("q", false, true, false, false, amqp.Table{"x-expires": 1800000, "x-dead-letter-exchange": "d\"x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("empty", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind("q", "k.#", "amq.topic", false, amqp.Table{"a": true}); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	d, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp.Publishing{Body: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	d.Wait()
	if err := ch.Qos(3, 0, false); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Consume("empty", "tag", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	const peers = "127.0.0.1:* -> 127.0.0.1:*"
	for _, step := range []struct{ line, stdout string }{
		{"list_queues", "Timeout: 60.0 seconds ...\nListing queues for vhost / ...\nname\tmessages\nempty\t0\nq\t1\n"},
		{
			"list_queues|-q|name|durable|auto_delete|arguments|policy|type|consumers|message_bytes",
			"name\tdurable\tauto_delete\targuments\tpolicy\ttype\tconsumers\tmessage_bytes\n" +
				"empty\ttrue\tfalse\t[{\"x-queue-type\",\"classic\"}]\t\tclassic\t1\t0\n" +
				"q\tfalse\ttrue\t[{\"x-dead-letter-exchange\",\"d\\\"x\"},{\"x-expires\",1800000},{\"x-queue-type\",\"classic\"}]\t\tclassic\t0\t1\n",
		},
		{"list_queues|-s|--online|-n|candlemark@localhost|name", "empty\nq\n"},
		{"list_queues|--formatter|json|messages|name", `[{"messages":0,"name":"empty"},{"messages":1,"name":"q"}]` + "\n"},
		{"list_exchanges|-q|--no-table-headers|name|type|internal|policy", "\tdirect\tfalse\t\namq.direct\tdirect\tfalse\t\namq.fanout\tfanout\tfalse\t\namq.headers\theaders\tfalse\t\n" +
			"amq.match\theaders\tfalse\t\namq.rabbitmq.trace\ttopic\ttrue\t\namq.topic\ttopic\tfalse\t\ncandlemark.admin\tfanout\tfalse\t\n"},
		{"list_bindings", "Listing bindings for vhost /...\nsource_name\tsource_kind\tdestination_name\tdestination_kind\trouting_key\targuments\n" +
			"\texchange\tempty\tqueue\tempty\t[]\n\texchange\tq\tqueue\tq\t[]\namq.topic\texchange\tq\tqueue\tk.#\t[{\"a\",true}]\n"},
		{"list_connections|-q", "user\tpeer_host\tpeer_port\tstate\nguest\t127.0.0.1\t*\trunning\n"},
		{"list_connections|-s|pid|channels|protocol|ssl|timeout", peers + "\t1\tAMQP 0-9-1\tfalse\t10\n"},
		{"list_channels|-q", "pid\tuser\tconsumer_count\tmessages_unacknowledged\n" + peers + " (1)\tguest\t1\t0\n"},
		{"list_channels|-s|connection|number|confirm|prefetch_count|transactional", peers + "\t1\ttrue\t3\tfalse\n"},
		{"list_consumers|-q", "queue_name\tchannel_pid\tconsumer_tag\tack_required\tprefetch_count\tactive\targuments\n" +
			"empty\t" + peers + " (1)\ttag\tfalse\t0\ttrue\t[]\n"},
		{"purge_queue|q", "Purging queue 'q' in vhost '/' ...\n"},
		{"delete_queue|q|-e|--if-unused", "Deleting queue 'q' on vhost '/' if queue is empty and if queue is unused ...\nQueue was successfully deleted with 0 ready messages\n"},
		{"-q|ping", "Ping succeeded\n"},
		{"check_running|-q", "RabbitMQ on node candlemark@localhost is fully booted and running\n"},
	} {
		stdout, stderr, code := candlemark(url, strings.Split(step.line, "|")...)
		stdout = ports.ReplaceAllString(stdout, "127.0.0.1:*")
		stdout = regexp.MustCompile(`127\.0\.0\.1\t\d+`).ReplaceAllString(stdout, "127.0.0.1\t*")
		if stdout != step.stdout || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, stderr %q\n got %q\nwant %q", step.line, code, stderr, stdout, step.stdout)
		}
	}
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	if stdout, stderr, code := candlemark(url, "-q", "close_all_connections", "enough"); code != 0 || stdout != "Closed 1 connections\n" {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if err := <-closed; err == nil || err.Reason != "CONNECTION_FORCED - enough" {
		t.Error(err)
	}
}

func TestObjectVerbsRefused(t *testing.T) {
	url, conn, ch := serveNode(t)
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Consume("q", "", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		line, stderr string
		code         int
	}{
		{"-q|delete_queue|none", "Error:\nQueue not found\n", commandline.ExitUsage},
		{"-q|delete_queue|q|--if-unused", "Error:\nQueue is in use\n", commandline.ExitUsage},
		{"-q|purge_queue|none", "Error:\nQueue not found\n", commandline.ExitUsage},
		{"-q|close_connection|none|why", "Error:\nno such connection: none\n", commandline.ExitUnavailable},
		{"-q|list_queues|-p|none", "Virtual host 'none' does not exist\n", commandline.ExitData},
		{"list_queues|nme|type", "Error (argument validation): Info key(s) nme are not supported\nArguments given:\n\tlist_queues nme type\n" +
			"\nUsage\n\ncandlemark list_queues [-p <vhost>] [--no-table-headers] [--online] [--offline] [--local] [<column> ...]\n", commandline.ExitUsage},
		{"delete_queue", "Error (argument validation): not enough arguments.\nArguments given:\n\tdelete_queue\n" +
			"\nUsage\n\ncandlemark delete_queue [-p <vhost>] [--if-empty] [--if-unused] <queue_name>\n", commandline.ExitUsage},
	} {
		if _, stderr, code := candlemark(url, strings.Split(step.line, "|")...); stderr != step.stderr || code != step.code {
			t.Errorf("%s: exit %d, want %d\n got %q\nwant %q", step.line, code, step.code, stderr, step.stderr)
		}
	}
	name := conn.LocalAddr().String() + " -> " + conn.RemoteAddr().String()
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	if stdout, stderr, code := candlemark(url, "close_connection", name, "go away"); code != 0 || stdout != "Closing connection "+name+", reason: go away...\n" {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if err := <-closed; err == nil || err.Code != 320 || err.Reason != "CONNECTION_FORCED - go away" {
		t.Error(err)
	}
}

// A program called by the name of one of RabbitMQ's tools has only that tool's verbs.
func TestCalledByOtherNames(t *testing.T) {
	url, _, _ := serveNode(t)
	for _, test := range []struct {
		argv string
		code int
		out  string
	}{
		{"/usr/bin/rabbitmqctl -q --url URL check_running", 0, "RabbitMQ on node candlemark@localhost is fully booted and running\n"},
		{"rabbitmq-diagnostics -q ping --url URL", 0, "Ping succeeded\n"},
		{"rabbitmqctl serve", commandline.ExitUsage, ""},
		{"rabbitmqctl version --url URL", 0, "4.3.6\n"},
		{"rabbitmqctl -q -n candlemark --url URL version", 0, "4.3.6\n"},
		{"rabbitmqctl -q --url URL set_cluster_name version", 0, ""},
		{"rabbitmq-plugins -q --url URL is_enabled rabbitmq_shovel", 0, "Plugin rabbitmq_shovel is enabled on node candlemark@localhost\n"},
		{"./candlemark version", 0, version + "\n"},
	} {
		var out, complaints bytes.Buffer
		argv := strings.Fields(strings.ReplaceAll(test.argv, "URL", url))
		if code := called(argv, func(string) string { return "" }, &out, &complaints); code != test.code || out.String() != test.out {
			t.Errorf("%s: %d %s %s", test.argv, code, &out, &complaints)
		}
	}
}

func TestStatus(t *testing.T) {
	url, _, _ := serveNode(t)
	stdout, stderr, code := candlemark(url, "status")
	for _, want := range []string{
		"Status of node http://127.0.0.1:", "\nProduct name: Candlemark\nProduct version: " + version + "\nRabbitMQ version: 4.3.6\n",
		"\nAlarms\n\n(none)\n", "\nConnection count: 1\nQueue count: 0\nVirtual host count: 1\n", "protocol: amqp, purpose: AMQP 0-9-1\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if stderr != "" || code != 0 {
		t.Errorf("%d %s", code, stderr)
	}
	stdout, _, _ = candlemark(url, "status", "--formatter", "json")
	var status struct{ Totals struct{ Connections int } }
	if err := json.Unmarshal([]byte(stdout), &status); err != nil || status.Totals.Connections != 1 {
		t.Errorf("%v: %s", err, stdout)
	}
	if _, stderr, code := candlemark("http://127.0.0.1:1", "-q", "ping"); code != commandline.ExitUnavailable || stderr == "" {
		t.Errorf("ping of nobody: %d %s", code, stderr)
	}
}
