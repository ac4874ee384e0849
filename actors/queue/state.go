package queue

import (
	"unique"

	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/flowcontrol"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/outbox"
	"candlemark/actors/queue/receivers"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// state is the core: it knows no actor library, no clock and no disk.
type state struct {
	messages.Set
	queue        *topology.Queue
	vhost        *topology.VHost
	self         mail.Address
	effective    unique.Handle[matched]
	phase        phase
	dueNow       bool   // what is due is done at the end of this turn
	consumerLeft bool   // in this turn, or while the work went on
	turnMost     uint16 // messages of one turn of work: workLimit; tests have others
	used         int64  // time of the last turn that was no question, wall ms
	lease        lease.Lease
	consumers    consumers.Set
	deliveries   deliveries.Deliveries
	receivers    receivers.Receivers
	pending      work.Pending
	flow         *flowcontrol.Control // nil until somebody published more than was taken
	gets         []*mail.Get          // that wait for a content
	handled      uint64               // commands of the vhost, for the farewell (PRO-3)
	waking       *mail.Wake           // to be answered when nothing overdue is left
	deletion     deleteReason
	preview      *inspect.Preview // nil while none is made
	out          outcome
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
	// again has another turn follow at once. Else the timer is armed.
	again bool
}

func (s *state) init(cfg *Config, self mail.Address, now clock.Instant) {
	resume(s, &dormant{queue: cfg.Queue, settings: unique.Make(cfg.Settings), effective: matchedBy(cfg.Effective)}, cfg.Shared, self)
	s.lease.SetPeriod(period(s.Settings.Expires), now.Ceil(), lease.Started)
	if s.Settings.HasForward {
		s.lease.Hold()
	}
	if s.queue.Durable { // others end with their numbers
		s.Seq = cfg.Newest
	}
	match(s)
	s.Restore(cfg.Recovered)
	if x := s.Scheduled; x != nil && !cfg.Revived {
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
	if s.Scheduled != nil && s.phase == live && s.pending.Work() == nil {
		s.releaseBefore(what, now)
	}
	switch m := what.(type) {
	case *mail.Enqueue:
		s.enqueue(m, now)
	case *mail.Settle:
		s.deliveries.Settle(m, now)
	case *mail.Grant:
		s.consumers.Grant(m)
	case *mail.Credit:
		s.consumers.Credit(m)
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
		w := s.pending.Work()
		if w != nil && w.Expires {
			s.ExpireDue(now)
		}
		s.dueNow = w == nil || s.pending.Step(now) // what came due meanwhile
	case appendDone:
		s.Written(m.commit, m.err)
	case loaded:
		s.contentsRead(m, now)
	case *mail.DeadLetterReply:
		s.DeadLetters.Answered(m, now)
	default:
		s.control(what, now)
	}
}

// control is the rarer mail.
func (s *state) control(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.Consume:
		s.consume(m, now)
	case *mail.CancelConsumer:
		if c := s.consumers.Find(m.Channel, m.Tag); c != nil {
			s.detach(c, now)
		} else {
			s.receivers.Cancel(m.Channel, m.Tag, now)
		}
		s.out.Send(m.ReplyTo, &mail.CancelConsumerReply{Reply: m.Done(nil), Tag: m.Tag})
	case *mail.Get:
		s.get(m, now)
	case *mail.ReceiveDeferred:
		receiveDeferred(s, m, now)
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
		s.renewedBy(policies.RenewedByPeek, lease.Peeked, now)
		s.ask(m, s.view().Peek(s.receivers.OfLink(m)), now)
	case *mail.ListUnacked:
		s.ask(m, s.view().ListUnacked(m), now)
	case *mail.RenewLock:
		s.deliveries.Renew(m, now)
	case *mail.SettleLocked:
		s.deliveries.SettleLocked(m, now)
	case *mail.ReturnDelivery:
		s.deliveries.Return(m, now)
	case *mail.Claim:
		claim(s, m, now)
	case *mail.UseSession:
		s.receivers.Use(m, now)
	case *mail.ListSessions:
		s.receivers.List(m, now)
	case *mail.PreviewSettings:
		beginPreview(s, m)
	case *mail.Trim:
		s.Pager.Asked = true
	case *mail.QueueForgotten:
		s.forgotten(now)
	case *mail.QueueKept:
		s.kept(now)
	default:
		s.handleScheduled(what, now)
	}
}

// flush sends each consumer what it was given in this turn.
func (s *state) flush() {
	withAcks, without := s.consumers.Flush()
	s.Counts.Deliver += withAcks
	s.Counts.DeliverNoAck += without
}

// configure takes new settings. Only a change of the matched policy gets here,
// so the lease starts anew (LEASE-4) and limits hold at once (POL-9). Messages
// keep their deadlines (TTL-24), unless the policy wants it otherwise (TTL-25).
func (s *state) configure(m *mail.Configure, now clock.Instant) {
	before := s.Settings
	s.effective, s.Settings = matchedBy(m.Effective), m.Settings
	match(s)
	s.lease.SetPeriod(period(s.Settings.Expires), now.Ceil(), lease.Changed)
	s.forwardToChanged(&before, now)
	if before.HasDLX && !s.Settings.HasDLX {
		s.DeadLetters.RetryNow(now)
	}
	s.Expiry.Follow(&before)
	s.dueNow = true
}

// forwardToChanged follows a change of forward-to. A queue that moves its messages on is in
// use; its consumers get nothing.
func (s *state) forwardToChanged(before *policies.QueueSettings, now clock.Instant) {
	was, is := before.HasForward, s.Settings.HasForward
	if was == is && before.ForwardTo == s.Settings.ForwardTo {
		return
	}
	s.DeadLetters.RetryNow(now)
	switch {
	case is && !was:
		s.lease.Hold()
	case was && !is:
		s.lease.Release(now.Ceil(), lease.Changed)
	}
	s.consumers.Pause(is)
}
