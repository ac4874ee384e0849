package integration

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// source is a durable queue or exchange whose messages must arrive in other queues.
type source struct {
	kind, source string
	exchange     string // the exchange that holds the messages, "" if the source is a queue
	delays       bool
	targets      []string
	deaths       string // queues and reasons of x-death, newest first
}

// publishing returns a message for the source.
func (g *source) publishing(n int) amqp.Publishing {
	p := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(strconv.Itoa(n))}
	if g.delays {
		p.Headers = amqp.Table{"x-delay": 20 + n%700}
	}
	return p
}

// args returns the arguments of a queue of the source's kind with a dead-letter exchange.
func (g *source) args(exchange, key string, ttl int) amqp.Table {
	t := amqp.Table{"x-queue-type": g.kind, "x-dead-letter-exchange": exchange}
	if key != "" {
		t["x-dead-letter-routing-key"] = key
	}
	if ttl > 0 {
		t["x-message-ttl"] = ttl
	}
	if g.kind == "quorum" {
		t["x-dead-letter-strategy"], t["x-overflow"] = "at-least-once", "reject-publish"
		t["x-delivery-limit"] = -1
	}
	return t
}

// sources record confirmed messages and check the targets.
type sources struct {
	*testing.T
	dir       string // of the broker
	list      []*source
	mu        sync.Mutex
	next      int
	confirmed map[string]map[string]bool // bodies by source
	doubles   int
}

// dig declares, for one queue type, a chain of three queues, a queue all of whose messages are rejected, one that dead-letters to
// two queues, an exchange and a queue with delays, a queue that forwards, one with a dead-letter queue of its own, and for quorum
// queues one whose dead-letter exchange does not exist yet.
func (y *sources) dig(c *client, kind string) {
	declare := func(name string, args amqp.Table) string {
		_, err := c.QueueDeclare(name, true, false, false, false, args)
		c.must(err)
		return name
	}
	plain := amqp.Table{"x-queue-type": kind}
	k := kind + "-"
	add := func(g source, exchange, key string, ttl int) {
		g.kind, g.source = kind, k+g.source
		g.deaths = strings.ReplaceAll(g.deaths, "~", k)
		declare(g.source, g.args(exchange, key, ttl))
		y.list = append(y.list, &g)
	}
	c.must(c.ExchangeDeclare(k+"both", "fanout", true, false, false, false, nil))
	for _, q := range []string{"left", "right"} {
		c.must(c.QueueBind(declare(k+q, plain), "", k+"both", false, nil))
	}
	c.must(c.ExchangeDeclare(k+"held", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "direct"}))
	c.must(c.QueueBind(declare(k+"released", plain), k+"delay", k+"held", false, nil))
	declare(k+"scheduled", amqp.Table{"x-queue-type": kind, "x-delayed-messages": true})
	c.must(c.ExchangeDeclare(k+"next", "fanout", true, false, false, false, nil))
	c.must(c.QueueBind(declare(k+"moved", plain), "", k+"next", false, nil))
	declare(k+"moves", amqp.Table{"x-queue-type": kind, "x-forward-to": k + "next"})
	declare(k+"own", amqp.Table{"x-queue-type": kind, "x-dead-letter-queue": true, "x-message-ttl": 70})
	y.list = append(y.list,
		&source{kind: kind, source: k + "delay", exchange: k + "held", delays: true, targets: []string{k + "released"}},
		&source{kind: kind, source: k + "scheduled", delays: true, targets: []string{k + "scheduled"}},
		&source{kind: kind, source: k + "moves", targets: []string{k + "moved"}},
		&source{kind: kind, source: k + "own", targets: []string{k + "own.dlq"}, deaths: k + "own expired"},
	)
	g := source{kind: kind}
	declare(k+"b", g.args("", k+"c", 40))
	add(source{source: "a", targets: []string{declare(k+"c", plain)}, deaths: "~b expired, ~a expired"}, "", k+"b", 60)
	add(source{source: "rejects", targets: []string{declare(k+"rejected", plain)}, deaths: "~rejects rejected"}, "", k+"rejected", 0)
	add(source{source: "forks", targets: []string{k + "left", k + "right"}, deaths: "~forks expired"}, k+"both", "", 50)
	if kind == "quorum" {
		add(source{source: "waits", targets: []string{declare(k+"late", plain)}, deaths: "~waits expired"}, "late", "", 30)
	}
}

// fill publishes to all sources in turn until the connection ends.
func (y *sources) fill(c *client) {
	type sent struct {
		source, body string
		confirm      *amqp.DeferredConfirmation
	}
	var window []sent
	settle := func(s sent) bool {
		if !s.confirm.Wait() {
			return false
		}
		y.mu.Lock()
		defer y.mu.Unlock()
		y.confirmed[s.source][s.body] = true
		return true
	}
	for {
		y.mu.Lock()
		y.next++
		n := y.next
		y.mu.Unlock()
		g := y.list[n%len(y.list)]
		s := sent{g.source, strconv.Itoa(n), nil}
		var err error
		s.confirm, err = c.PublishWithDeferredConfirm(g.exchange, g.source, false, false, g.publishing(n))
		if err != nil {
			break
		}
		if window = append(window, s); len(window) < 150 {
			continue
		}
		if !settle(window[0]) {
			break
		}
		window = window[1:]
	}
	for _, s := range window { // the received confirms count
		settle(s)
	}
}

