package deadletter

import (
	"errors"
	"slices"
	"sync/atomic"

	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/seqmap"
	"candlemark/internal/topology"

	"github.com/rs/zerolog"
)

// turnLimit is how many messages are routed before other mail gets its turn.
const turnLimit = mail.DeadLetterBatch

// state is the core: it knows no actor library and no clock.
type state struct {
	vhost  *topology.VHost
	stats  *Stats
	events *events.Hub
	log    zerolog.Logger
	self   mail.Address

	batches []*batch // not finished, oldest first
	copies  seqmap.Map[pendingCopy]
	watched map[string]struct{} // targets, by the id of their PID
	warned  map[string]struct{} // of what
	// base is added to the numbers of copies. It is random, so that an answer to
	// an earlier incarnation settles nothing in this one.
	base          uint64
	router        router
	targetBatches targetBatches
	copy          message.Message // the one in hand, if it goes to several
	steps         int             // of routing in this turn
	continuing    bool            // continueBatch is on its way
	expired       expired
	finishing     *mail.FinishDeadLetters // nothing is begun any more
	out           outcome
}

// outcome lists what the shell does after a turn, in order.
type outcome struct {
	watch  []mail.Address
	posts  []post
	search []*batch // whose next route is to be looked for
}

type post struct {
	to   mail.Address
	what any
}

// batch is one DeadLetter mail.
type batch struct {
	*mail.DeadLetter
	next    int // index of the first message that was not routed yet
	pending []pendingMessage
	stats   *ReasonStats
	// waiting is the route of the next message if that is too long for a turn, and
	// found is its result. Batches of other queues go on meanwhile.
	waiting *topology.Long
	found   *topology.LongRoute
	// reply gathers what is settled in this turn, nil for nothing.
	reply *mail.DeadLetterReply
}

// pendingMessage is one dead message on its way.
type pendingMessage struct {
	batch   *batch
	id      uint64
	copies  int  // at targets that have not answered
	refused bool // by one of them
	lost    bool // for one of them
	several bool // targets: those that take it are noted, if the queue cares
	taken   []mail.Target
}

// pendingCopy is a message at one target.
type pendingCopy struct {
	message *pendingMessage
	target  *topology.Queue
}

func (s *state) init(cfg Config, base uint64) {
	s.base = base
	s.vhost, s.stats, s.log, s.events = cfg.VHost, cfg.Stats, cfg.Log, cfg.Events
	s.watched, s.warned = map[string]struct{}{}, map[string]struct{}{}
	s.targetBatches.index = map[*topology.Queue]int{}
	s.router.init()
}

func (s *state) send(to mail.Address, what any) {
	s.out.posts = append(s.out.posts, post{to, what})
}

// take queues a batch behind those that are not finished.
func (s *state) take(d *mail.DeadLetter) {
	if s.finishing != nil {
		return
	}
	s.batches = append(s.batches, &batch{
		DeadLetter: d, pending: make([]pendingMessage, len(d.Messages)), stats: s.stats.ByReason(d.Reason),
	})
	if !s.continuing {
		s.step()
	}
}

// searched takes the route that a batch waits for.
func (s *state) searched(b *batch, route topology.LongRoute) {
	if !slices.Contains(s.batches, b) {
		return // of an earlier incarnation
	}
	b.waiting, b.found = nil, &route
	if !s.continuing {
		s.step()
	}
}

// ready is the oldest batch that waits for no route, nor is behind another one of
// the same queue that does; nil for none.
func (s *state) ready() *batch {
	var waiting map[string]bool
	for _, b := range s.batches {
		if b.waiting == nil && !waiting[b.From.Id] {
			return b
		}
		if waiting == nil {
			waiting = map[string]bool{}
		}
		waiting[b.From.Id] = true
	}
	return nil
}

// step routes a turn's worth of the oldest batch.
func (s *state) step() {
	s.continuing, s.steps = false, 0
	b := s.ready()
	if b == nil {
		return
	}
	end := min(len(b.Messages), b.next+turnLimit)
	s.targetBatches.backing = b.Messages[b.next:b.next:end]
	if end == len(b.Messages) {
		s.targetBatches.backing = b.Messages[b.next:b.next] // with all its room, for who uses it next
	}
	s.route(b, end)
	if b.next < end { // the memory behind goes with the first target's batch
		b.Messages, b.pending, b.next = slices.Clone(b.Messages[b.next:]), b.pending[b.next:], 0
	}
	s.targetBatches.send(s)
	s.answer(b)
	if b.next == len(b.Messages) {
		b.Messages = nil // the targets have them now
		s.router.last, s.router.moved, s.copy = stamped{}, moved{}, message.Message{}
		if s.batches = slices.DeleteFunc(s.batches, func(x *batch) bool { return x == b }); len(s.batches) == 0 {
			s.batches = nil
		}
	}
	if s.ready() != nil {
		s.continuing = true
		s.send(s.self, continueBatch{})
	}
}

