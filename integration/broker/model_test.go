package broker

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	seedFlag = flag.Uint64("seed", 0, "of the random tests; 0 for any")
	runsFlag = flag.Int("runs", 12, "of the random tests, each with a seed of its own")
)

// model is a queue with a dead-letter queue, in the simplest form: a list, searched from the front. Times are in ms.
type model struct {
	now         int64
	ttl, length int64 // of the queue, -1 for none
	priorities  uint8 // highest priority
	common      int   // shared prefetch limit of all consumers that acknowledge, 0 for none
	all         []*entry
	takers      []*taker
	given       []*entry // dispatched to consumers; the broker chooses which of them gets a message
	dead        []string // body and reason, in the order of death
	atOnce      bool     // several requeued messages died at once, in any order
}

type entry struct {
	body        string
	priority    uint8
	deadline    int64 // 1<<62 for none
	held        bool
	by          *taker // the consumer that holds it, nil for a get
	redelivered bool
}

// taker is a consumer.
type taker struct {
	tag                string
	prefetch, priority int
	noAck, gone        bool
	got                <-chan amqp.Delivery
}

func (m *model) kill(e *entry, reason string) {
	m.all = slices.DeleteFunc(m.all, func(x *entry) bool { return x == e })
	m.dead = append(m.dead, e.body+" "+reason)
}

// due returns the ready message that expires next, the first one of equal deadlines.
func (m *model) due() (next *entry) {
	for _, e := range m.all {
		if !e.held && e.deadline <= m.now && (next == nil || e.deadline < next.deadline) {
			next = e
		}
	}
	return next
}

// advance advances the time; due messages expire in the order of deadlines.
func (m *model) advance(ms int64) {
	m.now += ms
	for e := m.due(); e != nil; e = m.due() {
		m.kill(e, "expired")
	}
}

// ready returns the messages that nobody holds, the highest priority first.
func (m *model) ready() (ready []*entry) {
	for _, e := range m.all {
		if !e.held {
			ready = append(ready, e)
		}
	}
	slices.SortStableFunc(ready, func(a, b *entry) int { return int(b.priority) - int(a.priority) })
	return ready
}

func (m *model) limit() {
	for r := m.ready(); m.length >= 0 && int64(len(r)) > m.length; r = m.ready() {
		m.kill(r[0], "maxlen")
	}
}

// holds counts the messages held by consumers, cancelled ones too, or by one consumer.
func (m *model) holds(t *taker) (n int) {
	for _, e := range m.all {
		if e.held && e.by != nil && (t == nil || e.by == t) {
			n++
		}
	}
	return n
}

// room returns how many messages consumers can take.
func (m *model) room() (n int) {
	for _, t := range m.takers {
		switch {
		case t.noAck:
			return 1 << 30
		case t.prefetch == 0:
			n = 1 << 20
		default:
			n += max(0, t.prefetch-m.holds(t))
		}
	}
	if m.common > 0 {
		n = min(n, max(0, m.common-m.holds(nil)))
	}
	return n - len(m.given)
}

// dispatch dispatches ready messages to consumers with room.
func (m *model) dispatch() {
	for _, e := range m.ready() {
		if m.room() <= 0 {
			return
		}
		e.held = true
		m.given = append(m.given, e)
	}
}

func (m *model) publish(body string, ttl int64, priority uint8) {
	if m.ttl >= 0 && (ttl < 0 || m.ttl < ttl) {
		ttl = m.ttl
	}
	e := &entry{body: body, deadline: 1 << 62, priority: min(priority, m.priorities)}
	if ttl >= 0 {
		e.deadline = m.now + ttl
	}
	m.all = append(m.all, e)
	if m.room() > 0 { // no message is waiting then
		e.held = true
		m.given = append(m.given, e)
		return
	}
	m.advance(0)
	m.limit()
	m.dispatch()
}

// requeue returns messages to their positions; messages past their deadline expire.
func (m *model) requeue(back []*entry) {
	for _, e := range back {
		e.held, e.by, e.redelivered = false, nil, true
		if e.deadline <= m.now {
			m.kill(e, "expired")
		}
	}
	m.limit()
	m.dispatch()
}

// twin is the broker's queue beside its model.
type twin struct {
	*testkit.Bubble
	model
	client *testkit.Client
	ch     *testkit.Channel
	held   []holding // by delivery tag
	// for consumers started later
	prefetch int
	rand     *rand.Rand
	serial   int
	story    []string
}

type holding struct {
	*entry
	tag uint64
}

// TestModel runs random commands against the broker and the model. Run it again with -seed to reproduce a failure.
func TestModel(t *testing.T) {
	runs := *runsFlag
	if *seedFlag != 0 {
		runs = 1
	}
	for range runs {
		seed := *seedFlag
		if seed == 0 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				w := &twin{Bubble: b, rand: rand.New(rand.NewPCG(seed, 0)), client: b.Connect()}
				w.model.ttl, w.model.length = w.either(500), w.either(20)
				w.ch = w.client.Open()
				w.ch.Declare("dead", nil)
				args := deadTo("dead")
				if w.model.ttl >= 0 {
					args["x-message-ttl"] = w.model.ttl
				}
				if w.model.length >= 0 {
					args["x-max-length"] = w.model.length
				}
				if w.rand.IntN(2) == 0 {
					w.model.priorities = 3
					args["x-max-priority"] = 3
				}
				w.ch.Declare("q", args)
				w.step(0)
				for range 300 {
					w.command()
					w.compare()
				}
			})
		})
	}
}

