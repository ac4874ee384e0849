package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
)

// endCause is the cause of a queue's end.
type endCause uint8

const (
	leaseRanOut endCause = iota
	autoDeleted
	deletedByCommand
)

// Times of the end of a queue, in ms (LEASE-15).
const (
	// endPatience is how long declarations of the name wait for a queue that is ending, and how long a deletion waits while
	// no dead letter arrives.
	endPatience = 5000
	// deletePatience is how long a deletion waits for dead letters in all: channels wait for 30 s.
	deletePatience = 20_000
	// endPause is the pause before the vhost is asked again to forget the queue after a failure.
	endPause = 1000
)

// farewell is the end of the queue (ADR 4, ADR 102): why it ends, and the messages that must arrive elsewhere first.
type farewell struct {
	cause   endCause
	command *mail.DeleteQueue // nil unless a command deletes it
	// backlog: all of its messages are dead-lettered, instead of discarded (LEASE-13).
	backlog bool
	// begun: the vhost has unpublished it, perhaps before a restart.
	begun bool
	// cut: a command deletes it while it is ending, so nothing more is sent.
	cut       bool
	heldUp    bool  // the vhost knows that it takes long
	began     int64 // when it began, ms
	awaited   int   // the number of messages that a deletion waits for
	since     int64 // when that number changed, ms
	pause     int64 // when the vhost is asked again, ms; 0 for not
	discarded int   // messages that were not dead-lettered
	lost      int   // Counts.Lost of its dead letters, when it began
	gone      int   // messages lost with the queue, once it has ended
	at        backlog.Handle
}

// retire starts the end of the queue for another cause than a command: mail is parked until the vhost has forgotten the
// queue, has unpublished it, or decided to keep it.
func (f *farewell) retire(s *state, why endCause) {
	if s.phase != live {
		return
	}
	*f = farewell{cause: why, lost: s.DeadLetters.Counts().Lost}
	f.backlog = why == leaseRanOut && s.Settings.ExpiresDeadLettersBacklog && s.Settings.HasDLX
	ending := ""
	if f.backlog || s.DeadLetters.Counts().Len > 0 {
		ending = map[endCause]string{leaseRanOut: topology.EndedLease, autoDeleted: topology.EndedUnused}[why]
	}
	f.ask(s, ending)
}

// close starts the end of the queue by a command. Its dead letters are sent once more; then the vhost is asked to forget
// the queue.
func (f *farewell) close(s *state, m *mail.DeleteQueue, now clock.Instant) {
	*f = farewell{cause: deletedByCommand, command: m, lost: s.DeadLetters.Counts().Lost, began: now.Ceil(), since: now.Ceil()}
	if letters(s) == 0 {
		f.ask(s, "")
		return
	}
	s.phase.becomeClosing()
	s.SetEnd(true, false)
	s.DeadLetters.RetryNow(now)
}

// letters returns the number of dead letters. Forwarded messages are not included: a deletion discards them.
func letters(s *state) int { return s.DeadLetters.Counts().Len - s.DeadLetters.Counts().Forwarding }

// ask asks the vhost to forget the queue or, if ending is not empty, to unpublish it.
func (f *farewell) ask(s *state, ending string) {
	s.phase.becomeRetiring()
	s.out.Send(s.vhost.PID, &mail.QueueRetiring{
		Name: s.queue.Name, Incarnation: s.queue.Incarnation, Queue: s.self,
		Handled: s.handled, Deleted: f.command != nil, Ending: ending, Lost: f.losses(s),
	})
}

// losses returns the number of messages that were to arrive elsewhere and are lost: all that a delayed exchange holds (DLY-5).
func (f *farewell) losses(s *state) int {
	switch {
	case f.cut || s.queue.Holds():
		return f.dropped(s) + messages.Left(&s.Messages)
	case f.command != nil:
		return f.dropped(s) + letters(s)
	}
	return f.dropped(s)
}

// dropped returns the number of dead letters that did not arrive, since the end began or the broker started.
func (f *farewell) dropped(s *state) int { return s.DeadLetters.Counts().Lost - f.lost }

// lastAttempts is the turn of a queue that a command deletes.
func (f *farewell) lastAttempts(s *state, now clock.Instant) (more bool) {
	s.dueNow = false
	s.Pager.Resume(now)
	s.DeadLetters.Retry(now, s.Dates)
	more = s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit))
	if f.waited(letters(s), now) {
		f.ask(s, "")
		return false
	}
	return more
}

// waited reports whether a deletion has waited long enough for the arrival of n messages.
func (f *farewell) waited(n int, now clock.Instant) bool {
	if n != f.awaited {
		f.awaited, f.since = n, now.Ceil()
	}
	return n == 0 || now.Floor() >= min(f.since+endPatience, f.began+deletePatience)
}

// begin continues after the vhost has unpublished the queue. Consumers are cancelled (LEASE-9).
func (f *farewell) begin(s *state, now clock.Instant) {
	if !s.phase.becomeEnding() {
		return
	}
	f.begun, f.began, s.dueNow = true, now.Ceil(), true
	s.SetEnd(false, true)
	s.consumers.CancelAll()
	f.leaveWaiting(s)
}

// resume continues the end of a queue after a restart: all of its messages are dead-lettered.
func (f *farewell) resume(s *state, m *mail.Activate, now clock.Instant) {
	f.backlog = true
	if s.queue.Ending == topology.EndedUnused {
		f.cause = autoDeleted
	}
	f.begin(s, now)
	s.out.Send(m.ReplyTo, &mail.ActivateReply{Reply: m.Done(nil)})
}