// enqueued settles copies that a target has taken or refused.
func (s *state) enqueued(m *mail.EnqueueReply) {
	var last *batch
	fate := taken
	switch {
	case errors.Is(m.Why, mail.ErrCopy):
		fate = unfit
	case m.Refused:
		fate = refused
	}
	for _, r := range m.Ranges {
		if r.First <= s.base {
			continue
		}
		s.copies.TakeRange(r.First-s.base, r.Last-s.base, func(_ uint64, c pendingCopy) {
			if last != c.message.batch {
				s.answer(last)
				last = c.message.batch
			}
			c.message.copyDone(c.target, fate)
			if fate == unfit {
				s.warnOfCopy(c)
			}
		})
	}
	s.answer(last)
	s.finished()
}

// targetGone settles the copies that a target ended with and never answered.
func (s *state) targetGone(who mail.Address) {
	delete(s.watched, who.Id)
	var numbers []uint64
	s.copies.Each(func(n uint64, c pendingCopy) bool {
		if c.target.PID.Equal(who) {
			numbers = append(numbers, n)
		}
		return true
	})
	for _, n := range numbers {
		c, _ := s.copies.Take(n)
		c.message.batch.stats.LostTargets.Add(1)
		c.message.copyDone(c.target, refused)
		s.answer(c.message.batch)
	}
	s.finished()
}

// finish forgets what has not been routed.
func (s *state) finish(m *mail.FinishDeadLetters) {
	s.abandon()
	s.batches, s.finishing = nil, m
	s.finished()
}

// finished answers who waits for the targets, when all of them have answered.
func (s *state) finished() {
	if s.finishing != nil && s.copies.Len() == 0 {
		s.send(s.finishing.Answer(mail.Gone))
	}
}

// fate of a copy.
type fate int

const (
	taken fate = iota
	refused
	unfit // for its target, whenever it comes
)

// copyDone is called for each copy that is done with. What a target has refused
// counts as taken care of unless its queue cares for more: delivery is at most
// once then (DL-29). What is unfit always does (SBR-6).
func (l *pendingMessage) copyDone(target *topology.Queue, what fate) {
	b := l.batch
	kept := b.Guarantee != mail.Drop // what is refused comes again
	switch {
	case what == refused && kept:
		l.refused = true
	case kept && l.several:
		l.taken = append(l.taken, mail.TargetOf(target))
	}
	if what == unfit || what == refused && !kept {
		l.lost = true
		b.stats.Refused.Add(1)
	}
	if l.copies--; l.copies > 0 {
		return
	}
	switch {
	case l.refused:
		b.keep(l.id, l.taken)
		return
	case !l.lost:
		b.stats.Confirmed.Add(1)
	}
	b.done(l.id)
}

// keep notes that a message stays in its queue.
func (b *batch) keep(id uint64, taken []mail.Target) {
	b.stats.Kept.Add(1)
	r := b.answering()
	r.Kept = append(r.Kept, mail.Kept{ID: id, Taken: taken})
}

// done notes that a message is taken care of.
func (b *batch) done(id uint64) {
	if b.Guarantee == mail.AtLeastOnce {
		b.stats.AtLeastOnce.Add(1)
	} else {
		b.stats.AtMostOnce.Add(1)
	}
	b.answering().Add(id)
}

// noTarget notes that there is nothing to send a message to; count counts those
// that are dropped for it. It is enough that somebody had it (DL-30).
func (b *batch) noTarget(id uint64, count *atomic.Uint64) {
	switch {
	case b.Guarantee != mail.AtLeastOnce:
		if count.Add(1); count == &b.stats.NoExchange { // as if there were no dead-lettering
			b.answering().Add(id)
			return
		}
	case len(b.Taken[id]) == 0:
		b.keep(id, nil)
		return
	}
	b.done(id)
}

func (b *batch) answering() *mail.DeadLetterReply {
	if b.reply == nil {
		b.reply = &mail.DeadLetterReply{Incarnation: b.Incarnation}
	}
	return b.reply
}

// answer tells the source of b what is done; b may be nil.
func (s *state) answer(b *batch) {
	if b != nil && b.reply != nil {
		s.send(b.From, b.reply)
		b.reply = nil
	}
}

// reportLost tells every source with something under way that it is lost.
func (s *state) reportLost() {
	type round struct {
		from  string
		round uint64
	}
	told := map[round]bool{}
	tell := func(b *batch) {
		if r := (round{b.From.Id, b.Epoch}); !told[r] {
			told[r] = true
			s.send(b.From, &mail.DeadLetterReply{Incarnation: b.Incarnation, Lost: true, Epoch: b.Epoch})
		}
	}
	for _, b := range s.batches {
		tell(b)
	}
	s.abandon()
	s.copies.Each(func(_ uint64, c pendingCopy) bool {
		tell(c.message.batch)
		return true
	})
}

// abandon ends the search for routes.
func (s *state) abandon() {
	for _, b := range s.batches {
		if b.waiting != nil {
			b.waiting.Stop()
			b.waiting = nil
		}
	}
}