// either returns a random number up to n, or -1.
func (w *twin) either(n int64) int64 {
	if w.rand.IntN(2) == 0 {
		return -1
	}
	return w.rand.Int64N(n)
}

func (w *twin) step(ms int64) {
	w.Advance(time.Duration(ms) * time.Millisecond)
	w.model.advance(ms)
}

func (w *twin) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%6d ", w.model.now)+fmt.Sprintf(format, args...))
}

func (w *twin) command() {
	switch n := w.rand.IntN(100); {
	case n < 40:
		w.publishSome()
	case n < 54:
		w.get(w.rand.IntN(4) == 0)
	case n < 74:
		w.settle()
	case n < 78:
		w.consume()
	case n < 82:
		w.cancel()
	case n < 84:
		w.shareLimit()
	case n < 96:
		ms := 1 + w.rand.Int64N(60)
		w.note("advance %d", ms)
		w.step(ms)
	case n < 98:
		w.note("purge")
		count, err := w.ch.QueuePurge("q", false)
		if ready := w.model.ready(); err != nil || count != len(ready) {
			w.fail("purged %d, %v, want %d", count, err, len(ready))
		}
		w.model.all = slices.DeleteFunc(w.model.all, func(e *entry) bool { return !e.held })
	default:
		w.leave()
	}
	w.receive()
}

// consume starts a consumer. Setting a prefetch removes the shared limit.
func (w *twin) consume() {
	if len(w.takers) == 4 {
		return
	}
	w.serial++
	t := &taker{tag: fmt.Sprint("c", w.serial), noAck: w.rand.IntN(8) == 0, prefetch: w.rand.IntN(4), priority: w.rand.IntN(3) - 1}
	w.note("consume %+v", *t)
	var err error
	if w.model.common == 0 || w.rand.IntN(2) == 0 {
		err = w.ch.Qos(t.prefetch, 0, false)
		w.model.common = 0
		w.model.dispatch()
		w.receive()
		w.prefetch = t.prefetch
	}
	t.prefetch = w.prefetch
	if err == nil {
		t.got, err = w.ch.Consume("q", t.tag, t.noAck, false, false, false, amqp.Table{"x-priority": t.priority})
	}
	if err != nil {
		w.fail("consume: %v", err)
	}
	w.takers = append(w.takers, t)
	w.model.dispatch()
}

// cancel cancels a consumer; its unacked messages stay with the channel.
func (w *twin) cancel() {
	if len(w.takers) == 0 {
		return
	}
	i := w.rand.IntN(len(w.takers))
	t := w.takers[i]
	w.note("cancel %s", t.tag)
	if err := w.ch.Cancel(t.tag, false); err != nil {
		w.fail("cancel: %v", err)
	}
	t.gone = true
	w.takers = slices.Delete(w.takers, i, i+1)
}

// shareLimit sets, changes or removes the shared limit of all consumers.
func (w *twin) shareLimit() {
	n := w.rand.IntN(5)
	w.note("common limit %d", n)
	if err := w.ch.Qos(n, 0, true); err != nil {
		w.fail("qos: %v", err)
	}
	w.model.common = n
	w.model.dispatch()
}

// receive receives the deliveries of consumers. The broker chooses the consumer of a message, but never exceeds its prefetch or
// passes over one of higher priority that had room (consumers without acknowledgements may be served before others only while
// there is no shared limit).
func (w *twin) receive() {
	lowest := 1 << 30
	for _, t := range w.takers {
		at := -1 // index in m.given
		for d, ok := w.next(t); ok; d, ok = w.next(t) {
			if !t.noAck || w.model.common == 0 {
				lowest = min(lowest, t.priority)
			}
			i := slices.IndexFunc(w.given, func(e *entry) bool { return e.body == string(d.Body) })
			if i <= at || w.given[i].redelivered != d.Redelivered {
				w.fail("%s got %s, redelivered %v, out of order or not to be had", t.tag, d.Body, d.Redelivered)
			}
			at = i
			e := w.given[i]
			if e.by = t; t.noAck {
				w.drop(e)
				continue
			}
			w.held = append(w.held, holding{e, d.DeliveryTag})
		}
	}
	for _, e := range w.given {
		if e.by == nil {
			w.fail("nobody got %s", e.body)
		}
	}
	w.given = nil
	slices.SortFunc(w.held, func(a, b holding) int { return cmp.Compare(a.tag, b.tag) })
	full := w.model.common > 0 && w.holds(nil) >= w.model.common
	for _, t := range w.takers {
		n := w.holds(t)
		if t.prefetch > 0 && n > t.prefetch && !t.noAck {
			w.fail("%s holds %d of %d", t.tag, n, t.prefetch)
		}
		if t.priority > lowest && (t.noAck || !full && (t.prefetch == 0 || n < t.prefetch)) {
			w.fail("%s was passed over", t.tag)
		}
	}
}

