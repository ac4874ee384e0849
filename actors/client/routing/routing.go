package routing

import (
	"bytes"
	"slices"

	"candlemark/actors/client/peers"
	"candlemark/actors/client/rights"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// RouteCache finds the routes of publishes. It caches the exchange and route of the last publish, as most publishers use
// only one. The cache is valid while the vhost's generation is unchanged; the permissions' generation is compared at
// each read. It is created by NewRoutes.
type RouteCache struct {
	rights  *rights.Rights
	batches *Batches
	finder  routefinder.Finder
	steps   int // in this turn
	clock   *clock.Clock
	dates   clock.Dates // of this turn

	valid      bool
	generation uint64
	granted    uint64 // generation of the permissions
	exchange   *topology.Exchange
	topics     bool // some routing keys are not permitted at the exchange
	name       []byte
	targets    []*Target // of the last route
	histories  []*Target // exchanges that keep the message
	caps       []int64   // TTL limits of targets and histories, nil for none; owned by the finder

	// Counts not yet added to the exchange.
	counted *topology.Exchange
	in, out uint64
	at      int64 // time of the last read
}

// Routed counts a message that an exchange routes to the given number of queues.
func (r *RouteCache) Routed(x *topology.Exchange, queues int) {
	if x != r.counted {
		r.AddCounts()
		r.counted = x
	}
	r.in++
	r.out += uint64(queues)
}

// FlushAll adds the pending counts to the exchange, and flushes the batches.
func (r *RouteCache) FlushAll() {
	r.AddCounts()
	r.batches.Flush()
}

// AddCounts adds the pending counts to the exchange.
func (r *RouteCache) AddCounts() {
	if r.in > 0 {
		r.counted.Count(r.in, r.out, r.at)
		r.in, r.out = 0, 0
	}
}

// NewRoutes returns the Routes of a client's channel.
func NewRoutes(r *rights.Rights, b *Batches) *RouteCache {
	return &RouteCache{rights: r, batches: b}
}

// BeginTurn resets the count of steps, and lets the next date be judged by the clocks of this turn.
func (r *RouteCache) BeginTurn(c *clock.Clock) { r.steps, r.clock, r.dates = 0, c, c.Dates() }

// AnswerSteps is the number of steps counted for a command or frame that may be answered at once, as an answer often
// costs a separate write to the socket.
const AnswerSteps = 50

// Count counts steps.
func (r *RouteCache) Count(steps int) { r.steps += steps }

// Steps returns the number of steps in this turn.
func (r *RouteCache) Steps() int { return r.steps }

// BeginRead invalidates the cache if permissions have changed. at is the time of the read, in ms of the broker's time.
func (r *RouteCache) BeginRead(at int64) {
	r.at = at
	if g := r.rights.Permissions.Generation(); g != r.granted {
		r.granted, r.valid = g, false
	}
}

// Exchange returns the exchange to publish to, if permitted (TTL-7), and whether routing keys also have to be checked.
func (r *RouteCache) Exchange(name []byte) (x *topology.Exchange, topics bool, err error) {
	if g := r.rights.VHost.Generation(); r.generation != g {
		r.valid = false
		r.generation = g
		r.batches.forget()
	}
	if r.valid && bytes.Equal(r.name, name) {
		return r.exchange, r.topics, nil
	}
	if x, err = r.rights.Writable(name); err != nil {
		return nil, false, err
	}
	r.exchange, r.valid = x, true
	r.finder.Forget()
	r.topics = r.rights.HasTopics(x)
	r.name = append(r.name[:0], name...)
	return x, r.topics, nil
}

// UseChecked does the same as Exchange for an exchange that was checked elsewhere.
func (r *RouteCache) UseChecked(x *topology.Exchange) {
	if g := r.rights.VHost.Generation(); r.generation != g {
		r.generation = g
		r.finder.Forget()
		r.batches.forget()
	}
	if r.exchange != x {
		r.finder.Forget()
	}
	r.exchange, r.valid = x, false
}

// Find finds the queues for the message's own key and more. Only a route that depends on the own key alone is cached.
// The error is for an invalid x-delay (DLY-2). The route may exceed a turn (Over).
func (r *RouteCache) Find(x *topology.Exchange, m *message.Message, more [][]byte, raw []byte) ([]*Target, error) {
	if len(more) == 0 && r.finder.Remembers(m.RoutingKey) {
		return r.targets, nil
	}
	content := routefinder.Content{Header: m.Header, Headers: raw}
	queues := r.finder.Find(r.rights.VHost.Directory(), x, content, m.RoutingKey, more)
	r.steps += r.finder.Steps()
	if err := r.finder.Refusal(); err != nil || r.finder.Over() {
		return nil, err
	}
	return r.SetTargets(x, m.RoutingKey, more, queues, r.finder.Histories(), r.finder.Caps()), nil
}

// Long returns a search for the route of a message that is kept until the search ends. raw are the message's headers.
func (r *RouteCache) Long(x *topology.Exchange, kept *message.Message, more [][]byte, raw []byte) *topology.Long {
	return routefinder.Long(r.rights.VHost, x, routefinder.Content{Header: kept.Header, Headers: raw}, kept.RoutingKey, more)
}

// ToHolder returns the holder of an exchange as the only target, for messages that the exchange is to hold.
func (r *RouteCache) ToHolder(x *topology.Exchange, holder *topology.Queue) []*Target {
	r.finder.Forget()
	return r.SetTargets(x, nil, nil, []*topology.Queue{holder}, nil, nil)
}

// Over reports whether the last route exceeded a turn.
func (r *RouteCache) Over() bool { return r.finder.Over() }

// Histories returns the exchanges on the last route that keep messages. The message is sent to them as to a queue, but
// confirms do not wait for them.
func (r *RouteCache) Histories() []*Target { return r.histories }

// Caps returns the TTL limits on the last route, first of its targets, then of its histories; nil for none.
func (r *RouteCache) Caps() []int64 { return r.caps }

// SetTargets sets the last route from the queues and histories that were found, and the limits of their TTLs.
func (r *RouteCache) SetTargets(x *topology.Exchange, key []byte, more [][]byte, queues, histories []*topology.Queue, caps []int64) []*Target {
	r.targets, r.histories, r.caps = r.targets[:0], r.histories[:0], caps
	for _, q := range queues {
		r.targets = append(r.targets, r.batches.Target(q))
	}
	for _, q := range histories {
		r.histories = append(r.histories, r.batches.Target(q))
	}
	if x.Name == "" {
		r.addRequester(key)
		for _, k := range more {
			r.addRequester(k)
		}
	}
	return r.targets
}

// addRequester adds the requester with the given reply name to the targets of a publish to the default exchange. Such a
// route is not cached: requesters may end at any time.
func (r *RouteCache) addRequester(key []byte) {
	if !topology.IsReplyName(key) {
		return
	}
	r.finder.Forget()
	if q := r.rights.VHost.Requester(key); q != nil {
		if t := r.batches.Target(q); !slices.Contains(r.targets, t) {
			r.targets = append(r.targets, t)
		}
	}
}

// ShareFrom is the content size in bytes from which a message for several queues is copied once and shared, rather
// than copied by each queue (PRO-11).
const ShareFrom = 512

// Target is a queue and its batch of this turn.
type Target struct {
	Queue *topology.Queue
	peer  *peers.QueueLink
	batch *mail.Enqueue
	// copies is the number of messages in batch that have several targets.
	copies int
}

// Batches collects the messages to send to queues at the end of a turn. NewBatches creates it.
type Batches struct {
	out     peers.Watcher
	peers   *peers.QueueLinks
	by      *mail.Publisher
	gate    *message.Gate
	targets map[*topology.Queue]*Target
	touched []*Target
	passing []*topology.Queue // targets to be removed at the end of the turn
}

// NewBatches returns the Batches of a new channel. by is sent with admin commands only; the memory of messages is
// charged to gate.
func NewBatches(out peers.Watcher, p *peers.QueueLinks, by *mail.Publisher, gate *message.Gate) Batches {
	return Batches{out: out, peers: p, by: by, gate: gate, targets: map[*topology.Queue]*Target{}}
}

// Len returns the number of cached queues.
func (b *Batches) Len() int { return len(b.targets) }

// forget clears the cache of queues. Batches stay.
func (b *Batches) forget() { clear(b.targets) }

// Target returns the target of a queue.
func (b *Batches) Target(q *topology.Queue) *Target {
	t := b.targets[q]
	if t == nil {
		t = &Target{Queue: q}
		b.targets[q] = t
		if q.Requester {
			b.passing = append(b.passing, q)
		}
	}
	return t
}

// Targets returns the targets of several queues.
func (b *Batches) Targets(queues []*topology.Queue) []*Target {
	targets := make([]*Target, len(queues))
	for i, q := range queues {
		targets[i] = b.Target(q)
	}
	return targets
}

// Ahead returns how long it is until a date in wall ms, in ms, not positive if it has passed.
func (r *RouteCache) Ahead(date int64) int64 { return r.dates.Deadline(date) - r.clock.Now().Ceil() }

// CheckMoments refuses a message with an invalid time in its headers, if a queue on its route would schedule or
// expire it by that header (DLY-10, TTL-6).
func (r *RouteCache) CheckMoments(targets []*Target, headers []byte) error {
	for _, t := range targets {
		if m := t.Queue.Schedules.Config(); m != nil {
			if err := m.Check(headers, r.clock.Now().Ceil(), &r.dates); err != nil {
				return err
			}
		}
	}
	return nil
}

// AllowAnswer lets the broker answer a request (ANS-2), if a queue on its route answers requests or holds them until they are
// due, and the publisher may publish through the default exchange.
func (r *RouteCache) AllowAnswer(m *message.Message, targets []*Target) {
	if !protocol.HasReplyTo(m.Header) {
		return
	}
	for _, t := range targets {
		if c := t.Queue.Schedules.Config(); t.Queue.Holds() || c != nil && c.Answers {
			if r.rights.Replies() == nil {
				m.Overlay = m.Overlay.MayBeAnswered()
			}
			return
		}
	}
}

// Queues returns the queues of targets.
func Queues(targets []*Target) []*topology.Queue {
	queues := make([]*topology.Queue, len(targets))
	for i, t := range targets {
		queues[i] = t.Queue
	}
	return queues
}

// Publish adds a message to the batches of its targets, and of the histories, whose answers are not needed. caps are the TTL limits
// of targets, then of histories (TTL-9); nil for none. A message that is not Owned is in chunk.
func (b *Batches) Publish(m *message.Message, targets, histories []*Target, caps []int64, chunk *message.Chunk) {
	if len(histories) > 0 {
		kept := *m
		kept.Number = 0
		var capped []int64
		if caps != nil {
			capped = caps[len(targets):]
		}
		b.Add(&kept, histories, capped, chunk)
	}
	if len(targets) > 0 {
		b.Add(m, targets, caps, chunk)
	}
}

// Add adds the message to the batch of each of its queues, with its TTL limited by the exchanges on the route
// (TTL-9). A message that is not Owned is in chunk.
func (b *Batches) Add(m *message.Message, targets []*Target, caps []int64, chunk *message.Chunk) {
	if len(targets) > 1 {
		m.Spread = message.SpreadOf(len(targets))
		if m.Size() >= ShareFrom {
			share(m)
		}
	}
	several := 0
	if len(targets) > 1 {
		several = 1
	}
	for i, t := range targets {
		if t.batch == nil {
			t.batch = mail.NewEnqueue(b.out.Self(), t.Queue.PID)
			t.batch.Table, t.batch.Action = t.Queue.Table, t.Queue.Action
			if t.Queue.Name == topology.AdminExchange {
				t.batch.By = b.by
			}
			b.touched = append(b.touched, t)
		}
		e := t.batch
		switch {
		case !m.Owned && e.Chunk == nil:
			chunk.Retain()
			e.Chunk = chunk
		case m.Owned:
			e.Debt.Add(b.gate, m.Size())
		}
		e.Messages = append(e.Messages, *m)
		t.copies += several + t.Queue.Enlarged(len(m.Header), several > 0)
		if caps != nil {
			e.Messages[len(e.Messages)-1].Cap(caps[i])
		}
		if m.Number != 0 {
			if t.peer == nil || t.peer.Gone {
				t.peer = b.peers.OfTarget(t.Queue.PID, t.Queue.Requester)
			}
			t.peer.Published()
		}
	}
}

// MarkPrepared marks the batches as Prepared: their queues have agreed to accept them (TXN-6).
func (b *Batches) MarkPrepared() {
	for _, t := range b.touched {
		t.batch.Prepared = true
	}
}

// Flush sends every queue its batch. A batch must be flushed before the read chunk with its messages is released.
func (b *Batches) Flush() {
	for i, t := range b.touched {
		t.batch.Copies.Begin(b.gate, t.copies)
		t.copies = 0
		b.out.Send(t.Queue.PID, t.batch)
		t.batch = nil
		b.touched[i] = nil
	}
	b.touched = b.touched[:0]
	for i, q := range b.passing {
		delete(b.targets, q)
		b.passing[i] = nil
	}
	b.passing = b.passing[:0]
}

// FlushWhole does the same as Flush for batches of which each queue accepts all messages or none. If numbered, the
// answers contain the queues' message numbers.
func (b *Batches) FlushWhole(numbered bool) {
	for _, t := range b.touched {
		t.batch.AllOrNone, t.batch.Numbered = true, numbered
	}
	b.Flush()
}

// Release releases the batches instead of sending them.
func (b *Batches) Release() {
	for _, t := range b.touched {
		if t != nil && t.batch != nil {
			t.batch.Release()
		}
	}
	b.touched = nil
}
