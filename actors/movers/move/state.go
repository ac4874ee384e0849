package move

import (
	"errors"
	"math"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
)

// Job describes a move.
type Job struct {
	VHost *topology.VHost
	From  *topology.Queue
	To    To
	// IDs are the numbers of the messages, nil for all messages ready when the move starts.
	IDs map[uint64]struct{}
	// Rate is the maximum number of messages per second, 0 for no limit.
	Rate float64
	// DryRun counts the messages that would be moved, and moves none.
	DryRun bool
	// Copies permits messages for several queues; nil for no limit.
	Copies *budget.Copies
	// May checks whether the user may publish to an exchange with a key.
	May func(exchange, key string) error
}

// To is the destination: a queue; the queue that last dead-lettered each message (Origin); or an exchange, with Key
// if HasKey, otherwise with each message's own key.
type To struct {
	Queue, Exchange, Key string
	HasKey, Origin       bool
}

// Phase is the stage of a move.
type Phase string

// The phases.
const (
	Running  Phase = "running"
	Finished Phase = "finished"
	Stopped  Phase = "stopped" // ended by Stop
	Failed   Phase = "failed"
)

// Reasons for leaving a message in the queue.
const (
	Unroutable = "unroutable"     // no route to a queue
	NoOrigin   = "no_x_death"     // not dead-lettered by the broker
	Denied     = "access_refused" // the user may not publish to its destination
	Refused    = "refused"        // a target did not take it: the target is full, down, or was deleted during the move
	Unreadable = "unreadable"     // its content in the journal cannot be read
	TooLong    = "too_many_bindings"
	TooMany    = "too_many_copies" // it may not be sent to that many queues any more (DL-32)
)

// maxTargets is the number of targets counted by name; further targets are counted together.
const (
	maxTargets = 100
	others     = "(others)"
)

// Status is the progress of a move. It is immutable.
type Status struct {
	Phase  Phase
	Reason string // if the move failed
	// Moved counts messages that all their targets have confirmed or, in a dry run, would get; Targets counts them by
	// queue. A message with several queues counts in each.
	Moved   int64
	Targets map[string]int64
	// Kept counts messages that stay in the queue, by reason.
	Kept           map[string]int64
	Started, Ended int64 // ms of the broker's time; Ended is 0 while running
}

// item is a claimed message.
type item struct {
	mail.ClaimedMessage
	copies  int  // unconfirmed copies
	taken   bool // by at least one target
	unfit   bool // an action failed for a target: the message is moved if another target takes it
	left    bool // not tried: the move was stopped
	reason  string
	targets []string
}

// copied is one message at one target.
type copied struct {
	item   *item
	target mail.Address
}

// state is the core.
type state struct {
	job    Job
	self   mail.Address
	status Status
	router router

	after    mail.Cursor
	newest   uint64
	more     bool
	batch    []item
	next     int           // index of the next item to route
	began    clock.Instant // in real time
	apart    clock.Instant // how far real time is ahead of the time of turns (CLK-4)
	copies   map[uint64]copied
	number   uint64  // number of the last copy
	asking   bool    // Claimed is outstanding
	settled  *Status // with the batch whose SettleReply is outstanding, nil for none
	waiting  bool    // waits for the start of the next batch
	held     bool    // the next item waits for permission to be copied
	awaiting bool    // again follows when it is worth asking for permission
	stopping bool
	out      outcome
}

// outcome holds the effects of a turn.
type outcome struct {
	mail.Posts
	watch []mail.Address
	again bool  // another turn of routing is needed
	await bool  // again is wanted when copies may be permitted
	wait  int64 // ms until tick, 0 for none
	ended bool
}

func (s *state) begin(job Job, self mail.Address, now clock.Instant) {
	s.job, s.self = job, self
	s.status = Status{Phase: Running, Started: now.Floor()}
	s.copies = map[uint64]copied{}
	s.router.job, s.router.may = &s.job, map[[2]string]error{}
	s.out.watch = append(s.out.watch, job.From.PID)
	s.claim(now)
}

