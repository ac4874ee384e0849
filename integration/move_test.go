package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbit is RabbitMQ from Debian's package rabbitmq-server, on free ports of this machine and in a folder of its own.
type rabbit struct {
	*testing.T
	env    []string
	amqp   string // address
	root   string // folder of the Debian that it runs in, "" for this machine's
	dir    string // its own, as its programs see it
	output string // file
}

const rabbitPrograms = "/usr/lib/rabbitmq/bin"

// startRabbit runs RabbitMQ until the test ends, or skips the test. CANDLEMARK_TEST_RABBITMQ is the root folder of a Debian with
// rabbitmq-server, such as .ci/rabbitmq makes; its programs are started by root. Without it, -compare starts an installed one.
func startRabbit(t *testing.T) *rabbit {
	t.Helper()
	root := os.Getenv("CANDLEMARK_TEST_RABBITMQ")
	_, missing := os.Stat(root + rabbitPrograms + "/rabbitmq-server")
	switch {
	case root == "" && !*compareAll:
		t.Skip("neither -compare nor CANDLEMARK_TEST_RABBITMQ is set")
	case root == "" && missing != nil:
		t.Skip("the package rabbitmq-server is not installed, and CANDLEMARK_TEST_RABBITMQ is not set")
	case root != "" && (missing != nil || os.Geteuid() != 0):
		t.Fatalf("CANDLEMARK_TEST_RABBITMQ=%s: no rabbitmq-server there, or not root", root)
	}
	for range 3 { // another program may take a port before RabbitMQ does
		if r := tryRabbit(t, root); r != nil {
			return r
		}
	}
	t.Fatal("RabbitMQ did not start")
	return nil
}

// folderIn makes a folder inside another root until the test ends.
func folderIn(t *testing.T, root string) string {
	t.Helper()
	if root == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(root+"/tmp", "rabbitmq")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// tryRabbit returns nil if RabbitMQ ends before it is ready.
func tryRabbit(t *testing.T, root string) *rabbit {
	t.Helper()
	dir := folderIn(t, root)
	ports := make([]string, 3)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
		_ = l.Close()
	}
	r := &rabbit{T: t, amqp: "127.0.0.1:" + ports[0], root: root, dir: strings.TrimPrefix(dir, root), output: filepath.Join(dir, "output")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of RabbitMQ: %s", r.log())
		}
	})
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(r.dir, name)
	}
	// Its schedulers busy-wait before they sleep, which takes CPU time from other tests.
	const local = "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none"
	r.env = append(os.Environ(), "HOME="+r.dir, "TMPDIR=/tmp", "ERL_CRASH_DUMP="+r.dir+"/erl_crash.dump", "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT="+ports[1], "RABBITMQ_DIST_PORT="+ports[2],
		"RABBITMQ_NODENAME=moved@localhost", "RABBITMQ_MNESIA_BASE="+r.dir+"/mnesia", "RABBITMQ_LOG_BASE="+r.dir+"/log",
		"RABBITMQ_CONF_ENV_FILE=/dev/null", "RABBITMQ_ENABLED_PLUGINS_FILE="+file("plugins", "[]."),
		"RABBITMQ_CONFIG_FILE="+file("rabbitmq.conf", "listeners.tcp.1 = "+r.amqp+"\nlog.console = true\nlog.file = false\n"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+local, "RABBITMQ_CTL_ERL_ARGS="+local)
	r.run("/usr/bin/epmd", "-port", ports[1], "-address", "127.0.0.1")
	ended := r.run(rabbitPrograms + "/rabbitmq-server")
	wait := time.After(3 * patience) // on two busy processors the start took a minute
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	for {
		if conn, err := amqp.Dial("amqp://guest:guest@" + r.amqp); err == nil {
			product := conn.Properties["product"]
			_ = conn.Close()
			if product == "RabbitMQ" { // not the broker of another test
				return r
			}
		}
		select {
		case <-every.C:
		case <-ended:
			r.Logf("RabbitMQ ended: %s", r.log())
			return nil
		case <-wait:
			t.Fatalf("RabbitMQ did not start: %s", r.log())
		}
	}
}

// run starts a program, and kills its process group when the test ends. The returned channel is closed when the program ends.
func (r *rabbit) run(path string, args ...string) (ended <-chan struct{}) {
	r.Helper()
	output, err := os.OpenFile(r.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.Fatal(err)
	}
	defer output.Close()
	cmd := r.command(path, args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr.Setpgid = output, output, true
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	r.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-done
	})
	return done
}

// command returns one of RabbitMQ's programs.
func (r *rabbit) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = r.env, "/", &syscall.SysProcAttr{Chroot: r.root}
	return cmd
}

