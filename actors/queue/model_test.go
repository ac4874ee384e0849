package queue

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

var seedFlag = flag.Uint64("seed", 0, "of the random tests, 0 for new ones")

// seeded runs a test with n seeds, from the given one or at random.
func seeded(t *testing.T, n int, test func(t *testing.T, seed uint64)) {
	for i := range uint64(n) {
		seed := *seedFlag + i
		if *seedFlag == 0 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { test(t, seed) })
	}
}

// entry is a message of the model.
type entry struct {
	body       string
	order      int
	priority   uint8
	deadline   int64
	persistent bool
	came       bool // returned at least once
	deferred   bool
	taker      *taker
	gone       bool
}

// taker is a consumer or, without a tag, the gets of a channel.
type taker struct {
	channel           mail.Address
	tag               string
	prefetch, unacked int
	noAck             bool
	priority          int8
}

func (t *taker) full() bool { return t.prefetch > 0 && t.unacked == t.prefetch }

// model is a simple implementation of a queue with lists.
type model struct {
	*core
	r           *rand.Rand
	all         map[string]*entry // by body; ended messages stay
	waiting     []*entry          // ready, in order; some may be past their deadlines and not expired yet
	held        map[string]map[uint64]*entry
	used        map[string]map[uint64]bool // delivery numbers, by channel
	takers      []*taker
	sole        *taker          // the single active consumer
	away        []*entry        // deferred and not locked; some may be past their deadlines and not expired yet
	locked      []*entry        // deferred, and received by a channel that has ended; their locks end in drain (LOCK-10, LOCK-11)
	given       []*entry        // to be delivered in this turn, in order
	deadLetters map[string]bool // to be dead-lettered in this turn, by reason and body
	max         int             // maximum number of ready messages, -1 for no limit
	published   int
	paged       int    // paged-out messages, summed over all turns
	crowded     int    // turns under pressure that left messages waiting
	what        string // the last command
}

func (m *model) due(e *entry) bool { return e.deadline <= m.now.Floor() }

// living returns the ready messages before their deadlines.
func (m *model) living() []*entry { return slices.DeleteFunc(slices.Clone(m.waiting), m.due) }

// visible returns the messages that count after an expiry scan: in strict mode it ends at the first one before its deadline
// (TTL-18).
func (m *model) visible() []*entry {
	if !m.Settings.StrictExpiry {
		return m.living()
	}
	i := slices.IndexFunc(m.waiting, func(e *entry) bool { return !m.due(e) })
	if i < 0 {
		return nil
	}
	return slices.Clone(m.waiting[i:])
}

// active returns the takers that may get messages: all, or the single active one if it is still there, otherwise the first of the
// highest priority.
func (m *model) active() []*taker {
	if !m.Settings.SingleActiveConsumer || len(m.takers) == 0 {
		return m.takers
	}
	if !slices.Contains(m.takers, m.sole) {
		m.sole = slices.MaxFunc(m.takers, func(a, b *taker) int { return cmp.Compare(a.priority, b.priority) })
	}
	return []*taker{m.sole}
}

func (m *model) capacity() int {
	n := 0
	for _, t := range m.active() {
		if t.prefetch == 0 {
			return 1 << 30
		}
		n += t.prefetch - t.unacked
	}
	return n
}

func (m *model) insert(e *entry) {
	m.waiting = append(m.waiting, e)
	slices.SortFunc(m.waiting, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.order, b.order))
	})
}

func (m *model) leave(e *entry) {
	m.waiting = slices.DeleteFunc(m.waiting, func(x *entry) bool { return x == e })
}

func (m *model) die(reason string, e *entry) {
	m.leave(e)
	m.away = slices.DeleteFunc(m.away, func(x *entry) bool { return x == e })
	m.deadLetters[reason+" "+e.body] = true
}

// enforce drops messages from the head while the limit is exceeded.
func (m *model) enforce() {
	for living := m.living(); m.max >= 0 && len(living) > m.max; living = living[1:] {
		m.die("maxlen", living[0])
	}
}

// dispatch assigns ready messages to consumers with room.
func (m *model) dispatch() {
	for _, e := range m.living() {
		if len(m.given) == m.capacity() {
			return
		}
		m.leave(e)
		m.given = append(m.given, e)
	}
}

