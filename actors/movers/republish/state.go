package republish

import (
	"errors"
	"slices"
	"sync/atomic"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"

	"github.com/rs/zerolog"
)

// turnLimit is the number of messages routed before other mail is handled.
const turnLimit = mail.DeadLetterBatch

// state is the core: it imports no actor library and no clock.
type state struct {
	vhost  *topology.VHost
	stats  *Stats
	events *events.Hub
	log    zerolog.Logger
	self   mail.Address
	price  *budget.Copies
	now    int64 // time of the current mail, ms

	sources sources
	copies  seqmap.Map[pendingCopy]
	watched map[string]struct{} // targets, by actor id
	// base is added to the numbers of copies. It is random, so that answers to an earlier incarnation do not match
	// copies of this one.
	base          uint64
	router        router
	targetBatches targetBatches
	copy          message.Message // the current message, if it has several targets
	steps         int             // steps of routing in this turn
	continuing    bool            // a continueBatch is in the mailbox
	expired       expired
	finishing     *mail.FinishDeadLetters // no new work is started
	unanswered    int                     // copies of messages with several targets
	heldAt        uint64                  // generation of the topology when held batches were last looked at
	awaiting      bool                    // askAgain follows
	warnings      warnings
	out           outcome
}

// outcome holds the effects of a turn, in order.
type outcome struct {
	watch []mail.Address
	mail.Posts
	search []*batch // batches whose next route needs a search
	await  bool     // askAgain is wanted
}

// batch is one DeadLetter mail.
type batch struct {
	*mail.DeadLetter
	next    int // index of the first message not routed yet
	pending []pendingMessage
	stats   *ReasonStats
	// requests are the counts for the reason for which requests are answered; nil for other batches.
	requests *ReasonStats
	// waiting is the search for the route of the next message if it exceeds a turn, found the result. Batches of other
	// queues continue during the search.
	waiting *topology.Long
	found   *topology.LongRoute
	// held: the next message waits for permission to be copied, that many times; permitted is how many copies it may
	// have.
	held              bool
	copies, permitted int
	// prepared: the next message is stamped, as it has waited.
	prepared bool
	// reply collects the messages settled in this turn; nil for none.
	reply *mail.DeadLetterReply
}

// pendingMessage is one message that targets have not answered.
type pendingMessage struct {
	batch   *batch
	id      uint64
	stored  uint64 // its number in the journal, 0 for none
	copies  int    // number of unanswered copies
	refused bool   // by at least one target
	lost    bool   // at least one copy was lost
	several bool   // it has several targets, which are recorded as they take it if the queue retries
	taken   []mail.Target
}

// pendingCopy is a message at one target.
type pendingCopy struct {
	message *pendingMessage
	target  *topology.Queue
}

func (s *state) init(cfg Config, base uint64) {
	s.base = base
	s.vhost, s.stats, s.log, s.events, s.price = cfg.VHost, cfg.Stats, cfg.Log, cfg.Events, cfg.Copies
	s.watched = map[string]struct{}{}
	s.targetBatches.index = map[*topology.Queue]int{}
}

// advance drops the messages before next, which are routed.
func (b *batch) advance() {
	b.Messages, b.pending = slices.Clone(b.Messages[b.next:]), b.pending[b.next:]
	if b.Stored != nil {
		b.Stored = b.Stored[b.next:]
	}
	b.next = 0
}

// storedAs returns the number by which its queue has stored a message, 0 for none.
func (b *batch) storedAs(i int) uint64 {
	if b.Stored == nil {
		return 0
	}
	return b.Stored[i]
}

// take queues a batch after the unfinished ones of its source.
func (s *state) take(d *mail.DeadLetter) {
	if s.finishing != nil {
		return
	}
	b := &batch{DeadLetter: d, pending: make([]pendingMessage, len(d.Messages)), stats: s.stats.ByReason(d.Reason)}
	if d.Respond {
		d.Stored = nil // an answer is no copy
		b.requests, b.stats = b.stats, &s.stats.Answered
	}
	s.sources.add(b)
	if !s.continuing {
		s.step()
	}
}

// searched sets the route for which a batch waits.
func (s *state) searched(b *batch, route topology.LongRoute) {
	if !s.sources.found(b) {
		return // from an earlier incarnation
	}
	if b.found = &route; !s.continuing {
		s.step()
	}
}

// step routes messages of the next source's oldest batch, up to a turn's limit.
func (s *state) step() {
	s.continuing, s.steps = false, 0
	from := s.sources.take()
	if from == nil {
		return
	}
	b := from.batches[0]
	end := min(len(b.Messages), b.next+turnLimit)
	s.targetBatches.backing = b.Messages[b.next:b.next:end]
	if end == len(b.Messages) {
		s.targetBatches.backing = b.Messages[b.next:b.next] // with its full capacity, for reuse
	}
	s.route(b, end)
	if b.next < end { // the memory behind it belongs to the first target's batch
		b.advance()
	}
	s.targetBatches.send(s)
	s.answer(b)
	if b.next == len(b.Messages) {
		b.Messages = nil // now owned by the targets
		s.router.last, s.router.moved, s.router.divided, s.copy = stamped{}, moved{}, divided{}, message.Message{}
		from.batches[0] = nil
		from.batches = from.batches[1:]
	}
	if s.sources.put(from); b.held {
		s.hold(from)
	}
	if len(s.sources.next) > 0 {
		s.continuing = true
		s.out.Send(s.self, continueBatch{})
	}
}