func (w *twin) next(t *taker) (amqp.Delivery, bool) {
	synctest.Wait()
	select {
	case d, ok := <-t.got:
		return d, ok
	default:
		return amqp.Delivery{}, false
	}
}

func (w *twin) drop(done ...*entry) {
	w.model.all = slices.DeleteFunc(w.model.all, func(x *entry) bool { return slices.Contains(done, x) })
}

func (w *twin) publishSome() {
	for range 1 + w.rand.IntN(4) {
		w.serial++
		m, ttl := testkit.Text(strconv.Itoa(w.serial)), int64(-1)
		if w.rand.IntN(3) > 0 {
			ttl = w.rand.Int64N(200)
			m.Expiration = strconv.FormatInt(ttl, 10)
		}
		m.Priority = uint8(w.rand.IntN(5))
		w.note("publish %s ttl %d priority %d", m.Body, ttl, m.Priority)
		w.ch.Send("", "q", m)
		w.model.publish(string(m.Body), ttl, m.Priority)
		w.receive()
	}
}

func (w *twin) get(noAck bool) {
	w.note("get noack=%v", noAck)
	d, ok, err := w.ch.Get("q", noAck)
	ready := w.model.ready()
	if err != nil || ok != (len(ready) > 0) {
		w.fail("get: %v, %v, want %d ready", ok, err, len(ready))
	}
	if !ok {
		return
	}
	e := ready[0]
	if string(d.Body) != e.body || d.Redelivered != e.redelivered || int(d.MessageCount) != len(ready)-1 {
		w.fail("got %s redelivered %v and %d left, want %s %v %d", d.Body, d.Redelivered, d.MessageCount, e.body, e.redelivered, len(ready)-1)
	}
	if e.held = true; noAck {
		w.drop(e)
		return
	}
	w.held = append(w.held, holding{e, d.DeliveryTag})
}

// settle acknowledges, requeues or rejects one held message, or all up to it.
func (w *twin) settle() {
	if len(w.held) == 0 {
		return
	}
	i, multiple, how := w.rand.IntN(len(w.held)), w.rand.IntN(3) == 0, w.rand.IntN(3)
	tag, first := w.held[i].tag, i
	if multiple {
		first = 0
	}
	var done []*entry
	for _, h := range w.held[first : i+1] {
		done = append(done, h.entry)
	}
	w.held = slices.Delete(w.held, first, i+1)
	w.note("%s %d messages from %s", []string{"ack", "requeue", "reject"}[how], len(done), done[0].body)
	var err error
	switch how {
	case 0:
		err = w.ch.Ack(tag, multiple)
		w.drop(done...)
		w.model.dispatch()
	case 1:
		err = w.ch.Nack(tag, multiple, true)
		w.model.requeue(done)
	case 2:
		err = w.ch.Nack(tag, multiple, false)
		for _, e := range done {
			w.model.kill(e, "rejected")
		}
		w.model.dispatch()
	}
	if err != nil {
		w.fail("settle: %v", err)
	}
}

// leave closes the channel in one of several ways; its unacked messages are requeued.
func (w *twin) leave() {
	w.note("leave")
	switch w.rand.IntN(3) {
	case 0:
		_ = w.ch.Close()
	case 1:
		w.client.Leave()
		w.client = w.Connect()
	case 2:
		w.client.Cut()
		w.client = w.Connect()
	}
	synctest.Wait()
	w.ch = w.client.Open()
	w.takers, w.prefetch, w.model.common = nil, 0, 0
	var back []*entry
	for _, h := range w.held {
		back = append(back, h.entry)
	}
	w.held = nil
	w.model.atOnce = true
	w.model.requeue(back)
}

// compare compares the queue with the model and empties the dead-letter queue.
func (w *twin) compare() {
	info := w.Describe("q")
	if ready := len(w.model.ready()); info.Ready != ready || info.Unacked != len(w.held) {
		w.fail("%d ready, %d unacked, want %d, %d", info.Ready, info.Unacked, ready, len(w.held))
	}
	var dead []string
	for d := w.ch.Fetch("dead"); d != nil; d = w.ch.Fetch("dead") {
		death := d.Headers["x-death"].([]any)[0].(amqp.Table)
		dead = append(dead, fmt.Sprintf("%s %s", d.Body, death["reason"]))
	}
	if w.model.atOnce {
		slices.Sort(dead)
		slices.Sort(w.model.dead)
	}
	if !slices.Equal(dead, w.model.dead) {
		w.fail("dead: %q, want %q", dead, w.model.dead)
	}
	w.model.dead, w.model.atOnce = nil, false
}

func (w *twin) fail(format string, args ...any) {
	w.Helper()
	w.Log.Allow("")
	w.T.Logf("the last commands:\n%s", strings.Join(w.story[max(0, len(w.story)-40):], "\n"))
	w.Fatalf(format, args...)
}
