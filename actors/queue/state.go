package queue

import (
	"unique"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// state is the core: what its parts share, and the parts (parts.go). It imports no actor library, no clock and no disk.
type state struct {
	host
	effective  unique.Handle[policies.Matched]
	settings   unique.Handle[policies.QueueSettings] // as they were when the state was built
	waking     *mail.Activate                        // to be answered when nothing is overdue
	farewell   farewell
	sessioned  sessioned
	duplicates duplicates
	flow       *withholding // nil until publishers have outrun consumers
	gets       gets
	pausing    pausing
	preview    *preview // nil before the first
}

func (s *state) init(cfg *Config, self mail.Address, now clock.Instant) {
	fromDormant(s, &dormantState{queue: cfg.Queue, settings: unique.Make(cfg.Settings), effective: policies.MatchedBy(cfg.Effective)}, cfg.Shared, self)
	s.each(func(p part) { p.Settings(nil, now) })
	if s.queue.Durable { // in others, the numbering ends with the queue
		s.messages.Seq = cfg.Newest
	}
	publishPolicies(s)
	s.restore(cfg.Recovered)
	if !cfg.Revived {
		s.each(func(p part) {
			if x, ok := p.(restarter); ok {
				x.Restarted(now)
			}
		})
	}
	if cfg.Recovering {
		s.phase.becomeRecovering()
	}
}

// act handles one mail. endTurn does the steps that follow from it.
func (s *state) act(received any, now clock.Instant) {
	switch s.phase {
	case live, ending:
		if (s.full || s.pending.Waits()) && !ownMail(received) {
			s.pending.Park(received)
			return
		}
		if s.phase == ending && s.handleEnding(received, now) {
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
		s.farewell.handleLate(received)
		return
	}
	if s.pausing.hold.On() { // the timer may be late
		s.pausing.Advance(now)
	}
	if x := s.early(); x != nil && s.phase == live && s.pending.Work() == nil {
		s.actEarly(x, received, now)
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
			s.messages.ExpireDue(now)
		}
		s.dueNow = w == nil || s.pending.Step(now) // messages may have become due during the work
	case appendDone:
		early := len(s.out.Posts) > 0
		if s.messages.Written(m.commit, m.err); !early {
			s.out.told = len(s.out.Posts)
		}
	case loaded:
		s.messages.Loaded(m.handles, m.contents, m.bytes, now)
		if s.phase == live && s.pending.Work() == nil {
			s.resume(now)
		}
	case *mail.DeadLetterReply:
		s.messages.DeadLetters.Answered(m, now)
	default:
		s.control(received, now)
	}
}

// control handles the rarer mail that every queue has, and gives the rest to the parts.
func (s *state) control(received any, now clock.Instant) {
	switch m := received.(type) {
	case *mail.Consume:
		s.consume(m, now)
	case *mail.CancelConsumer:
		s.cancel(m, now)
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
	case *mail.Trim:
		s.messages.Pager.Asked = true
	case *mail.QueueForgotten:
		s.forgotten()
	case *mail.QueueEnding:
		s.beginEnding(now)
	case *mail.QueueKept:
		s.kept(now)
	default:
		for _, of := range handlers {
			if of(s).Handle(received, now) {
				return
			}
		}
	}
}

// flush sends each consumer its deliveries of this turn, and counts their times.
func (s *host) flush() {
	s.messages.Ages.Flush(s.messages.Journal.At)
	withAcks, without := s.consumers.Flush()
	s.messages.Counts.Deliver += withAcks
	s.messages.Counts.DeliverNoAck += without
}

// configure applies new settings, also while the queue is recovering. They come only if the matched policy has changed, so
// the lease restarts (LEASE-4) and limits apply at once (POL-9).
func (s *state) configure(m *mail.Configure, now clock.Instant) {
	before := s.messages.Settings
	s.effective, s.messages.Settings = policies.MatchedBy(m.Effective), m.Settings
	publishPolicies(s)
	s.each(func(p part) { p.Settings(&before, now) })
	s.dueNow = true
}