// enqueued handles a target's answer to copies.
func (s *state) enqueued(m *mail.EnqueueReply) {
	var last *batch
	fate := taken
	switch {
	case errors.Is(m.Why, mail.ErrCopy):
		fate = unfit
	case m.Refused:
		fate = refused
	}
	several := 0
	for _, r := range m.Ranges {
		if r.First <= s.base {
			continue
		}
		s.copies.TakeRange(r.First-s.base, r.Last-s.base, func(_ uint64, c pendingCopy) {
			if c.message.several {
				several++
			}
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
	s.answeredCopies(several)
	s.finished()
}

// targetGone settles the copies that a target has not answered before its end.
func (s *state) targetGone(who mail.Address) {
	delete(s.watched, who.GetId())
	var numbers []uint64
	s.copies.Each(func(n uint64, c pendingCopy) bool {
		if mail.Same(c.target.PID, who) {
			numbers = append(numbers, n)
		}
		return true
	})
	several := 0
	for _, n := range numbers {
		c, _ := s.copies.Take(n)
		if c.message.several {
			several++
		}
		c.message.batch.stats.LostTargets.Add(1)
		c.message.copyDone(c.target, refused)
		s.answer(c.message.batch)
	}
	s.answeredCopies(several)
	s.finished()
}

// finish drops batches not yet routed.
func (s *state) finish(m *mail.FinishDeadLetters) {
	s.abandon()
	s.sources, s.finishing = sources{}, m
	s.finished()
}

// finished answers FinishDeadLetters once all targets have answered.
func (s *state) finished() {
	if s.finishing != nil && s.copies.Len() == 0 {
		s.out.Send(s.finishing.Answer(mail.Gone))
	}
}

// fate is the result of a copy.
type fate int

const (
	taken fate = iota
	refused
	unfit // permanently not valid for its target
)

// copyDone is called for each finished copy. A copy refused by its target counts as settled unless its queue retries:
// delivery is then at most once (DL-29). An unfit copy always counts as settled (SBR-6).
func (l *pendingMessage) copyDone(target *topology.Queue, what fate) {
	b := l.batch
	kept := b.Guarantee != mail.Drop // refused messages are retried
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
	case l.lost:
		b.answering().Dropped++
	default:
		b.stats.Confirmed.Add(1)
	}
	b.done(l.id)
}

// keep returns a message to its queue for a retry.
func (b *batch) keep(id uint64, taken []mail.Target) {
	b.stats.Kept.Add(1)
	r := b.answering()
	r.Retained = append(r.Retained, mail.Retained{ID: id, Taken: taken})
}

// done settles a message.
func (b *batch) done(id uint64) {
	if b.Guarantee == mail.AtLeastOnce {
		b.stats.AtLeastOnce.Add(1)
	} else {
		b.stats.AtMostOnce.Add(1)
	}
	if b.requests != nil { // its queue does not dead-letter it
		b.requests.NoExchange.Add(1)
	}
	b.answering().Add(id)
}

// noTarget settles a message without a target, or returns it to be retried; count counts messages dropped for this
// reason. If one target has taken the message, it is settled (DL-30).
func (b *batch) noTarget(id uint64, count *atomic.Uint64) {
	switch {
	case b.Guarantee != mail.AtLeastOnce:
		b.answering().Dropped++
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

// answer sends the results of b to its source; b may be nil.
func (s *state) answer(b *batch) {
	if b != nil && b.reply != nil {
		s.out.Send(b.From, b.reply)
		b.reply = nil
	}
}

// reportLost informs every source with unanswered messages that they are lost.
func (s *state) reportLost() {
	type round struct {
		from  string
		round uint64
	}
	reported := map[round]bool{}
	report := func(b *batch) {
		if r := (round{b.From.GetId(), b.Epoch}); !reported[r] {
			reported[r] = true
			s.out.Send(b.From, &mail.DeadLetterReply{Incarnation: b.Incarnation, Lost: true, Epoch: b.Epoch})
		}
	}
	s.sources.each(report)
	s.abandon()
	s.copies.Each(func(_ uint64, c pendingCopy) bool {
		report(c.message.batch)
		return true
	})
}

// abandon ends the searches for routes, and the waiting for permission.
func (s *state) abandon() {
	s.stats.Waiting.Add(-int64(len(s.sources.held)))
	s.sources.held = nil
	s.sources.each(func(b *batch) {
		if b.waiting != nil {
			b.waiting.Stop()
			b.waiting = nil
		}
	})
}