func (m *model) publish() {
	batch := make([]message.Message, 1+m.r.IntN(5))
	for i := range batch {
		own := []int64{-1, -1, 0, 1, m.r.Int64N(100), m.r.Int64N(20)}[m.r.IntN(6)]
		m.published++
		x := msg(strconv.Itoa(m.published), own)
		setPersistent(&x, m.r.IntN(2) == 0)
		x.Priority, x.Owned = uint8(m.r.IntN(6)), m.r.IntN(2) == 0
		batch[i] = x
		e := &entry{
			body: string(x.Body), order: m.published, priority: m.Settings.PriorityOf(x.Priority),
			deadline: store.Never, persistent: x.Persistent(),
		}
		m.all[e.body] = e
		ttl := own
		if q := m.Settings.MessageTTL; q >= 0 && (ttl < 0 || q < ttl) {
			ttl = q
		}
		switch {
		case ttl == 0:
			e.deadline = m.now.Floor()
		case ttl > 0:
			e.deadline = m.now.Ceil() + ttl
		}
		switch {
		case len(m.living()) == 0 && len(m.given) < m.capacity():
			m.given = append(m.given, e)
		case ttl == 0:
			m.die("expired", e)
		default:
			m.insert(e)
		}
	}
	m.enforce()
	m.core.publish(batch...)
}

func (m *model) get() {
	ch := m.channel()
	r := m.core.get(ch)
	there := m.visible()
	if r.Empty != (len(there) == 0) {
		m.fail("get: empty is %v with %d ready", r.Empty, len(there))
	}
	if r.Empty {
		return
	}
	m.leave(there[0])
	m.took(there[0], &taker{channel: ch}, r.Delivery)
	if left := len(m.visible()); r.MessageCount != left {
		m.fail("get: %d left, want %d", r.MessageCount, left)
	}
}

// took checks one delivery of e.
func (m *model) took(e *entry, by *taker, d mail.Delivery) {
	if text(d) != e.body+map[bool]string{true: "*"}[e.came] {
		m.fail("delivered %s, want %s (came back: %v)", text(d), e.body, e.came)
	}
	if by.noAck {
		e.gone = true
		return
	}
	ch := by.channel.GetId()
	if m.held[ch] == nil {
		m.held[ch], m.used[ch] = map[uint64]*entry{}, map[uint64]bool{}
	}
	if m.used[ch][d.Number] || d.Number == 0 {
		m.fail("number %d again", d.Number)
	}
	m.used[ch][d.Number], m.held[ch][d.Number] = true, e
	e.taker = by
	by.unacked++
}

func (m *model) channel() mail.Address { return []mail.Address{ch1, ch2}[m.r.IntN(2)] }

func (m *model) consume() {
	if len(m.takers) == 4 {
		return
	}
	t := &taker{channel: m.channel(), tag: fmt.Sprint("c", m.r.Uint32()), prefetch: 1 + m.r.IntN(4), noAck: m.r.IntN(8) == 0, priority: int8(m.r.IntN(3))}
	if t.noAck {
		t.prefetch = 0
	}
	m.takers = append(m.takers, t)
	m.dispatch()
	m.core.consume(t.channel, t.tag, t.prefetch, func(c *mail.Consume) { c.NoAck = t.noAck }, priority(t.priority))
}

func (m *model) cancel() {
	if len(m.takers) == 0 {
		return
	}
	i := m.r.IntN(len(m.takers))
	t := m.takers[i]
	m.takers = slices.Delete(m.takers, i, i+1)
	m.dispatch()
	m.feed(&mail.CancelConsumer{Channel: t.channel, Tag: t.tag})
}

// giveBack returns e to its position.
func (m *model) giveBack(e *entry) {
	e.came = true
	if m.due(e) {
		m.die("expired", e)
		return
	}
	if e.deferred {
		m.away = append(m.away, e)
		return
	}
	m.insert(e)
}

// settlements are the ones used by consumers.
var settlements = []mail.Settlement{mail.Ack, mail.Requeue, mail.Release, mail.Reject, mail.Defer, mail.Discard}

func (m *model) settle() {
	ch := m.channel()
	s := &mail.Settle{Channel: ch}
	for range 1 + m.r.IntN(3) {
		from := 1 + m.r.Uint64N(uint64(len(m.used[ch.GetId()]))+1)
		how := settlements[m.r.IntN(len(settlements))]
		r := mail.SettleRange{First: from, Last: from + m.r.Uint64N(4), How: how}
		s.Ranges = append(s.Ranges, r)
		for n := r.First; n <= r.Last; n++ {
			e := m.held[ch.GetId()][n]
			if e == nil {
				continue
			}
			delete(m.held[ch.GetId()], n)
			e.taker.unacked--
			switch how {
			case mail.Ack:
				e.gone = true
			case mail.Defer:
				e.deferred = true
				m.giveBack(e)
			case mail.Requeue, mail.Release:
				m.giveBack(e)
			case mail.Reject, mail.Discard:
				m.die("rejected", e)
			case mail.PutBack, mail.Leave, mail.ToDeadLetters: // only for moves, links whose locks outlive them, and Service Bus
			}
		}
	}
	m.enforce()
	m.dispatch()
	m.feed(s)
}

