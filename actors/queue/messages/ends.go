package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/deferred"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/storage/store"
)

// ShouldDeadLetter reports whether messages that end for the reason why are dead-lettered. A queue that is ending
// dead-letters them regardless of whether expired messages are, and even if there is no exchange at present.
func (s *Messages) ShouldDeadLetter(why store.Reason) bool {
	return s.ending || s.Settings.HasDLX && (why != store.Expired || !s.Settings.DropExpired)
}

// EndReady ends a ready message: it is dropped, or dead-lettered if there is an exchange. The caller must have taken
// it off the wheel.
func (s *Messages) EndReady(h backlog.Handle, why store.Reason) {
	if s.ShouldDeadLetter(why) || s.Settings.AnswerRequests {
		s.Backlog.Take(h)
	}
	s.End(h, why)
}

// Expire ends a ready message past its deadline, and records the lateness, except with strict expiry.
func (s *Messages) Expire(h backlog.Handle, now clock.Instant) {
	if !s.Settings.StrictExpiry {
		s.Late.Expired(s.Backlog.Deadline(h), int64(now))
	}
	s.EndReady(h, store.Expired)
}

// End implements deadletters.Owner.
func (s *Messages) End(h backlog.Handle, why store.Reason) {
	switch {
	case s.ShouldDeadLetter(why):
		s.queue.Sent.Count(deaths[why])
		s.ensureDeadLetters().Add(h, why)
	case s.Settings.AnswerRequests: // by the dead-letter actor, too
		s.ensureDeadLetters().Add(h, why)
	default:
		s.Drop(h, why)
	}
}

// deaths are the metrics of each reason.
var deaths = [...]metrics.Why{
	store.Expired: metrics.Expired, store.Rejected: metrics.Rejected, store.Overflowed: metrics.MaxLen, store.Exceeded: metrics.DeliveryLimit, store.Exhausted: metrics.Hops,
	store.Copied: metrics.Copies, store.Failed: metrics.RuleFailed,
}

// Drop implements deadletters.Owner.
func (s *Messages) Drop(h backlog.Handle, why store.Reason) {
	s.Notices.Dropped(why)
	s.Remove(h, why)
}

// MakeReady implements deadletters.Owner.
func (s *Messages) MakeReady(h backlog.Handle) {
	s.Backlog.Entry(h).Marks &^= backlog.Failed | backlog.Ended
	if s.Backlog.Entry(h).Marks&backlog.Deferred != 0 {
		ensureDeferred(s).Add(h, s.Journal.At)
		return
	}
	s.Backlog.Return(h)
	s.Sessions.Ready(s.Backlog.Seq(h))
	s.Expiry.Add(h)
}

// Remove implements deadletters.Owner.
func (s *Messages) Remove(h backlog.Handle, why store.Reason) {
	s.Journal.Remove(s.Backlog.Entry(h), why)
	s.Backlog.Remove(h)
}

// ensureDeferred creates the set of deferred messages, which few queues need.
func ensureDeferred(s *Messages) *deferred.Deferred {
	if s.Deferred == nil {
		s.Deferred = deferred.New(&s.Backlog)
		s.Expiry.Others = s.Deferred
		s.Journal.Until = s.Deferred.Until
	}
	return s.Deferred
}

// ExpireAll expires all messages past their deadline, ready or not, up to a turn's limit of each, and reports whether others
// may be left.
func (s *Messages) ExpireAll(now clock.Instant) (more bool) {
	return s.ExpireDue(now) || s.AdvanceDeferred(now)
}

// AdvanceDeferred ends the deferred messages past their deadline and makes messages postponed until now ready, up to a
// turn's limit. It reports whether others may remain.
func (s *Messages) AdvanceDeferred(now clock.Instant) (more bool) {
	return s.Deferred.Advance(now.Floor(), TurnLimit, func(h backlog.Handle) bool { return s.Expiry.Retime(h) <= now.Floor() }, func(h backlog.Handle) {
		s.Late.Expired(s.Backlog.Deadline(h), int64(now))
		s.End(h, store.Expired)
	}, s.MakeReady)
}

// PurgeDeferred removes at most limit deferred messages, and reports whether none is left.
func PurgeDeferred(s *Messages, limit int) (done bool) {
	for range limit {
		h, ok := s.Deferred.First()
		if !ok {
			return true
		}
		s.Deferred.Take(h)
		s.Remove(h, store.Purged)
	}
	return false
}

// Unclaim returns a claimed message to its position, with its original deadline.
func (s *Messages) Unclaim(h backlog.Handle, now clock.Instant) {
	if s.Expiry.Retime(h) <= now.Floor() {
		s.End(h, store.Expired)
		return
	}
	s.MakeReady(h)
}

// ensureDeadLetters creates the set of dead letters, which few queues need.
func (s *Messages) ensureDeadLetters() *deadletters.DeadLetters {
	if s.DeadLetters == nil {
		s.DeadLetters = deadletters.New(deadletters.Parts{
			Owner: s, Queue: s.queue, VHost: s.vhost, Self: s.self, Settings: &s.Settings,
			Messages: &s.Backlog, Deadline: s.Expiry.Retime, Pager: &s.Pager, Memory: s.Memory, Out: s.out,
		})
		s.DeadLetters.Last, s.DeadLetters.Waits = s.closing, s.ending
	}
	return s.DeadLetters
}