// goOn continues the end after the vhost could not store that the queue is gone.
func (f *farewell) goOn(s *state, now clock.Instant) {
	s.phase.becomeEnding()
	f.command, f.cut = nil, false
	f.pause = now.Ceil() + endPause
}

// leaveWaiting answers requests that wait for messages.
func (f *farewell) leaveWaiting(s *state) {
	for _, g := range s.gets {
		s.handleLate(g)
	}
	s.gets = nil
	for _, m := range s.receivers.Abandon() {
		s.handleLate(m)
	}
}

// handle handles mail while the queue is ending, except mail that is handled as ever, for which it returns false. Publishes
// that were routed before the queue was unpublished are taken if its messages are dead-lettered. Settlements are for
// deliveries that turn leaves to their channels.
func (f *farewell) handle(s *state, received any, now clock.Instant) (handled bool) {
	switch m := received.(type) {
	case timerFired, again, appendDone, loaded, *mail.DeadLetterReply, *mail.DescribeQueue, *mail.Trim:
		return false
	case *mail.Enqueue:
		if f.backlog && !f.cut {
			s.enqueue(m, now)
		} else {
			s.handleLate(m)
		}
	case *mail.Settle:
		s.deliveries.Settle(m, now)
	case *mail.ReleaseWork:
		s.deliveries.Unprepare(m, now)
	case *mail.ChannelGone:
		s.channelGone(m.Channel, now)
	case *mail.PeerGone:
		s.channelGone(m.Who, now)
	case *mail.Configure:
		applySettings(s, m, now)
		s.DeadLetters.RetryNow(now)
		s.dueNow = true
	case *mail.DeleteQueue:
		s.handled++
		if mayDelete(s, m, messages.Left(&s.Messages)) {
			f.command, f.cut, f.began, f.since = m, true, now.Ceil(), now.Ceil()
		}
	default:
		s.handleLate(m)
	}
	return true
}

// turn sends the queue's messages. When none is left, the vhost is asked to forget the queue.
func (f *farewell) turn(s *state, now clock.Instant) (more bool) {
	due := s.dueNow
	s.dueNow = false
	if !f.cut {
		more = f.empty(s, now)
		if due {
			s.Pager.Resume(now)
			s.DeadLetters.Retry(now, s.Dates)
		}
		more = s.DeadLetters.Flush(now, s.Dates, int(s.turnLimit)) || more
	}
	letters := s.DeadLetters.Counts()
	if f.pause <= now.Floor() {
		f.pause = 0
	}
	switch {
	case f.pause != 0 || more || !s.pending.Empty():
	case messages.Left(&s.Messages) == 0 || f.cut && f.waited(letters.UnderWay, now):
		f.ask(s, "")
		return false
	}
	if !f.heldUp && !f.cut && (letters.Waiting > 0 || now.Floor() >= f.began+endPatience) {
		f.heldUp = true
		s.out.Send(s.vhost.PID, &mail.QueueHeldUp{Name: s.queue.Name, Incarnation: s.queue.Incarnation})
	}
	return more
}

// empty dead-letters messages or, if only the dead letters of the queue are to arrive, discards the others. Deliveries
// count as messages of the queue, unless a move or a transaction is about to settle them. It reports whether messages
// remain.
func (f *farewell) empty(s *state, now clock.Instant) (more bool) {
	if s.consumers.Unacked() > 0 {
		more = s.deliveries.Abandon(func(h backlog.Handle) {
			if f.backlog {
				s.Unclaim(h, now)
				return
			}
			s.Remove(h, store.Purged)
			f.discarded++
		})
	}
	if f.backlog {
		return s.DeadLetterBacklog() || more
	}
	before := messages.Left(&s.Messages)
	more = messages.Discard(&s.Messages, &f.at) || more
	f.discarded += before - messages.Left(&s.Messages)
	return more
}

// deadline returns when the next turn is due, in wall ms; false if it is not.
func (f *farewell) deadline(s *state) (int64, bool) {
	var next earliest
	if !f.cut {
		next.of(s.DeadLetters.Next())
	}
	next.of(min(f.since+endPatience, f.began+deletePatience), f.command != nil)
	next.of(f.began+endPatience, f.command == nil && !f.heldUp)
	next.of(f.pause, f.pause != 0)
	return next.at, next.ok
}

// forgotten ends the queue after the vhost has removed the name and the bindings. Consumers are cancelled (LEASE-9),
// outstanding confirms are sent (LEASE-8), and the remaining messages are discarded (LEASE-7).
func (f *farewell) forgotten(s *state) {
	if !s.phase.becomeEnded() {
		return
	}
	left, lost := messages.Left(&s.Messages), f.losses(s)
	count, discarded := left, left+f.dropped(s)+f.discarded
	if !f.cut {
		count += f.dropped(s) - s.consumers.Unacked()
	}
	f.gone = lost
	s.consumers.CancelAll()
	if !s.queue.Holds() { // the vhost reports these
		s.Notices.Purged(s.Scheduled.Len())
		s.Notices.Lost(lost)
	}
	s.ClearScheduled()
	s.Retire()
	if c := f.command; c != nil {
		s.out.Send(c.ReplyTo, &mail.DeleteQueueReply{Reply: c.Done(nil), Queue: s.queue.Name, MessageCount: count})
	}
	if f.cause == leaseRanOut {
		s.out.Send(s.vhost.DeadLetter, &mail.QueueExpired{
			Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Discarded: discarded, Time: s.Dates.Date(s.Journal.At) / 1000,
		})
	}
	f.leaveWaiting(s)
	for _, m := range s.pending.All() {
		s.handleLate(m)
	}
}