// lock removes the deferred messages from an ending channel: they stay locked.
func (m *model) lock(ch mail.Address) {
	for n, e := range m.held[ch.GetId()] {
		if e.deferred {
			delete(m.held[ch.GetId()], n)
			m.locked = append(m.locked, e)
		}
	}
}

func (m *model) channelGone() {
	ch := m.channel()
	m.takers = slices.DeleteFunc(m.takers, func(t *taker) bool { return t.channel == ch })
	m.lock(ch)
	for _, e := range m.held[ch.GetId()] {
		m.giveBack(e)
	}
	delete(m.held, ch.GetId())
	delete(m.used, ch.GetId())
	m.enforce()
	m.dispatch()
	m.feed(&mail.ChannelGone{Channel: ch})
}

func (m *model) purge() {
	there := m.visible()
	for _, e := range slices.Clone(m.away) {
		if m.due(e) {
			m.die("expired", e)
		} else {
			there = append(there, e)
		}
	}
	m.away = nil
	m.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if n := one[*mail.PurgeReply](m.core).MessageCount; n != len(there) {
		m.fail("purged %d, want %d", n, len(there))
	}
	for _, e := range there {
		m.leave(e)
		e.gone = true
	}
}

func (m *model) configure() {
	s := m.Settings
	s.MessageTTL = []int64{-1, -1, 0, 5, 50}[m.r.IntN(5)]
	m.feed(&mail.Configure{Settings: s})
}

// pass lets time pass, with the timer on time or late.
func (m *model) pass() {
	by := m.r.Int64N(30_000)
	if m.r.IntN(2) == 0 {
		m.now += clock.Instant(by * int64(time.Microsecond))
		return
	}
	m.at(m.ms() + by/1000)
	for _, e := range m.away {
		if m.due(e) && slices.Contains(m.deferredBodies(), e.body) {
			m.fail("%s, deferred, was due at %d", e.body, e.deadline-start)
		}
	}
	for _, e := range m.waiting {
		if !m.Settings.StrictExpiry && m.due(e) && slices.Contains(m.ready(), e.body) {
			m.fail("%s was due at %d", e.body, e.deadline-start)
		}
	}
}

// observe compares the queue's actions with the expected ones.
func (m *model) observe() {
	m.deliveries()
	m.given = m.given[:0]
	m.active()
	for ch, used := range m.used {
		for n := range uint64(len(used)) {
			if !used[n+1] {
				m.fail("the numbers for %s have a gap at %d", ch, n+1)
			}
		}
	}
	for _, d := range m.seenOff() {
		e := m.all[d[1+slices.Index([]byte(d), ' '):]]
		switch {
		case m.deadLetters[d]:
		case d != "expired "+e.body || !slices.Contains(m.waiting, e) && !slices.Contains(m.away, e) || !m.due(e):
			m.fail("%s was not to die (at %d)", d, e.deadline-start)
		}
		delete(m.deadLetters, d)
		m.leave(e)
		m.away = slices.DeleteFunc(m.away, func(x *entry) bool { return x == e })
		e.gone = true
	}
	for d := range m.deadLetters {
		m.fail("did not die: %s", d)
	}
	want := make([]string, 0, len(m.waiting))
	for _, e := range m.waiting {
		want = append(want, e.body)
	}
	if got := m.ready(); !slices.Equal(got, want) {
		m.fail("ready %v, want %v", got, want)
	}
	m.paged += m.Backlog.Paged()
	if m.OverLimit && len(m.waiting) > 0 {
		m.crowded++
	}
	m.replay()
}

// deliveries takes the deliveries of this turn.
func (m *model) deliveries() {
	lowest := int8(127) // lowest priority that got a message
	for _, d := range all[*mail.Deliver](m.core) {
		i := slices.IndexFunc(m.takers, func(t *taker) bool { return t.tag == d.Tag })
		if i < 0 {
			m.fail("delivery to %s", d.Tag)
		}
		last := -1
		for _, x := range d.Items {
			at := slices.IndexFunc(m.given, func(e *entry) bool { return e != nil && e.body == string(x.Message.Body) })
			if at <= last {
				m.fail("%s was not to be delivered to %s, or not now", x.Message.Body, d.Tag)
			}
			last = at
			m.took(m.given[at], m.takers[i], x)
			m.given[at] = nil
		}
		if t := m.takers[i]; t.prefetch > 0 && t.unacked > t.prefetch {
			m.fail("%s has %d", t.tag, t.unacked)
		}
		lowest = min(lowest, m.takers[i].priority)
	}
	for _, t := range m.takers {
		if t.priority > lowest && !t.full() && !m.Settings.SingleActiveConsumer {
			m.fail("%s was passed over", t.tag)
		}
	}
	for _, e := range m.given {
		if e != nil {
			m.fail("%s was not delivered", e.body)
		}
	}
}