// reject rejects all messages of a queue one by one, or some of them by multiple nacks, which leaves the last ones to a later
// call.
func reject(c *client, queue string, one bool) {
	if c.Qos(100, 0, false) != nil {
		return
	}
	deliveries, err := c.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return
	}
	for d := range deliveries {
		if n := d.DeliveryTag % 50; n < 20 || one {
			err = d.Reject(false)
		} else if n == 49 {
			err = d.Nack(true, false)
		}
		if err != nil {
			return
		}
	}
}

// round runs clients until the broker is killed, or sometimes stopped.
func (y *sources) round(b *broker, length time.Duration, end func()) {
	var working sync.WaitGroup
	for range 2 {
		c := b.dial()
		working.Go(func() { y.fill(c) })
	}
	for _, kind := range []string{"classic", "quorum"} {
		c := b.dial()
		working.Go(func() { reject(c, kind+"-rejects", false) })
	}
	<-time.After(length) // chosen by the test
	end()
	working.Wait()
}

// check receives the messages of a target until all confirmed ones have arrived.
func (y *sources) check(c *client, g *source, target string) {
	c.must(c.Qos(1000, 0, false))
	deliveries := c.consume(target, false)
	missing := map[string]bool{}
	for body := range y.confirmed[g.source] {
		missing[body] = true
	}
	seen := map[string]int{}
	for len(missing) > 0 {
		select {
		case d := <-deliveries:
			body := string(d.Body)
			if seen[body]++; seen[body] > 1 {
				y.doubles++
			}
			delete(missing, body)
			if got := deathsOf(d.Headers); got != g.deaths {
				y.Errorf("%s: %s died as %q, want %q", target, body, got, g.deaths)
				return
			}
			if n, _ := strconv.Atoi(body); n == 0 || y.list[n%len(y.list)] != g {
				y.Errorf("%s: %q has no business there", target, body)
			}
			_ = d.Ack(false)
		case <-time.After(patience):
			y.Errorf("%s: %d of %d confirmed messages are lost", target, len(missing), len(y.confirmed[g.source]))
			return
		}
	}
	y.Logf("%s: %d confirmed, %d came", target, len(y.confirmed[g.source]), len(seen))
	go func() {
		for d := range deliveries { // unconfirmed messages and duplicates
			_ = d.Ack(false)
		}
	}()
}

// deathsOf returns a short form of x-death.
func deathsOf(h amqp.Table) string {
	var all []string
	deaths, _ := h["x-death"].([]any)
	for _, d := range deaths {
		t, _ := d.(amqp.Table)
		all = append(all, fmt.Sprint(t["queue"], " ", t["reason"]))
	}
	return strings.Join(all, ", ")
}

// Messages expire and are rejected while the broker is killed repeatedly: every confirmed message finally arrives in every
// target, with the right deaths. Some may be duplicated (DL-30, DL-31). Delayed messages (DLY-3, DLY-14) and forwarded ones
// arrive, too.
func TestDeadLettersAcrossCrashes(t *testing.T) {
	t.Parallel()
	y, b, r := declareSources(t)
	for range *crashRounds {
		end, flags := b.kill, []string{}
		if r.IntN(4) == 0 {
			end = b.stop
		}
		if r.IntN(3) == 0 { // so low that contents are paged out and publishers are blocked
			flags = []string{"--memory-high-watermark", "30MB"}
		}
		y.round(b, time.Duration(200+r.IntN(500))*time.Millisecond, end)
		b = startIn(t, y.dir, flags...)
	}
	y.account(b)
}

// A start that was killed at any point has no effect on the next start.
func TestKilledWhileStarting(t *testing.T) {
	t.Parallel()
	y, b, r := declareSources(t)
	y.round(b, 800*time.Millisecond, b.kill)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 * *crashRounds {
		cmd := exec.CommandContext(t.Context(), path, "serve", "--amqp", "127.0.0.1:0", "--http", "", "--data-dir", y.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(r.IntN(100)) * time.Millisecond) // chosen by the test
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	y.account(startIn(t, y.dir))
}

// declareSources starts a broker and declares the sources, with a logged seed.
func declareSources(t *testing.T) (*sources, *broker, *rand.Rand) {
	t.Helper()
	random := rand.New(rand.NewPCG(loggedSeed(t), 2))
	y := &sources{T: t, dir: filepath.Join(t.TempDir(), "data"), confirmed: map[string]map[string]bool{}}
	b := startIn(t, y.dir)
	c := b.dial()
	y.dig(c, "classic")
	y.dig(c, "quorum")
	for _, g := range y.list {
		y.confirmed[g.source] = map[string]bool{}
	}
	return y, b, random
}

// account receives all messages of the last broker.
func (y *sources) account(b *broker) {
	y.Helper()
	c := b.dial()
	c.must(c.ExchangeDeclare("late", "fanout", true, false, false, false, nil))
	c.must(c.QueueBind("quorum-late", "", "late", false, nil))
	for _, kind := range []string{"classic", "quorum"} {
		c := b.dial()
		go reject(c, kind+"-rejects", true)
	}
	for _, g := range y.list {
		for _, target := range g.targets {
			y.check(b.dial(), g, target)
		}
	}
	y.Logf("%d came twice", y.doubles)
	for _, kind := range []string{"classic-", "quorum-"} {
		for _, q := range []string{"a", "b", "rejects", "forks", "moves", "own", "c", "rejected", "left", "right"} {
			eventually(y.T, kind+q+" to be empty", func() bool {
				info, err := c.QueueDeclarePassive(kind+q, true, false, false, false, nil)
				c.must(err)
				return info.Messages == 0
			})
		}
	}
}
