package queue

import (
	"slices"
	"testing"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	queuePID      = actor.NewPID("local", "queue")
	vhostPID      = actor.NewPID("local", "vhost")
	deadLetterPID = actor.NewPID("local", "deadletter")
	publisher     = actor.NewPID("local", "publisher")
	ch1, ch2      = actor.NewPID("local", "ch1"), actor.NewPID("local", "ch2")
	owner, other  = actor.NewPID("local", "owner"), actor.NewPID("local", "other")
)

// start is the start time of every core, in wall ms.
const start = 1_800_000_000_000

// core drives a state as the shell would, at a time set by the test.
type core struct {
	state
	*messages.Messages // the state's
	t                  *testing.T
	now                clock.Instant
	posts              []mail.Post
	records            []store.Record
	commits            []*records.Commit // not answered by the journal yet, oldest first
	// hold keeps batches in the journal until the test settles them.
	hold bool
	disk disk
	// pressed is called before each turn; if it returns true, memory is tight and all contents are paged out.
	pressed func() bool
	// slow runs only one turn per feed; waiting says that the next one is due.
	slow, waiting bool
	number        uint64
	neverDormant  bool // the core is never made dormant
	// lowered is the number of deliveries that a consumer held when its prefetch was set below that.
	lowered int
}

// settings returns the settings of a queue without arguments, with changes.
func settings(change ...func(*policies.QueueSettings)) policies.QueueSettings {
	s := policies.SettingsFor(nil, policies.Effective{})
	for _, f := range change {
		f(&s)
	}
	return s
}

func ttl(ms int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.MessageTTL = ms }
}

func expires(ms int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.Expires = ms }
}

func dlx(s *policies.QueueSettings)    { s.HasDLX, s.DeadLetterExchange = true, "dlx" }
func strict(s *policies.QueueSettings) { s.StrictExpiry = true }

func maxLength(n int64, overflow string) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.MaxLength, s.Overflow = n, overflow }
}

func testConfig(s policies.QueueSettings) Config {
	v := topology.NewVHost("/")
	v.PID, v.DeadLetter = vhostPID, deadLetterPID
	args := policies.WithQueueType(nil, false, false, false, "")
	return Config{Shared: &Shared{VHost: v}, Queue: &topology.Queue{Name: "q", Incarnation: 7, Arguments: args}, Settings: s}
}

func newCore(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	return newCoreOf(t, testConfig(settings(change...)))
}

func newCoreOf(t *testing.T, cfg Config) *core {
	c := &core{t: t, now: clock.Instant(start * int64(time.Millisecond))}
	c.init(&cfg, queuePID, c.now)
	return c
}

func (c *core) init(cfg *Config, self mail.Address, now clock.Instant) {
	c.Messages = &c.messages
	c.state.init(cfg, self, now)
}

// feed runs a turn for each mail, and the turns that follow from it.
func (c *core) feed(mails ...any) {
	for _, m := range mails {
		for c.turn(m); ; c.turn(again{}) {
			for m, ok := c.unpark(); ok; m, ok = c.unpark() {
				c.turn(m)
			}
			if !c.waiting || c.slow {
				break
			}
			c.waiting = false
		}
	}
}

func (c *core) turn(m any) {
	if c.pressed != nil {
		c.OverLimit = c.pressed()
		c.Pager.Asked, c.Pager.Idle, c.Pager.Busy = c.OverLimit, 0, 0
	}
	c.handle(m, c.now)
	list, commit := c.Journal.HandOver()
	c.flush()
	c.posts = append(c.posts, c.out.Posts...)
	c.out.Posts, c.out.watch = nil, nil
	for _, e := range c.out.done {
		e.Release()
	}
	c.out.done = nil
	c.flow.ReleaseCredit()
	again := c.out.again
	c.out.again = false
	c.waiting = c.waiting || again
	c.store(list, commit)
	c.check()
	if idle(&c.state) && c.consumers.Channelless() && !c.waiting && len(c.disk.reads) == 0 && !c.neverDormant {
		c.makeDormant()
	}
}

// makeDormant replaces a core that holds nothing by one resumed from its dormant state, like the shell.
func (c *core) makeDormant() {
	d, most := toDormant(&c.state), c.turnLimit
	over, critical, shared := c.OverLimit, c.Critical, &Shared{VHost: c.vhost, Budget: c.Backlog.Budget}
	c.state = state{}
	fromDormant(&c.state, &d, shared, queuePID)
	c.turnLimit, c.OverLimit, c.Critical = most, over, critical
}

