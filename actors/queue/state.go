package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/acktimeouts"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/notices"
	"candlemark/actors/queue/outbox"
	"candlemark/actors/queue/paging"
	"candlemark/actors/queue/records"
	"candlemark/actors/queue/schedule"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// turnLimit is how many messages expire in one turn before other mail gets its
// turn (TTL-33): one letter's worth, so that the dead-letter actor is at work on
// those while the next expire.
const turnLimit = mail.DeadLetterBatch

// state is the core: it knows no actor library, no clock and no disk.
type state struct {
	queue        *topology.Queue
	vhost        *topology.VHost
	self         mail.Address
	effective    policies.Effective
	settings     policies.QueueSettings
	quorum       bool   // a quorum queue
	holdsDelayed bool   // the holder of a delayed exchange
	dueNow       bool   // what is due is done at the end of this turn
	unfinished   bool   // more was due before the mail in hand than a turn has room for
	consumerLeft bool   // in this turn, or while the work went on
	turnMost     uint16 // messages of one turn of work: workLimit; tests have others

	messages    backlog.Backlog
	expiry      expiry.Expiry
	skew        int64 // ms that a date is ahead of its time here (clock.Skew)
	overLimit   bool  // memory is: the budget of all queues is used up
	critical    bool  // by far
	used        int64 // time of the last turn that was no question, wall ms
	lease       lease.Lease
	consumers   consumers.Set
	ackTimeouts *acktimeouts.Timeouts // nil until there was one
	scheduled   *schedule.Schedule    // nil while none waits for its time
	pending     work.Pending
	deadLetters *deadletters.Set // nil until there was one
	seq         uint64           // of the newest message
	counts      mail.Counts

	pager    paging.Pager
	gets     []*mail.Get // that wait for a content
	journal  records.Writer
	handled  uint64 // commands of the vhost, for the farewell (PRO-3)
	phase    phase
	waking   *mail.Wake // to be answered when nothing overdue is left
	deletion deleteReason
	out      outcome
}

// outcome lists what must happen after a turn. The shell does it in the order of the fields (carryOut): who is told
// something can rely on what stands above that, and on nothing below.
type outcome struct {
	// Posts are sent first, in their order, deliveries last. What is to be durable before somebody
	// learns of it is not here yet: it waits in the commit (records), whose end is a mail.
	outbox.Outbox
	// done are released once what they led to is sent.
	done []*mail.Enqueue
	// watch are channels whose end the queue is to learn of.
	watch []mail.Address
	// lookups are read for an answer, as is what the pager orders. They are asked for behind the turn's records: the
	// journal may be read for what was just written.
	lookups []*lookup
	// notices are counted and logged.
	notices notices.Notices
	// again has another turn follow at once. Else the timer is armed.
	again bool
}

func (s *state) init(cfg *Config, self mail.Address, now clock.Instant) {
	s.queue, s.vhost, s.self = cfg.Queue, cfg.VHost, self
	s.quorum = policies.KindOf(cfg.Queue.Arguments) == policies.KindQuorumQueue
	s.holdsDelayed = cfg.Queue.Holds()
	s.journal = records.New(&s.out.Outbox, cfg.Queue.Durable)
	s.expiry = expiry.New(&s.messages, &s.settings, s.quorum)
	s.messages.Budget = cfg.Budget
	s.settings, s.effective = cfg.Settings, cfg.Effective
	s.lease.SetPeriod(period(s.settings.Expires), now.Ceil())
	s.consumers = consumers.New(&s.out.Outbox, self, s.settings.SingleActiveConsumer, s.quorum)
	if s.settings.HasForward {
		s.lease.Hold()
		s.consumers.Pause(true)
	}
	s.turnMost = workLimit
	s.pager = paging.New()
	if s.queue.Durable { // others end with their numbers
		s.seq = cfg.Newest
	}
	s.restore(cfg.Recovered)
	if x := s.scheduled; x != nil && !cfg.Revived {
		x.Overdue = now.Floor()
	}
	if cfg.Asleep {
		s.phase.becomeAsleep()
	}
}

// period translates the setting, -1 for none, into the lease's, 0 for none.
func period(expires int64) int64 { return max(expires, 0) }

// act handles one mail. What follows from that is not done here (endTurn).
func (s *state) act(what any, now clock.Instant) {
	switch s.phase {
	case live:
		if s.pending.Waits() && !ownMail(what) {
			s.pending.Park(what)
			return
		}
	case asleep:
		s.handleAsleep(what, now)
		return
	case retiring:
		if s.park(what) {
			return
		}
	case draining, ended:
		s.handleLate(what, now)
		return
	}
	if s.scheduled != nil && s.phase == live && s.pending.Work() == nil {
		s.releaseBefore(what, now)
	}
	switch m := what.(type) {
	case *mail.Enqueue:
		s.enqueue(m, now)
	case *mail.Settle:
		s.settle(m, now)
	case *mail.Grant:
		s.consumers.Grant(m)
	case *mail.Reclaim:
		s.consumers.Reclaim(m)
	case *mail.Allow:
		s.consumers.Allow(m)
	case *mail.Limit:
		s.consumers.Limit(m)
	case *mail.Resize:
		s.consumers.Resize(m)
	case timerFired:
		s.dueNow = true
	case again:
		s.dueNow = s.pending.Work() == nil || s.stepWork(now)
	case appendDone:
		s.committed(m)
	case loaded:
		s.contentsRead(m, now)
	case *mail.DeadLetterReply:
		s.deadLetters.Answered(m, now)
	default:
		s.control(what, now)
	}
}

// control is the rarer mail.
func (s *state) control(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.Consume:
		s.consume(m)
	case *mail.CancelConsumer:
		s.cancel(m, now)
	case *mail.Get:
		s.get(m, now)
	case *mail.Purge:
		s.purge(m, now)
	case *mail.DeclareQueue:
		s.handled++
		s.declare(m, now)
	case *mail.DeleteQueue:
		s.handled++
		s.delete(m, now)
	case *mail.ChannelGone:
		s.channelGone(m.Channel, now)
	case *mail.PeerGone:
		s.channelGone(m.Who, now)
	case *mail.Configure:
		s.configure(m, now)
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Peek:
		s.renewedBy(policies.RenewedByPeek, now)
		s.ask(m, s.view().Peek(m), now)
	case *mail.ListUnacked:
		s.ask(m, s.view().ListUnacked(m), now)
	case *mail.RenewLock:
		s.renew(m, now)
	case *mail.Trim:
		s.pager.Asked = true
	case *mail.QueueForgotten:
		s.forgotten(now)
	case *mail.QueueKept:
		s.kept(now)
	default:
		s.handleScheduled(what, now)
	}
}

func (s *state) send(to mail.Address, what any) { s.out.Send(to, what) }

// flush sends each consumer what it was given in this turn.
func (s *state) flush() {
	withAcks, without := s.consumers.Flush()
	s.counts.Deliver += withAcks
	s.counts.DeliverNoAck += without
}

// configure takes new settings. Only a change of the matched policy gets here,
// so the lease starts anew (LEASE-4) and limits hold at once (POL-9). Messages
// keep their deadlines (TTL-24), unless the policy wants it otherwise (TTL-25).
func (s *state) configure(m *mail.Configure, now clock.Instant) {
	before := s.settings
	s.effective, s.settings = m.Effective, m.Settings
	s.lease.SetPeriod(period(s.settings.Expires), now.Ceil())
	s.forwardToChanged(&before, now)
	if before.HasDLX && !s.settings.HasDLX {
		s.deadLetters.RetryNow(now)
	}
	s.expiry.Follow(&before)
	s.dueNow = true
}
