package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// adminLines are command lines of rabbitmqadmin, with | between words. CONNECTION is replaced by a connection's name, DIR by a
// folder. The output of lines with a ! differs between runs.
const adminLines = `
!list connections
!list channels
list consumers
list exchanges
list queues
list bindings
!list users
list vhosts
list permissions
!list nodes
list parameters
list policies
list operator_policies
list vhost_limits
!show overview
!-f|pretty_json|show|overview
-f|bash|list|vhosts
!-f|long|-d|9|list|nodes
declare|vhost|name=away|tracing=true
declare|permission|vhost=away|user=guest|configure=.*|write=.*|read=.*
declare|user|name=app|password=s3cret|tags=monitoring,policymaker
declare|user|name=ops|password_hash=|tags=
declare|user|name=nobody|tags=
declare|permission|vhost=/|user=app|configure=^app|write=.*|read=
list|users|name|tags
list|permissions|user|vhost|configure|write|read
-V|away|declare|exchange|name=orders|type=topic|durable=false|arguments={"alternate-exchange": "amq.fanout"}
-V|away|declare|exchange|name=inner|type=fanout|internal=true|auto_delete=true
-V|away|declare|exchange|name=odd|type=nonsense
-V|away|declare|queue|name=q é/1|durable=true|arguments={"x-message-ttl": 60000, "x-dead-letter-exchange": ""}
-V|away|declare|queue|name=q é/1|durable=false
-V|away|declare|queue|name=quorate|queue_type=quorum
-V|away|declare|queue|name=bad|arguments={"x-message-ttl":
-V|away|declare|queue|name=bad|arguments={"x-message-ttl": "soon"}
-V|away|declare|queue|name=bad|colour=red
-V|away|declare|queue
-V|away|declare|binding|source=orders|destination=q é/1|routing_key=new.#|arguments={"a": 1}
-V|away|declare|binding|source=orders|destination=inner|destination_type=exchange
-V|away|list|exchanges|name|type|durable|auto_delete|internal
-V|away|-S|name|-R|list|queues|name|durable|type|arguments
-V|away|-f|tsv|list|bindings|source|destination|destination_type|routing_key|properties_key
-V|away|declare|policy|name=ttl|pattern=^q|definition={"expires": 1800000}|priority=3|apply-to=queues
-V|away|declare|policy|name=ttl|pattern=(|definition={"expires": 1}
-V|away|declare|operator_policy|name=cap|pattern=.*|definition={"max-length": 10}
declare|vhost_limit|vhost=away|name=max-queues|value=20
-V|away|declare|parameter|component=federation-upstream|name=far|value={"uri": "amqp://far.example.com", "expires": 3600000}
list|policies|vhost|name|pattern|apply-to|priority|definition
list|operator_policies
list|parameters|vhost|component|name
list|vhost_limits
-V|away|publish|exchange=orders|routing_key=new.one|payload=hello|properties={"delivery_mode": 2, "headers": {"n": 1}}
-V|away|publish|exchange=orders|routing_key=new.two
-V|away|publish|routing_key=none|payload=lost
-V|away|publish|exchange=none|routing_key=none|payload=lost
-V|away|-f|kvp|get|queue=q é/1|count=2
-V|away|get|queue=q é/1|ackmode=ack_requeue_false|payload_file=DIR/payload
-V|away|-f|tsv|list|queues|name|messages|policy
-V|away|purge|queue|name=q é/1
-V|away|list|queues
-V|away|get|queue=q é/1
-q|-V|away|get|queue=q é/1
-V|away|get|queue=q é/1|count=2|payload_file=DIR/payload
-V|away|get|queue=none
export|DIR/all.json
-V|away|export|DIR/away.json
-V|away|delete|queue|name=q é/1
-q|-V|away|import|DIR/away.json
-q|import|DIR/all.json
-V|away|-q|-f|tsv|list|bindings|source|destination|routing_key
list|connections|user|channels|vhost
close|connection|name=CONNECTION
-V|away|delete|binding|source=orders|destination_type=exchange|destination=inner|properties_key=~
-V|away|delete|exchange|name=orders
-V|away|delete|queue|name=quorate
-V|away|delete|queue|name=quorate
-V|away|delete|parameter|component=federation-upstream|name=far
-V|away|delete|policy|name=ttl
-V|away|delete|operator_policy|name=cap
delete|vhost_limit|vhost=away|name=max-queues
delete|permission|vhost=/|user=app
delete|user|name=app
delete|user|name=ops
delete|vhost|name=away
-p|wrong|list|queues
dance
list|dances
declare|dance
`

// The rabbitmqadmin of RabbitMQ 3.x has the output that is stored in testdata, which has RabbitMQ's forms.
func TestRabbitmqadmin(t *testing.T) {
	t.Parallel()
	script, err := exec.LookPath("rabbitmqadmin")
	if err != nil {
		if os.Getenv("CANDLEMARK_REQUIRE_CLIENTS") == "1" {
			t.Fatal(err)
		}
		t.Skip("rabbitmqadmin of Debian's package rabbitmq-server is not in PATH")
	}
	b := start(t)
	b.administer(t, func(lines [][]string) (results []adminResult) {
		all, err := json.Marshal(lines)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "python3", "testdata/rabbitmqadmin.py", script)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(all), os.Stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &results)
		}
		if err != nil {
			t.Fatal(err)
		}
		return results
	})
}

// adminResult is the output and exit code of a command line.
type adminResult struct {
	Stdout, Stderr string
	Code           int
}

var ofOneRun = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// administer runs all lines and compares their output.
func (b *broker) administer(t *testing.T, run func([][]string) []adminResult) {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + b.amqp + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	name := conn.LocalAddr().String() + " -> " + b.amqp
	host, port, _ := net.SplitHostPort(b.http)
	dir, transcript := t.TempDir(), ""
	lines := strings.Split(strings.TrimSpace(adminLines), "\n")
	words := make([][]string, len(lines))
	for i, line := range lines {
		line = strings.NewReplacer("CONNECTION", name, "DIR", dir).Replace(strings.TrimPrefix(line, "!"))
		words[i] = strings.Split(line, "|")
		if len(words[i]) == 1 {
			words[i] = strings.Fields(line)
		}
		words[i] = append([]string{"-H", host, "-P" + port}, words[i]...)
	}
	for i, result := range run(words) {
		line, differs := strings.CutPrefix(lines[i], "!")
		transcript += "$ " + line + "\n"
		if differs && result.Code == 0 && result.Stderr == "" && result.Stdout != "" {
			continue
		}
		text := strings.ReplaceAll(result.Stdout+result.Stderr, dir, "DIR")
		transcript += ofOneRun.ReplaceAllString(text, "127.0.0.1:*")
		if result.Code != 0 {
			transcript += fmt.Sprintf("exit %d\n", result.Code)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "payload")); err != nil || string(text) != "hello" {
		t.Errorf("%v, got %q", err, text)
	}
	if err := <-closed; err == nil || err.Code != amqp.ConnectionForced {
		t.Error(err)
	}
	const golden = "testdata/rabbitmqadmin.golden"
	if os.Getenv("CANDLEMARK_REWRITE") != "" {
		if err := os.WriteFile(golden, []byte(transcript), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(transcript, "\n"), strings.Split(string(want), "\n")
	if !slices.Equal(got, lines) {
		at := 0
		for at < min(len(got), len(lines)) && got[at] == lines[at] {
			at++
		}
		t.Errorf("from line %d on:\n%s\nwant\n%s", at+1, strings.Join(got[at:min(at+20, len(got))], "\n"), strings.Join(lines[at:min(at+20, len(lines))], "\n"))
	}
}