// log returns the last part of the output of RabbitMQ.
func (r *rabbit) log() []byte {
	text, err := os.ReadFile(r.output)
	if err != nil {
		r.Error(err)
	}
	return text[max(0, len(text)-4000):]
}

// ctl runs rabbitmqctl.
func (r *rabbit) ctl(args ...string) string {
	r.Helper()
	out, err := r.command(rabbitPrograms+"/rabbitmqctl", append([]string{"-q"}, args...)...).CombinedOutput()
	if err != nil {
		r.Fatalf("rabbitmqctl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// mover publishes to the exchange "shop", waits for the confirm of each message, and reconnects when the test changes the
// address.
type mover struct {
	*testing.T
	mu      sync.Mutex
	address string
	sent    int // confirmed
}

func (m *mover) run(ctx context.Context) {
	for ctx.Err() == nil {
		m.mu.Lock()
		at := m.address
		m.mu.Unlock()
		conn, err := amqp.Dial("amqp://guest:guest@" + at)
		if err != nil {
			continue // the address has just changed
		}
		m.publish(ctx, conn, at)
		_ = conn.Close()
	}
}

func (m *mover) publish(ctx context.Context, conn *amqp.Connection, at string) {
	ch, err := conn.Channel()
	if err != nil || ch.Confirm(false) != nil {
		return
	}
	for pace := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; <-pace.C {
		m.mu.Lock()
		n, here := m.sent, m.address == at
		m.mu.Unlock()
		if !here {
			return
		}
		d, err := ch.PublishWithDeferredConfirm("shop", "orders", false, false, amqp.Publishing{DeliveryMode: 2, Body: fmt.Append(nil, "live ", n)})
		if err != nil {
			return
		}
		if ack, err := d.WaitContext(ctx); err != nil || !ack {
			return
		}
		m.mu.Lock()
		m.sent++
		m.mu.Unlock()
	}
}

func (m *mover) to(address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.address = address
}

// fill declares queues of several types in the old broker, and publishes messages.
func (r *rabbit) fill() {
	c := dialTo(r.T, r.amqp, amqp.Config{})
	c.must(c.ExchangeDeclare("shop", "direct", true, false, false, false, nil))
	for name, args := range map[string]amqp.Table{
		"orders": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"},
		"jobs":   {"x-max-priority": int32(10)},
		"mail":   {"x-message-ttl": int32(86400000)},
		"dead":   nil,
		"kept":   {"x-queue-type": "quorum"},
	} {
		_, err := c.QueueDeclare(name, true, false, false, false, args)
		c.must(err)
		c.must(c.QueueBind(name, name, "shop", false, nil))
	}
	send := func(queue string, n int, m amqp.Publishing) {
		m.DeliveryMode, m.Body = 2, fmt.Append(nil, queue, " ", n)
		m.Headers = amqp.Table{"n": int64(n), "of": "old", "list": []any{"a", true}}
		c.must(c.PublishWithContext(r.Context(), "shop", queue, true, false, m))
	}
	for n := range moved["orders"] + moved["dead"] {
		send("orders", n, amqp.Publishing{})
	}
	for n := range moved["jobs"] {
		send("jobs", n, amqp.Publishing{Priority: uint8(n % 10)})
	}
	for n := range moved["mail"] {
		send("mail", n, amqp.Publishing{Expiration: "43200000", MessageId: fmt.Sprint(n)})
	}
	for n := range moved["kept"] {
		send("kept", n, amqp.Publishing{})
	}
	for n := 0; n < moved["dead"]; {
		d, there, err := c.Get("orders", false)
		if c.must(err); there {
			c.must(d.Reject(false))
			n++
		}
	}
}

// ready returns the number of ready messages in all moved queues.
func (c *client) ready() (n int) {
	c.Helper()
	for queue := range moved {
		q, err := c.QueueDeclarePassive(queue, true, false, false, false, nil)
		c.must(err)
		n += q.Messages
	}
	return n
}

// moved is the number of messages in each queue, without messages published during the move.
var moved = map[string]int{"orders": 3000, "jobs": 500, "mail": 300, "dead": 100, "kept": 200}

// A RabbitMQ with definitions and messages of many kinds, and with an active publisher, is moved as docs/moving-from-rabbitmq.md
// describes. No message is lost, although the new broker is killed in the middle.
func TestMoveFromRabbitMQ(t *testing.T) {
	t.Parallel()
	old := startRabbit(t)
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	old.fill()
	m := &mover{T: t, address: old.amqp}
	ctx, stop := context.WithCancel(t.Context())
	published := make(chan struct{})
	go func() {
		defer close(published)
		m.run(ctx)
	}()
	defer func() { stop(); <-published }()

	definitions := filepath.Join(old.root, old.dir, "broker.json")
	old.ctl("export_definitions", old.dir+"/broker.json")
	report := b.verb(0, "import_definitions", definitions, "--dry-run")
	for line := range strings.Lines(report) { // RabbitMQ 4.3 exports an exchange of its own
		if strings.HasPrefix(line, "refused") || strings.HasPrefix(line, "ignored") && !strings.Contains(line, "amq.rabbitmq.log") {
			t.Error(line)
		}
	}
	b.verb(0, "import_definitions", definitions)

	old.ctl("add_user", "mover", "secret")
	old.ctl("set_permissions", "mover", ".*", ".*", ".*")
	for queue := range moved {
		b.verb(0, "set_parameter", "shovel", "move-"+queue, fmt.Sprintf(`{"src-uri": "amqp://mover:secret@%s", "src-queue": %q, "src-predeclared": true,
			"dest-uri": "amqp://", "dest-queue": %q, "dest-predeclared": true, "src-consumer-args": {"x-priority": -10}, "reconnect-delay": 1}`, old.amqp, queue, queue))
	}
	eventually(t, "messages come", func() bool { return b.holds("orders") > 500 })
	b.kill()
	b = startIn(t, dir)
	eventually(t, "messages come again", func() bool { return b.holds("orders") > moved["orders"] })
	m.to(b.amqp)
	source := dialTo(t, old.amqp, amqp.Config{})
	eventually(t, "the old queues have nothing ready", func() bool { return source.ready() == 0 }) // ctl takes seconds on a busy machine
	eventually(t, "the old queues are empty", func() bool {
		for _, line := range strings.Split(strings.TrimSpace(old.ctl("list_queues", "name", "messages", "--no-table-headers")), "\n") {
			if !strings.HasSuffix(line, "\t0") {
				return false
			}
		}
		return true
	})
	if status := b.verb(0, "shovel_status"); strings.Contains(status, "secret") || strings.Count(status, "running") != len(moved) {
		t.Error(status)
	}
	for queue := range moved {
		b.verb(0, "delete_shovel", "move-"+queue)
	}
	stop()
	<-published
	b.hasAll(m.sent)
}

// holds returns the number of messages in a queue.
func (b *broker) holds(queue string) int {
	b.Helper()
	var q struct{ Messages int }
	if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F/"+queue, "", 200)), &q); err != nil {
		b.Fatal(err)
	}
	return q.Messages
}

// hasAll consumes the queues and checks that they have all messages from before the move, unchanged, and all published since.
func (b *broker) hasAll(live int) {
	b.Helper()
	c := b.dial()
	for queue, count := range moved {
		seen, twice, last := map[string]bool{}, 0, uint8(9)
		for {
			d, there, err := c.Get(queue, true)
			if c.must(err); !there {
				break
			}
			if seen[string(d.Body)] {
				twice++
			}
			seen[string(d.Body)] = true
			b.asItWas(queue, &d, &last)
		}
		for n := range count {
			of, number := queue, n
			switch queue {
			case "dead":
				of = "orders"
			case "orders":
				number += moved["dead"]
			}
			if name := fmt.Sprint(of, " ", number); !seen[name] {
				b.Errorf("%s: %q is lost", queue, name)
			}
		}
		for n := range live {
			if name := fmt.Sprint("live ", n); queue == "orders" && !seen[name] {
				b.Errorf("%q is lost", name)
			}
		}
		b.Logf("%s: %d messages, %d of them twice", queue, len(seen), twice)
	}
}

// asItWas checks the properties that a message must keep.
func (b *broker) asItWas(queue string, d *amqp.Delivery, last *uint8) {
	b.Helper()
	if strings.HasPrefix(string(d.Body), "live") {
		return
	}
	if d.DeliveryMode != 2 || d.Headers["of"] != "old" || fmt.Sprint(d.Headers["list"]) != "[a true]" {
		b.Errorf("%s: %+v", queue, d)
	}
	deaths, _ := d.Headers["x-death"].([]any)
	switch {
	case queue == "jobs" && d.Priority > *last:
		b.Errorf("priority %d behind %d", d.Priority, *last)
	case queue == "mail" && d.Expiration != "43200000":
		b.Errorf("expiration %q", d.Expiration)
	case queue == "dead" && (len(deaths) != 1 || deaths[0].(amqp.Table)["reason"] != "rejected"):
		b.Errorf("deaths %v", deaths)
	}
	*last = d.Priority
}