// size returns the number of messages to claim: if there is a rate, the number for a quarter of a second.
func (s *state) size() int {
	if s.job.Rate <= 0 {
		return mail.MaxClaimed
	}
	return int(min(max(s.job.Rate/4, 1), mail.MaxClaimed))
}

func (s *state) claim(now clock.Instant) {
	s.began, s.asking, s.waiting = now+s.apart, true, false
	s.out.Send(s.job.From.PID, &mail.Claim{
		Request: mail.Request{ReplyTo: s.self}, After: s.after, Newest: s.newest, Seqs: s.job.IDs, Limit: s.size(), Look: s.job.DryRun,
		Queue: s.job.From.Name, VHost: s.job.VHost.Name,
	})
}

// claimed handles a batch.
func (s *state) claimed(m *mail.ClaimReply, now clock.Instant) {
	switch {
	case s.status.Phase != Running:
		return
	case m.Err != nil:
		s.end(Failed, m.Err.Error(), now)
		return
	}
	s.asking = false
	s.after, s.newest, s.more, s.next = m.Next, m.Newest, m.More, 0
	s.batch = make([]item, len(m.Messages))
	for i := range m.Messages {
		s.batch[i].ClaimedMessage = m.Messages[i]
	}
	s.route(now)
}

// route routes items of the batch, up to a turn's limit.
func (s *state) route(now clock.Instant) {
	if s.held = false; s.status.Phase != Running {
		return
	}
	batches, order := map[*topology.Queue]*mail.Enqueue{}, []*topology.Queue{}
	for steps := 0; s.next < len(s.batch) && steps < topology.TurnSteps; s.next++ {
		i := &s.batch[s.next]
		queues, caps := s.router.plan(i)
		steps += 1 + s.router.Steps()
		if len(queues) > 0 && !s.job.DryRun {
			if queues = s.permitted(i, queues); s.held {
				break
			}
		}
		for at, q := range queues {
			i.targets = append(i.targets, q.Name)
			if s.job.DryRun {
				continue
			}
			e := batches[q]
			if e == nil {
				e = &mail.Enqueue{From: s.self, Queue: q.PID, Table: q.Table, Action: q.Action, Moved: true, Origin: s.job.From.Incarnation}
				batches[q], order = e, append(order, q)
			}
			copy := i.Message
			if caps != nil {
				copy.Cap(caps[at])
			}
			s.number++
			copy.Number = s.number
			s.copies[s.number] = copied{i, q.PID}
			i.copies++
			e.Messages, e.Origins = append(e.Messages, copy), append(e.Origins, i.Stored)
		}
	}
	for _, q := range order {
		s.out.watch = append(s.out.watch, q.PID)
		s.out.Send(q.PID, batches[q])
	}
	s.out.again = s.next < len(s.batch) && !s.held
	s.settle(now)
}

// enqueued handles a target's answer.
func (s *state) enqueued(m *mail.EnqueueReply, now clock.Instant) {
	for _, r := range m.Ranges {
		for n := r.First; n <= r.Last; n++ {
			s.answered(n, m.Refused, errors.Is(m.Why, mail.ErrCopy))
		}
	}
	s.out.again = s.out.again || s.held && !s.awaiting && len(s.copies) < maxCopies/2
	s.settle(now)
}

func (s *state) answered(n uint64, refused, unfit bool) {
	c, there := s.copies[n]
	if !there {
		return
	}
	delete(s.copies, n)
	c.item.copies--
	switch {
	case unfit:
		c.item.unfit = true
	case refused:
		c.item.reason = Refused
	default:
		c.item.taken = true
	}
}

// gone handles the end of an actor, the queue or a target.
func (s *state) gone(who mail.Address, now clock.Instant) {
	if s.status.Phase != Running {
		return
	}
	for n, c := range s.copies {
		if mail.Same(c.target, who) {
			s.answered(n, true, false)
		}
	}
	if mail.Same(who, s.job.From.PID) {
		s.end(Failed, "the queue has ended", now)
		return
	}
	s.settle(now)
}