// replay checks that the records lead to the existing persistent messages.
func (m *model) replay() {
	want := map[uint64]int64{}
	for _, e := range m.all {
		if e.persistent && !e.gone {
			want[uint64(e.order)] = e.deadline
		}
	}
	got := replayed(m.records)
	for seq, deadline := range got {
		body := string(deadline.body)
		e := m.all[body]
		if e == nil || e.gone || !e.persistent || e.deadline != deadline.at {
			m.fail("replayed %d: %s", seq, body)
		}
	}
	if len(got) != len(want) {
		m.fail("%d replayed, want %d", len(got), len(want))
	}
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%d ms, %s: %s", m.ms(), m.what, fmt.Sprintf(format, args...))
}

// TestModel runs random commands on a queue and on a model: messages are never early or lost, order is kept, requeued ones return
// to their positions, and records match (TTL-9 to TTL-36). Under pressure all contents are paged out in some turns, or in every
// one.
func TestModel(t *testing.T) {
	seed, rounds := *seedFlag, 50
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	} else {
		rounds = 1
	}
	for i := range uint64(rounds) {
		for _, pressure := range []int{0, 1, 2} {
			name := fmt.Sprintf("seed=%d, pressure %d of 2", seed+i, pressure)
			if t.Run(name, func(t *testing.T) { runModel(t, seed+i, pressure) }); t.Failed() {
				return
			}
		}
	}
}

func runModel(t *testing.T, seed uint64, pressure int) {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &model{
		r: r, all: map[string]*entry{}, held: map[string]map[uint64]*entry{}, used: map[string]map[uint64]bool{},
		deadLetters: map[string]bool{}, max: -1,
	}
	kind := r.IntN(5)
	cfg := testConfig(settings(dlx, func(s *policies.QueueSettings) {
		switch kind {
		case 1:
			m.max = r.IntN(10)
			s.MaxLength = int64(m.max)
		case 2:
			s.StrictExpiry = true
		case 3:
			s.MaxPriority, s.NormalPriority = 3, uint8(r.IntN(3))
		case 4:
			s.SingleActiveConsumer = true
		}
	}))
	cfg.Queue.Durable = true
	m.core = newCoreOf(t, cfg)
	turns := rand.New(rand.NewPCG(seed, 1))
	if seed%2 == 0 { // cut commands into turns
		m.turnLimit = uint16(1 + turns.IntN(3))
	}
	m.pressed = func() bool { return turns.IntN(2) < pressure }
	commands := []struct {
		name   string
		weight int
		run    func()
	}{
		{"publish", 8, m.publish},
		{"get", 4, m.get},
		{"settle", 8, m.settle},
		{"pass", 8, m.pass},
		{"consume", 2, m.consume},
		{"cancel", 1, m.cancel},
		{"channel gone", 1, m.channelGone},
		{"purge", 1, m.purge},
		{"receive", 3, m.receive},
		{"configure", 1, m.configure},
	}
	for range 400 {
		n := r.IntN(37)
		for _, c := range commands {
			if n -= c.weight; n < 0 {
				m.what = c.name
				c.run()
				break
			}
		}
		m.confirmed()
		m.observe()
	}
	m.drain()
	// A single active consumer without acks may take all messages at once, so that none ever waits.
	if pressure == 0 && m.paged > 0 || m.crowded > 10 && m.paged == 0 {
		m.fail("%d contents left memory", m.paged)
	}
}

// drain takes all remaining messages and checks that none was lost.
func (m *model) drain() {
	m.what = "drain"
	for len(m.takers) > 0 {
		m.cancel()
		m.observe()
	}
	m.lock(ch1)
	m.lock(ch2)
	m.at(m.ms() + 60_001)
	for _, e := range m.locked {
		m.giveBack(e)
	}
	m.observe()
	for len(m.waiting) > 0 {
		m.get()
		m.observe()
	}
	for len(m.away) > 0 {
		m.receive()
		m.observe()
	}
	for _, ch := range []mail.Address{ch1, ch2} {
		m.core.settle(ch, mail.Ack, 1, 1<<40)
		for _, e := range m.held[ch.GetId()] {
			e.gone = true
		}
	}
	for _, e := range m.all {
		if !e.gone {
			m.fail("%s was lost", e.body)
		}
	}
	if m.Backlog.Len() != 0 || m.Expiry.Len() != 0 || len(replayed(m.records)) != 0 {
		m.fail("%d messages, %d on the wheel", m.Backlog.Len(), m.Expiry.Len())
	}
}
