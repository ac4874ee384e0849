package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// recordedLine is a log line about a change.
type recordedLine struct {
	Level, Event, User, Source, Interface, Message string
	What                                           map[string]any
	Before                                         any
}

// onRecord returns the log lines about changes.
func onRecord(t *testing.T, log string) (lines []recordedLine) {
	t.Helper()
	for text := range strings.Lines(log) {
		var line recordedLine
		if err := json.Unmarshal([]byte(text), &line); err == nil && line.Message == "on record" {
			lines = append(lines, line)
		}
	}
	return lines
}

// All changes are on record with user, source and interface, and without passwords. Declarations by AMQP clients are not.
func TestChangesAreOnRecord(t *testing.T) {
	var out shared
	cfg := demoConfig(t.TempDir())
	cfg.LogFormat, cfg.LogLevel = "json", "info"
	cfg.LoadDefinitions = definitionsFile(t, `{"vhosts":[{"name":"/"}],"users":[{"name":"guest","password":"guest","tags":"administrator"}],
		"permissions":[{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}],"queues":[{"name":"stored","vhost":"/","durable":true}]}`)
	log, _, err := logger(&out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := startBroker(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + b.HTTP.String()
	for _, verb := range []string{
		"add_user|ann|sesame-1", "change_password|ann|sesame-2", "set_user_tags|ann|monitoring", "set_permissions|ann|.*|.*|^a", "set_permissions|ann|.*|.*|.*",
		"clear_permissions|ann", "set_user_limits|ann|{\"max-channels\":5}", "add_vhost|v", "set_vhost_limits|{\"max-queues\":9}", "set_policy|p|^q|{\"expires\":1000000}",
		"set_policy|p|^q|{\"expires\":2000000}", "clear_policy|p", "set_global_parameter|g|\"amqp://b:sesame-3@h\"", "clear_global_parameter|g",
		"set_disk_free_limit|1000", "delete_vhost|v", "delete_user|ann", "trace_on", "purge_queue|stored", "delete_queue|stored",
	} {
		if _, stderr, code := candlemark(url, append([]string{"-q"}, strings.Split(verb, "|")...)...); code != 0 {
			t.Errorf("%s: %s", verb, stderr)
		}
	}
	putAndImport(t, url)
	name := overAMQP(t, b.AMQP[0].String(), url)
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(out.String(), "sesame") || strings.Contains(out.String(), "password_hash") {
		t.Error("the log has a secret")
	}
	var got []string
	for _, line := range onRecord(t, out.String()) {
		got = append(got, fmt.Sprintf("%s %s %v %t", line.Interface, line.Event, line.What["name"], line.Before != nil))
		if line.User == "" && line.Interface != "config" || line.Source == "" {
			t.Errorf("nobody: %+v", line)
		}
		if line.Interface == "amqp" && line.Source != name {
			t.Errorf("from %s, not %s", line.Source, name)
		}
	}
	if !slices.Equal(got, wantedRecords) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

var wantedRecords = strings.Split(strings.TrimSpace(`
config user.created guest false
config user.tags.set guest false
config vhost.created / false
config permission.created <nil> false
config definitions.imported <nil> false
command line user.created ann false
command line user.password.changed ann false
command line user.tags.set ann true
command line permission.created <nil> false
command line permission.created <nil> true
command line permission.deleted <nil> true
command line user.limits.set limits false
command line vhost.created v false
command line permission.created <nil> false
command line permission.deleted <nil> true
command line vhost.limits.set limits false
command line policy.set p false
command line policy.set p true
command line policy.cleared p true
command line parameter.set g false
command line parameter.cleared g true
command line limit.set disk_free_limit true
command line vhost.deleted v false
command line user.deleted ann false
command line vhost.updated / true
command line queue.purged stored false
command line queue.deleted stored false
http queue.created q false
import user.created eve false
import user.tags.set eve false
import definitions.imported <nil> false
amqp queue.created kept false
amqp exchange.created x false
amqp binding.created <nil> false
amqp queue.purged kept false
amqp binding.deleted <nil> false
amqp exchange.deleted x false
amqp queue.deleted kept false
http connection.close.requested NAME false
`), "\n")

// putAndImport makes changes over HTTP.
func putAndImport(t *testing.T, url string) {
	t.Helper()
	for _, r := range [][3]string{
		{"PUT", "/api/queues/%2F/q", `{}`},
		{"PUT", "/api/queues/%2F/q", `{}`}, // changes nothing
		{"POST", "/api/definitions", `{"users":[{"name":"eve","password":"sesame-4","tags":"management"}],"queues":[{"name":"imported","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}`},
	} {
		if status := ask(t, r[0], url+r[1], r[2]); status >= 300 {
			t.Errorf("%s %s: %d", r[0], r[1], status)
		}
	}
}

// ask sends a request as guest and returns the status of the answer.
func ask(t *testing.T, method, url, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// overAMQP makes changes as an AMQP client, closes its connection over HTTP, and returns the connection's name.
func overAMQP(t *testing.T, address, url string) string {
	t.Helper()
	conn, err := amqp.Dial("amqp://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{
		func() error { _, err := ch.QueueDeclare("", false, true, true, false, nil); return err },
		func() error { _, err := ch.QueueDeclare("passing", false, false, false, false, nil); return err },
		func() error { return ch.QueueBind("passing", "k", "amq.topic", false, nil) },
		func() error { _, err := ch.QueueDeclare("kept", true, false, false, false, nil); return err },
		func() error { _, err := ch.QueueDeclare("kept", true, false, false, false, nil); return err },
		func() error { return ch.ExchangeDeclare("x", "topic", true, false, false, false, nil) },
		func() error { return ch.QueueBind("kept", "k", "x", false, nil) },
		func() error { return ch.QueueBind("kept", "k", "x", false, nil) },
		func() error { _, err := ch.QueuePurge("kept", false); return err },
		func() error { return ch.QueueUnbind("kept", "k", "x", nil) },
		func() error { return ch.ExchangeDelete("x", false, false) },
		func() error { _, err := ch.QueueDelete("kept", false, false, false); return err },
		func() error { _, err := ch.QueueDelete("passing", false, false, false); return err },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	name := conn.LocalAddr().String() + " -> " + conn.RemoteAddr().String()
	wantedRecords[len(wantedRecords)-1] = "http connection.close.requested " + name + " false"
	if status := ask(t, "DELETE", url+"/api/connections/"+strings.ReplaceAll(name, " ", "%20"), ""); status != 204 {
		t.Errorf("status %d", status)
	}
	return name
}
