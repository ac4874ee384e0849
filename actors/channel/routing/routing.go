package routing

import (
	"bytes"
	"slices"

	"candlemark/actors/channel/peers"
	"candlemark/actors/channel/rights"
	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// Routes finds the queues of publishes and remembers the last publish's exchange and
// route: most publishers keep to one. It is good while the vhost's generation and, from
// one read to the next, that of the permissions are the same. It is made by NewRoutes.
type Routes struct {
	rights  *rights.Rights
	batches *Batches
	router  topology.Router
	steps   int // since the turn began
	headers headers

	valid      bool
	generation uint64
	granted    uint64 // generation of the permissions
	exchange   *topology.Exchange
	topics     bool // not every routing key is allowed there
	routed     bool // key and targets are set
	name, key  []byte
	targets    []*Target
	histories  []*Target // exchanges that keep the message
	caps       []int64   // of the TTLs in both, nil for none; the router's
	keys       [][]byte  // of a message with carbon copies

	// What the exchange counted is not told yet.
	counted *topology.Exchange
	in, out uint64
}

// Routed counts a message of an exchange that goes to so many queues.
func (r *Routes) Routed(x *topology.Exchange, queues int) {
	if x != r.counted {
		r.Tell()
		r.counted = x
	}
	r.in++
	r.out += uint64(queues)
}

// Tell has the exchange know what was counted.
func (r *Routes) Tell() {
	if r.in > 0 {
		r.counted.Count(r.in, r.out)
		r.in, r.out = 0, 0
	}
}

// headers are those of the message being routed, decoded only if an exchange
// asks for them, as its properties are.
type headers struct {
	raw, all []byte
	decode   func() protocol.Table // bound once
}

func (h *headers) bind() {
	h.decode = func() protocol.Table {
		t, _ := protocol.DecodeTable(h.raw) // was scanned
		return t
	}
}

func (h *headers) properties() (p protocol.Properties, original []byte, size int) {
	p, _ = protocol.DecodeProperties(h.all) // was scanned
	_, original = protocol.SplitOriginal(h.all)
	return p, original, len(h.all)
}

// NewRoutes makes those of a client's channel.
func NewRoutes(r *rights.Rights, b *Batches) *Routes {
	x := &Routes{rights: r, batches: b}
	x.headers.bind()
	x.router.Properties = x.headers.properties
	return x
}

// BeginTurn begins to count steps anew.
func (r *Routes) BeginTurn() { r.steps = 0 }

// Count counts steps.
func (r *Routes) Count(steps int) { r.steps += steps }

// Steps is how many were counted in this turn.
func (r *Routes) Steps() int { return r.steps }

// BeginRead has permissions checked anew if they changed.
func (r *Routes) BeginRead() {
	if g := r.rights.Permissions.Generation(); g != r.granted {
		r.granted, r.valid = g, false
	}
}

// Exchange is the exchange to publish to, if the client may (TTL-7), and whether
// the routing keys have to be checked, too.
func (r *Routes) Exchange(name []byte) (x *topology.Exchange, topics bool, err error) {
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
	r.exchange, r.valid, r.routed = x, true, false
	r.topics = r.rights.HasTopics(x)
	r.name = append(r.name[:0], name...)
	return x, r.topics, nil
}

// Use is Exchange for a publish to x that was checked otherwise.
func (r *Routes) Use(x *topology.Exchange) {
	if g := r.rights.VHost.Generation(); r.generation != g {
		r.generation, r.routed = g, false
		r.batches.forget()
	}
	r.routed = r.routed && r.exchange == x
	r.exchange, r.valid = x, false
}

// Find finds the queues for the message's own key and more. Only a route that
// depends on nothing but the own key is remembered. The error is for an x-delay that
// cannot be made out (DLY-2). If the route is Over, it is too long for a turn.
func (r *Routes) Find(x *topology.Exchange, m *message.Message, more [][]byte, raw []byte) ([]*Target, error) {
	if r.routed && len(more) == 0 && bytes.Equal(r.key, m.RoutingKey) {
		return r.targets, nil
	}
	h := &r.headers
	h.raw, h.all = raw, m.Header
	dir := r.rights.VHost.Directory()
	var queues []*topology.Queue
	if len(more) == 0 {
		queues = r.router.Route(dir, x, m.RoutingKey, h.decode)
	} else {
		r.keys = append(append(r.keys[:0], m.RoutingKey), more...)
		queues = r.router.RouteAll(dir, x, r.keys, h.decode)
		clear(r.keys)
	}
	h.raw, h.all = nil, nil
	r.steps += r.router.Steps()
	if err := r.router.Refusal(); err != nil || r.router.Over() {
		r.routed = false
		return nil, err
	}
	r.routed = r.router.Steady() && len(more) == 0
	r.key = append(r.key[:0], m.RoutingKey...)
	return r.Aim(x, m.RoutingKey, more, queues, r.router.Histories(), r.router.Caps()), nil
}

// Long looks for a route of a message that is kept until it is found, raw being its headers.
func (r *Routes) Long(x *topology.Exchange, kept *message.Message, more [][]byte, raw []byte) *topology.Long {
	h := &headers{raw: raw, all: kept.Header}
	h.bind()
	return r.rights.VHost.Long(x, append([][]byte{kept.RoutingKey}, more...), h.decode, h.properties)
}

// Over tells whether the last route was too long.
func (r *Routes) Over() bool { return r.router.Over() }

// Histories are the exchanges on the way to the last targets that keep the message: it goes there as to a
// queue, but they count for nothing that the publisher is told.
func (r *Routes) Histories() []*Target { return r.histories }

// Caps are those of the TTLs on the way to the last targets, then to their histories; nil for none.
func (r *Routes) Caps() []int64 { return r.caps }

// Aim makes targets of the queues that a route leads to, and of its histories, and notes the
// caps of their TTLs.
func (r *Routes) Aim(x *topology.Exchange, key []byte, more [][]byte, queues, histories []*topology.Queue, caps []int64) []*Target {
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

// addRequester adds whom a publish to the default exchange answers to its targets.
// Such a route is not remembered: requesters go without notice.
func (r *Routes) addRequester(key []byte) {
	if !topology.IsReplyName(key) {
		return
	}
	r.routed = false
	if q := r.rights.VHost.Requester(key); q != nil {
		if t := r.batches.Target(q); !slices.Contains(r.targets, t) {
			r.targets = append(r.targets, t)
		}
	}
}

// ShareFrom is the content size in bytes from which a message for several
// queues is copied once and shared, not once into every queue (PRO-11).
const ShareFrom = 512

// Target is a queue with the batch that gathers for it in this turn.
type Target struct {
	Queue *topology.Queue
	peer  *peers.Peer
	batch *mail.Enqueue
}

// Batches gather what queues get at the end of a turn. They are made by NewBatches.
type Batches struct {
	out     peers.Watcher
	peers   *peers.Peers
	by      *mail.Publisher
	gate    *message.Gate
	targets map[*topology.Queue]*Target
	touched []*Target
	passing []*topology.Queue // targets that are forgotten at the end of the turn
}

// NewBatches makes those of a channel that has published nothing. Only admin
// commands tell by whom they are; memory of messages is charged to gate.
func NewBatches(out peers.Watcher, p *peers.Peers, by *mail.Publisher, gate *message.Gate) Batches {
	return Batches{out: out, peers: p, by: by, gate: gate, targets: map[*topology.Queue]*Target{}}
}

// Len is how many queues are remembered.
func (b *Batches) Len() int { return len(b.targets) }

// forget forgets what is known of queues. Batches stay.
func (b *Batches) forget() { clear(b.targets) }

// Target is a queue as the present batches know it.
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

// Targets are several queues.
func (b *Batches) Targets(queues []*topology.Queue) []*Target {
	targets := make([]*Target, len(queues))
	for i, q := range queues {
		targets[i] = b.Target(q)
	}
	return targets
}

// CheckMoments refuses a message with these headers that names a time which cannot be made out, if a
// queue on its way would keep it scheduled until then, or have it expire (DLY-10,
// TTL-6).
func CheckMoments(targets []*Target, headers []byte, c *clock.Clock) error {
	for _, t := range targets {
		if m := t.Queue.Schedules.Moments(); m != nil {
			if err := m.Check(headers, c.Now().Ceil(), c.Skew()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Queues are those of targets.
func Queues(targets []*Target) []*topology.Queue {
	queues := make([]*topology.Queue, len(targets))
	for i, t := range targets {
		queues[i] = t.Queue
	}
	return queues
}

// Add adds the message to the batch of each of its queues, with its TTL capped by
// the exchanges on the way there (TTL-9). A message that is not Owned is in chunk.
func (b *Batches) Add(m *message.Message, targets []*Target, caps []int64, chunk *message.Chunk) {
	if len(targets) > 1 && m.Size() >= ShareFrom {
		m.Own()
		if m.Share == nil && m.Size() > message.ShareFrom {
			m.Share = message.NewShare(m.Size())
		}
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
			e.Debt.Owe(b.gate, m.Size())
		}
		e.Messages = append(e.Messages, *m)
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

// Agree has the batches that gather be of messages that their queues have agreed to take (TXN-6).
func (b *Batches) Agree() {
	for _, t := range b.touched {
		t.batch.Prepared = true
	}
}

// Keep adds a message to what exchanges keep, its histories, whose answer nobody waits for. caps are as in Add.
func (b *Batches) Keep(m *message.Message, histories []*Target, caps []int64, chunk *message.Chunk) {
	kept := *m
	kept.Number = 0
	b.Add(&kept, histories, caps, chunk)
}

// Flush sends every queue its batch. A batch never outlives the run of the read
// chunk that its messages are in.
func (b *Batches) Flush() {
	for i, t := range b.touched {
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

// FlushWhole is Flush for batches of which each queue takes all messages or none; numbered has the answers tell the queues' numbers of them.
func (b *Batches) FlushWhole(numbered bool) {
	for _, t := range b.touched {
		t.batch.AllOrNone, t.batch.Numbered = true, numbered
	}
	b.Flush()
}

// Release gives back what the batches hold, instead of sending them.
func (b *Batches) Release() {
	for _, t := range b.touched {
		if t != nil && t.batch != nil {
			t.batch.Release()
		}
	}
	b.touched = nil
}