// settle settles the batch when all its messages are answered, and continues with the next batch.
func (s *state) settle(now clock.Instant) {
	if s.status.Phase != Running || s.asking || s.waiting || s.settled != nil || s.next < len(s.batch) || len(s.copies) > 0 {
		return
	}
	settled := &mail.Settle{Channel: s.self, Asked: &mail.Request{ReplyTo: s.self}, Durable: true}
	next := s.status
	next.Targets, next.Kept = cloned(next.Targets), cloned(next.Kept)
	for i := range s.batch {
		x := &s.batch[i]
		how := mail.Ack
		if x.unfit && !x.taken {
			x.reason = Refused
		}
		switch {
		case x.left:
			how = mail.PutBack
		case x.reason != "":
			how = mail.PutBack
			next.Kept[x.reason]++
		default:
			next.Moved++
			for _, name := range x.targets {
				count(next.Targets, name)
			}
		}
		if k := len(settled.Ranges); k > 0 && settled.Ranges[k-1].How == how && settled.Ranges[k-1].Last+1 == x.Number {
			settled.Ranges[k-1].Last = x.Number
		} else {
			settled.Ranges = append(settled.Ranges, mail.SettleRange{First: x.Number, Last: x.Number, How: how})
		}
	}
	s.settled = &next
	if len(s.batch) > 0 && !s.job.DryRun {
		s.out.Send(s.job.From.PID, settled)
		return
	}
	s.settledAll(nil, now)
}

// settledAll continues with the next batch: the queue has settled this one, and the journal has that (DUR-3).
func (s *state) settledAll(err error, now clock.Instant) {
	if s.status.Phase != Running || s.settled == nil {
		return
	}
	s.status, s.settled = *s.settled, nil
	n := len(s.batch)
	s.batch, s.next = nil, 0
	switch {
	case err != nil:
		s.end(Failed, err.Error(), now)
	case !s.more:
		s.end(Finished, "", now)
	case s.stopping:
		s.end(Stopped, "", now)
	default:
		s.pause(n, now)
	}
}

// pause schedules the next batch after n messages, as the rate requires.
func (s *state) pause(n int, now clock.Instant) {
	s.waiting = true
	if s.job.Rate > 0 && !s.job.DryRun && n > 0 {
		left := math.Ceil(float64(n)*1000/s.job.Rate) - float64(now+s.apart-s.began)/1e6
		if left > 0 {
			s.out.wait = int64(math.Ceil(left))
			return
		}
	}
	s.claim(now)
}

// tick starts the next batch.
func (s *state) tick(now clock.Instant) {
	if s.status.Phase == Running && s.waiting {
		s.claim(now)
	}
}

// stop ends the move after the current batch. Messages that wait for permission to be copied stay in the queue.
func (s *state) stop(now clock.Instant) {
	s.stopping = true
	if s.held {
		for i := s.next; i < len(s.batch); i++ {
			s.batch[i].left = true
		}
		s.held, s.more, s.next = false, true, len(s.batch)
		s.settle(now)
	}
	if s.status.Phase == Running && s.waiting {
		s.end(Stopped, "", now)
	}
}

func (s *state) end(phase Phase, reason string, now clock.Instant) {
	s.status.Phase, s.status.Reason, s.status.Ended = phase, reason, now.Floor()
	s.out.ended, s.out.again, s.out.await, s.out.wait = true, false, false, 0
}

func cloned(of map[string]int64) map[string]int64 {
	c := make(map[string]int64, len(of)+1)
	for k, v := range of {
		c[k] = v
	}
	return c
}

func count(of map[string]int64, name string) {
	if _, known := of[name]; !known && len(of) >= maxTargets {
		name = others
	}
	of[name]++
}

// alone returns an overlay without further keys: a move uses a single key.
func alone(o *message.Overlay) *message.Overlay {
	if o == nil || len(o.CC)+len(o.BCC) == 0 {
		return o
	}
	next := *o
	next.CC, next.BCC = nil, nil
	return &next
}