// check asserts the invariants after a turn.
func (c *core) check() {
	c.t.Helper()
	holds, held, n := map[*consumers.Consumer]int{}, c.consumers.Unacked(), 0
	c.consumers.Channels(func(h *consumers.Holder) {
		h.Unacked.Each(func(_ uint64, d consumers.ChannelDelivery) bool {
			holds[d.Consumer]++
			n++
			return true
		})
	})
	if n != held {
		c.t.Fatalf("%d deliveries, %d counted", n, held)
	}
	n = 0
	c.consumers.Consumers(func(x *consumers.Consumer) {
		n++
		if x.Prefetch > 0 && holds[x] > max(x.Prefetch, c.lowered) {
			c.t.Fatalf("consumer %s holds %d of %d", x.Tag, holds[x], x.Prefetch)
		}
	})
	if n != c.consumers.Len() || n == 0 && c.consumers.Next() != nil {
		c.t.Fatalf("%d consumers, %d counted", n, c.consumers.Len())
	}
	if c.phase < ended && (c.Backlog.Len() != c.Backlog.Ready()+held+c.DeadLetters.Counts().Len+c.Deferred.Len()) {
		c.t.Fatalf("%d messages: %d ready, %d unacked, %d dead letters, %d deferred",
			c.Backlog.Len(), c.Backlog.Ready(), held, c.DeadLetters.Counts().Len, c.Deferred.Len())
	}
}

// next returns the earliest deadline or end of a pause: here, broker time is real time.
func (c *core) next() (int64, bool) {
	next, pause := c.state.deadlines()
	next.of(pause.at, pause.ok)
	return next.at, next.ok
}

// at moves the time to ms after the start, and fires the timer whenever it is due.
func (c *core) at(ms int64) {
	c.t.Helper()
	target := max(c.now, clock.Instant((start+ms)*int64(time.Millisecond)))
	for range 1_000_000 {
		due, ok := c.next()
		at := max(c.now, clock.Instant(min(due, start*2)*int64(time.Millisecond)))
		if !ok || at > target {
			c.now = max(c.now, target)
			return
		}
		c.now = at
		c.feed(timerFired{})
	}
	c.t.Fatalf("the timer fires for ever at %d", c.now)
}

// ms returns the time since the start in ms.
func (c *core) ms() int64 { return c.now.Floor() - start }

// all takes every mail of one type, in order.
func all[T any](c *core) []T {
	var found []T
	rest := c.posts[:0:0]
	for _, p := range c.posts {
		if m, ok := p.Mail.(T); ok {
			found = append(found, m)
		} else {
			rest = append(rest, p)
		}
	}
	c.posts = rest
	return found
}

