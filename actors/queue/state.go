package queue

import (
	"unique"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"

	"candlemark/actors/queue/inspect"

	"candlemark/actors/queue/messages"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// state is the core: it imports no actor library, no clock and no disk.
type state struct {
	messages.Messages
	queue        *topology.Queue
	vhost        *topology.VHost
	self         mail.Address
	effective    unique.Handle[matched]
	settings     unique.Handle[policies.QueueSettings] // as they were when the state was built
	phase        phase
	dueNow       bool   // handle deadlines at the end of this turn
	consumerLeft bool   // in this turn, or while a command was in progress
	turnLimit    uint16 // limit of messages in one turn: workLimit; tests set others
	used         int64  // time of the last turn other than a query, wall ms
	busy         int64  // real time of that turn, ms
	lease        idleLease
	consumers    consumers.Consumers
	deliveries   deliveries.Deliveries
	receivers    deliveries.Receivers
	pending      deliveries.Pending
	flow         *FlowControl   // nil until publishers have outrun consumers
	gets         []*mail.Get    // waiting for a content
	handled      uint64         // number of the vhost's commands, for the end of the queue (PRO-3)
	waking       *mail.Activate // to be answered when nothing is overdue
	farewell     farewell
	preview      *inspect.Preview // nil if none is in progress
	out          outcome
}

// outcome holds the effects of a turn. The shell carries them out in the order of the fields (carryOut): a receiver of
// mail can rely on the effects of earlier fields only.
type outcome struct {
	// Posts are sent first, in order, deliveries last. Mail that may be sent only when records are durable is not
	// included: it waits in the commit (records), whose end is a mail.
	mail.Posts
	// done are batches to release once the mail about them is sent.
	done []*mail.Enqueue
	// watch are new channels to watch.
	watch []mail.Address
	// lookups are contents to read for answers. Like the pager's, they are read after the turn's records are appended,
	// because they may be messages written in this turn.
	lookups []*lookup
	// again requests another turn at once. Otherwise the timer is armed.
	again bool
}

func (s *state) init(cfg *Config, self mail.Address, now clock.Instant) {
	fromDormant(s, &dormantState{queue: cfg.Queue, settings: unique.Make(cfg.Settings), effective: matchedBy(cfg.Effective)}, cfg.Shared, self)
	if s.queue.Ending == "" {
		s.lease.SetPeriod(period(s.Settings.Expires), now.Ceil(), leaseStarted)
	}
	if s.Settings.HasForward {
		s.lease.Hold()
	}
	if s.queue.Durable { // in others, the numbering ends with the queue
		s.Seq = cfg.Newest
	}
	publishPolicies(s)
	s.Restore(cfg.Recovered)
	if x := s.Scheduled; x != nil && !cfg.Revived {
		x.Overdue = now.Floor()
	}
	if cfg.Recovering {
		s.phase.becomeRecovering()
	}
}

// period converts the setting expires, in ms with -1 for none, to the lease's period, in ms with 0 for none.
func period(expires int64) int64 { return max(expires, 0) }

// act handles one mail. endTurn does the steps that follow from it.
func (s *state) act(received any, now clock.Instant) {
	switch s.phase {
	case live, ending:
		if s.pending.Waits() && !ownMail(received) {
			s.pending.Park(received)
			return
		}
		if s.phase == ending && s.farewell.handle(s, received, now) {
			return
		}
	case recovering:
		s.handleRecovering(received, now)
		return
	case closing, retiring:
		if s.park(received) {
			return
		}
	case ended:
		s.handleLate(received)
		return
	}
	if s.Scheduled != nil && s.phase == live && s.pending.Work() == nil {
		s.releaseBefore(received, now)
	}
	switch m := received.(type) {
	case *mail.Enqueue:
		s.enqueue(m, now)
	case *mail.Settle:
		s.deliveries.Settle(m, now)
	case *mail.ReturnWindow:
		s.consumers.Grant(m)
	case *mail.SetLinkCredit, *mail.QosReclaim, *mail.QosAllow, *mail.QosLimited, *mail.SetPrefetch, *mail.UnreadRoom:
		s.consumers.Adjust(m)
	case timerFired:
		s.dueNow = true
	case again:
		w := s.pending.Work()
		if w != nil && w.Expires {
			s.ExpireDue(now)
		}
		s.dueNow = w == nil || s.pending.Step(now) // messages may have become due during the work
	case appendDone:
		s.Written(m.commit, m.err)
	case loaded:
		s.contentsRead(m, now)
	case *mail.DeadLetterReply:
		s.DeadLetters.Answered(m, now)
	default:
		s.control(received, now)
	}
}

// control handles the rarer mail.
func (s *state) control(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.Consume:
		s.consume(m, now)
	case *mail.CancelConsumer:
		s.cancel(m, now)
	case *mail.Get:
		s.get(m, now)
	case *mail.ReceiveDeferred:
		receiveDeferred(s, m, now)
	case *mail.Purge:
		s.purge(m, now)
	case *mail.DeleteMessages:
		deleteMessages(s, m, now)
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
		s.renewedBy(policies.RenewedByPeek, leasePeeked, now)
		s.startQuery(m, s.view().Peek(s.receivers.OfLink(m)), now)
	case *mail.ListUnacked:
		s.startQuery(m, s.view().ListUnacked(m), now)
	case *mail.RenewLock:
		s.deliveries.Renew(m, now)
	case *mail.SettleLocked:
		s.deliveries.SettleLocked(m, now)
	case *mail.ReturnDelivery:
		s.deliveries.RequeueOnRequest(m, now)
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
		s.farewell.forgotten(s)
	case *mail.QueueEnding:
		s.farewell.begin(s, now)
	case *mail.QueueKept:
		s.kept(now)
	default:
		s.handleScheduled(received, now)
	}
}

// flush sends each consumer its deliveries of this turn, and counts their times.
func (s *state) flush() {
	s.Ages.Flush(s.Journal.At)
	withAcks, without := s.consumers.Flush()
	s.Counts.Deliver += withAcks
	s.Counts.DeliverNoAck += without
}

// configure applies new settings. They come only if the matched policy has changed, so the lease restarts (LEASE-4)
// and limits apply at once (POL-9). Messages keep their deadlines (TTL-24), unless the policy says otherwise
// (TTL-25).
func (s *state) configure(m *mail.Configure, now clock.Instant) {
	before := applySettings(s, m, now)
	if before.HasDLX && !s.Settings.HasDLX {
		s.DeadLetters.RetryNow(now)
	}
	s.Expiry.Follow(&before)
	s.dueNow = true
}

// applySettings replaces the settings, also of a queue that is recovering, and returns the previous ones.
func applySettings(s *state, m *mail.Configure, now clock.Instant) (before policies.QueueSettings) {
	before = s.Settings
	s.effective, s.Settings = matchedBy(m.Effective), m.Settings
	publishPolicies(s)
	s.lease.SetPeriod(period(s.Settings.Expires), now.Ceil(), leaseChanged)
	s.forwardToChanged(&before, now)
	return before
}

// forwardToChanged applies a change of forward-to. A queue that forwards its messages counts as used; its consumers
// get none.
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
		s.lease.Release(now.Ceil(), leaseChanged)
	}
	s.consumers.Pause(is)
}