// ExpireDue expires the messages past their deadline, up to a turn's limit (TTL-33). It reports whether others may be
// left.
func (s *Messages) ExpireDue(now clock.Instant) (more bool) {
	more = s.Expiry.Advance(now, TurnLimit, func(h backlog.Handle) { s.Expire(h, now) })
	s.Unfinished = s.Unfinished || more
	return more
}

// First returns the first ready message that is not past its deadline. If more expired messages than a turn's limit
// precede it, it returns false and another turn follows.
func (s *Messages) First(now clock.Instant) (backlog.Handle, bool) {
	h, ok, more := s.Expiry.First(now, TurnLimit, func(h backlog.Handle) { s.Expire(h, now) })
	s.Unfinished = s.Unfinished || more
	return h, ok
}

// Clear removes all messages; only ready and scheduled ones may be left.
func (s *Messages) Clear() {
	s.Journal.RemoveAll(s.Seq, store.Purged)
	s.Backlog.Clear()
	s.Sessions.Clear()
	s.Expiry.Clear()
	s.ClearScheduled()
	s.Pager.Clear()
}

// ClearScheduled removes all scheduled messages.
func (s *Messages) ClearScheduled() {
	if s.Scheduled != nil {
		s.Scheduled.Messages.Backlog.Clear()
		s.Scheduled = nil
	}
}

// PurgeReady removes at most limit ready messages, and returns their number. They are removed by ascending number, so
// that their records can be merged.
func (s *Messages) PurgeReady(limit int) int {
	for n := range limit {
		h, ok := s.Backlog.Oldest()
		if !ok {
			return n
		}
		s.Expiry.Remove(h)
		s.Remove(h, store.Purged)
	}
	return limit
}

// PurgeScheduled removes the scheduled messages: it writes records for about limit of them, starting at at; after
// writing the last record it removes them all, and returns true.
func (s *Messages) PurgeScheduled(at *backlog.Handle, limit int) (done bool) {
	x := s.Scheduled
	if x == nil {
		return true
	}
	*at = x.Messages.Backlog.Sweep(*at, limit, func(h backlog.Handle) { s.Journal.Remove(x.Messages.Backlog.Entry(h), store.Purged) })
	if *at == 0 {
		s.ClearScheduled()
	}
	return *at == 0
}

// DiscardAll removes ready, deferred and scheduled messages, the latter from at on, up to a turn's limit of each, and reports
// whether more are left.
func (s *Messages) DiscardAll(at *backlog.Handle) (more bool) {
	return s.PurgeReady(TurnLimit) == TurnLimit || !PurgeDeferred(s, TurnLimit) || !s.PurgeScheduled(at, TurnLimit)
}

// DeadLetterAll dead-letters messages of a queue that is ending, the scheduled ones last, up to a turn's limit, and reports
// whether more are left.
func (s *Messages) DeadLetterAll() (more bool) {
	for range TurnLimit {
		h, ok := s.Backlog.First()
		if !ok {
			if h, ok = s.Deferred.First(); ok {
				s.Deferred.Take(h)
				s.End(h, store.Expired)
				continue
			}
			if h, _, ok = s.Scheduled.First(); !ok {
				break
			}
			h = s.Scheduled.Move(h, &s.Backlog, &s.Expiry, &s.Journal)
		}
		s.Expiry.Remove(h)
		s.EndReady(h, store.Expired)
	}
	return s.Backlog.Ready() > 0 || s.Scheduled.Len() > 0 || s.Deferred.Len() > 0
}

// SetEnd sets how the queue ends, if it does. closing: a command deletes it, so each of its dead letters is sent once more,
// and contents that cannot be read now are lost. ending: all messages that end are dead-lettered, and wait for an
// exchange if there is none (LEASE-14).
func (s *Messages) SetEnd(closing, ending bool) {
	if s.closing, s.ending = closing, ending; closing {
		s.Pager.End()
	}
	if s.DeadLetters != nil {
		s.DeadLetters.Last, s.DeadLetters.Waits = closing, ending
	}
}

// Retire is called when the vhost has forgotten the queue: waiting senders are answered, and no more records are written.
func (s *Messages) Retire() {
	s.Journal.Close()
	s.Journal.Retire()
}

// hopsLimit is how often a message is forwarded, over all queues.
const hopsLimit = 4

// Forward forwards a ready message, whose content is in memory and which is off the wheel. now: forward it although its
// TTL is 0.
func (s *Messages) Forward(h backlog.Handle, now bool) {
	var r backlog.Record
	s.Backlog.Get(h, &r)
	s.Pager.Took(len(r.Body))
	if r.Overlay != nil && r.Overlay.Hops >= hopsLimit {
		s.EndReady(h, store.Exhausted)
		return
	}
	s.queue.Sent.Count(metrics.Forwarded)
	s.Backlog.Take(h)
	s.ensureDeadLetters().Forward(h, now)
}