// one takes the only mail of its type.
func one[T any](c *core) T {
	c.t.Helper()
	found := all[T](c)
	if len(found) != 1 {
		c.t.Fatalf("%d mails of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

// msg returns a message with a TTL, -1 for none.
func msg(body string, ttl int64) message.Message {
	return message.Message{RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte(body), TTL: ttl, Owned: true}
}

// persistentMsg is msg with the delivery mode persistent.
func persistentMsg(body string, ttl int64) message.Message {
	m := msg(body, ttl)
	setPersistent(&m, true)
	return m
}

// setPersistent sets the delivery mode of a message.
func setPersistent(m *message.Message, persistent bool) {
	p, err := protocol.DecodeProperties(m.Header)
	if err != nil {
		panic(err)
	}
	if p.DeliveryMode = 1; persistent {
		p.DeliveryMode = 2
	}
	p.Flags |= protocol.FlagDeliveryMode
	m.Header = p.Append(nil)
}

// publish sends one batch, whose messages get publish numbers.
func (c *core) publish(messages ...message.Message) {
	for i := range messages {
		c.number++
		messages[i].Number = c.number
	}
	c.feed(&mail.Enqueue{From: publisher, Messages: messages})
}

// put publishes messages without TTL.
func (c *core) put(bodies ...string) {
	batch := make([]message.Message, len(bodies))
	for i, b := range bodies {
		batch[i] = msg(b, message.NoTTL)
	}
	c.publish(batch...)
}

// confirmed takes the publish numbers that were acked and nacked.
func (c *core) confirmed() (acks, nacks []uint64) {
	for _, r := range all[*mail.EnqueueReply](c) {
		for _, x := range r.Ranges {
			for n := x.First; n <= x.Last; n++ {
				if r.Refused {
					nacks = append(nacks, n)
				} else {
					acks = append(acks, n)
				}
			}
		}
	}
	return acks, nacks
}

func (c *core) consume(ch mail.Address, tag string, prefetch int, change ...func(*mail.Consume)) *mail.ConsumeReply {
	m := &mail.Consume{Request: mail.Request{ReplyTo: ch}, Channel: ch, Tag: tag, Prefetch: prefetch, Connection: owner}
	for _, f := range change {
		f(m)
	}
	c.feed(m)
	return one[*mail.ConsumeReply](c)
}

func noAck(m *mail.Consume)   { m.NoAck = true }
func limited(m *mail.Consume) { m.Limited = true }

func (c *core) get(ch mail.Address) *mail.GetReply {
	c.feed(&mail.Get{Request: mail.Request{ReplyTo: ch}, Channel: ch, Connection: owner})
	return one[*mail.GetReply](c)
}

// items takes all deliveries.
func (c *core) items() (list []mail.Delivery) {
	for _, d := range all[*mail.Deliver](c) {
		list = append(list, d.Items...)
	}
	return list
}

// delivered takes the bodies delivered to a consumer, redelivered ones marked with *.
func (c *core) delivered(tag string) []string {
	var bodies []string
	for _, d := range all[*mail.Deliver](c) {
		if d.Tag != tag {
			c.posts = append(c.posts, mail.Post{To: ch1, Mail: d})
			continue
		}
		for _, x := range d.Items {
			bodies = append(bodies, text(x))
		}
	}
	return bodies
}

func text(d mail.Delivery) string {
	if d.Redelivered {
		return string(d.Message.Body) + "*"
	}
	return string(d.Message.Body)
}

func (c *core) settle(ch mail.Address, how mail.Settlement, first, last uint64) {
	c.feed(&mail.Settle{Channel: ch, Ranges: []mail.SettleRange{{First: first, Last: last, How: how}}})
}

// died takes the messages sent to be dead-lettered, as "reason body", without an answer.
func (c *core) died() (dead []string, ids []mail.Range) {
	for _, l := range all[*mail.DeadLetter](c) {
		for _, d := range l.Messages {
			dead = append(dead, l.Reason+" "+string(d.Body))
			ids = append(ids, mail.Range{First: d.Number, Last: d.Number})
		}
	}
	return dead, ids
}

// seenOff is died followed by the dead-letter actor's answer.
func (c *core) seenOff() []string {
	dead, ids := c.died()
	if len(ids) > 0 {
		c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: ids})
	}
	return dead
}

// ready lists the bodies of the ready messages in order.
func (c *core) ready() []string {
	var bodies []string
	c.Backlog.Walk(func(h uint32) bool {
		bodies = append(bodies, c.body(h))
		return true
	})
	return bodies
}

// body returns the body of a message, in memory or paged out.
func (c *core) body(h uint32) string {
	if c.Backlog.IsPaged(h) {
		return string(c.disk.puts[c.Backlog.Entry(h).Seq].Body)
	}
	var r backlog.Record
	c.Backlog.Get(h, &r)
	return string(r.Body)
}

func (c *core) want(what string, got []string, want ...string) {
	c.t.Helper()
	if !slices.Equal(got, want) {
		c.t.Fatalf("%d ms: %s: got %q, want %q", c.ms(), what, got, want)
	}
}

func (c *core) wantNumbers(what string, got []uint64, want ...uint64) {
	c.t.Helper()
	if !slices.Equal(got, want) {
		c.t.Fatalf("%d ms: %s: got %v, want %v", c.ms(), what, got, want)
	}
}

// code returns the reply code and text of a refusal, "" for other errors.
func code(err error) string {
	if e, ok := err.(*protocol.ChannelError); ok {
		return e.Text
	}
	return ""
}

// vhostAnswers answers what the queue asks its vhost about its end.
func (c *core) vhostAnswers() {
	for {
		asked := all[*mail.QueueRetiring](c)
		if len(asked) == 0 {
			return
		}
		if asked[0].Ending != "" {
			c.feed(&mail.QueueEnding{})
		} else {
			c.feed(&mail.QueueForgotten{})
		}
	}
}

// openChannels returns the number of channels that consume or hold messages.
func (c *core) openChannels() (n int) {
	c.consumers.Channels(func(*consumers.Holder) { n++ })
	return n
}
