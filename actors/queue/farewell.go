package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
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
	*host
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
func (f *farewell) retire(why endCause) {
	if f.phase != live {
		return
	}
	*f = farewell{host: f.host, cause: why, lost: f.messages.DeadLetters.Counts().Lost}
	f.backlog = why == leaseRanOut && f.messages.Settings.ExpiresDeadLettersBacklog && f.messages.Settings.HasDLX
	ending := ""
	if f.backlog || f.messages.DeadLetters.Counts().Len > 0 {
		ending = map[endCause]string{leaseRanOut: topology.EndedLease, autoDeleted: topology.EndedUnused}[why]
	}
	f.ask(ending)
}

// close starts the end of the queue by a command. Its dead letters are sent once more; then the vhost is asked to forget
// the queue.
func (f *farewell) close(m *mail.DeleteQueue, now clock.Instant) {
	*f = farewell{host: f.host, cause: deletedByCommand, command: m, lost: f.messages.DeadLetters.Counts().Lost, began: now.Ceil(), since: now.Ceil()}
	if f.letters() == 0 {
		f.ask("")
		return
	}
	f.phase.becomeClosing()
	f.messages.SetEnd(true, false)
	f.messages.DeadLetters.RetryNow(now)
}

// letters returns the number of dead letters. Forwarded messages are not included: a deletion discards them.
func (f *farewell) letters() int {
	return f.messages.DeadLetters.Counts().Len - f.messages.DeadLetters.Counts().Forwarding
}

// ask asks the vhost to forget the queue or, if ending is not empty, to unpublish it.
func (f *farewell) ask(ending string) {
	f.phase.becomeRetiring()
	f.out.Send(f.vhost.PID, &mail.QueueRetiring{
		Name: f.queue.Name, Incarnation: f.queue.Incarnation, Queue: f.self,
		Handled: f.handled, Deleted: f.command != nil, Ending: ending, Lost: f.losses(),
	})
}

// losses returns the number of messages that were to arrive elsewhere and are lost: all that a delayed exchange holds (DLY-5).
func (f *farewell) losses() int {
	switch {
	case f.cut || f.queue.Holds():
		return f.dropped() + f.left()
	case f.command != nil:
		return f.dropped() + f.letters()
	}
	return f.dropped()
}

// dropped returns the number of dead letters that did not arrive, since the end began or the broker started.
func (f *farewell) dropped() int { return f.messages.DeadLetters.Counts().Lost - f.lost }

// lastAttempts is the turn of a queue that a command deletes.
func (f *farewell) lastAttempts(now clock.Instant) (more bool) {
	f.dueNow = false
	f.messages.Pager.Resume(now)
	f.messages.DeadLetters.Retry(now, f.messages.Dates)
	more = f.messages.DeadLetters.Flush(now, f.messages.Dates, int(f.turnLimit))
	if f.waited(f.letters(), now) {
		f.ask("")
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

// beginEnding continues after the vhost has unpublished the queue. Consumers are cancelled (LEASE-9).
func (s *state) beginEnding(now clock.Instant) {
	f := &s.farewell
	if !s.phase.becomeEnding() {
		return
	}
	f.begun, f.began, s.dueNow = true, now.Ceil(), true
	s.messages.SetEnd(false, true)
	s.consumers.CancelAll()
	s.answerWaiting()
}

// resumeEnding continues the end of a queue after a restart: all of its messages are dead-lettered.
func (s *state) resumeEnding(m *mail.Activate, now clock.Instant) {
	f := &s.farewell
	f.backlog = true
	if s.queue.Ending == topology.EndedUnused {
		f.cause = autoDeleted
	}
	s.beginEnding(now)
	s.out.Send(m.ReplyTo, &mail.ActivateReply{Reply: m.Done(nil)})
}

// goOn continues the end after the vhost could not store that the queue is gone.
func (f *farewell) goOn(now clock.Instant) {
	f.phase.becomeEnding()
	f.command, f.cut = nil, false
	f.pause = now.Ceil() + endPause
}

// answerWaiting answers requests that wait for messages.
func (s *state) answerWaiting() {
	for _, m := range s.end() {
		s.farewell.handleLate(m)
	}
}

// handleEnding handles mail while the queue is ending, except mail that is handled as ever, for which it returns false. Publishes
// that were routed before the queue was unpublished are taken if its messages are dead-lettered. Settlements are for
// deliveries that turn leaves to their channels.
func (s *state) handleEnding(received any, now clock.Instant) (handled bool) {
	f := &s.farewell
	switch m := received.(type) {
	case timerFired, again, appendDone, loaded, *mail.DeadLetterReply, *mail.DescribeQueue, *mail.Trim:
		return false
	case *mail.Enqueue:
		if f.backlog && !f.cut {
			s.enqueue(m, now)
		} else {
			f.handleLate(m)
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
		s.configure(m, now)
		s.messages.DeadLetters.RetryNow(now)
		s.dueNow = true
	case *mail.DeleteQueue:
		s.handled++
		if mayDelete(&s.host, m, f.left()) {
			f.command, f.cut, f.began, f.since = m, true, now.Ceil(), now.Ceil()
		}
	default:
		f.handleLate(m)
	}
	return true
}

// turn sends the queue's messages. When none is left, the vhost is asked to forget the queue.
func (f *farewell) turn(now clock.Instant) (more bool) {
	due := f.dueNow
	f.dueNow = false
	if !f.cut {
		more = f.empty(now)
		if due {
			f.messages.Pager.Resume(now)
			f.messages.DeadLetters.Retry(now, f.messages.Dates)
		}
		more = f.messages.DeadLetters.Flush(now, f.messages.Dates, int(f.turnLimit)) || more
	}
	letters := f.messages.DeadLetters.Counts()
	if f.pause <= now.Floor() {
		f.pause = 0
	}
	switch {
	case f.pause != 0 || more || !f.pending.Empty():
	case f.left() == 0 || f.cut && f.waited(letters.UnderWay, now):
		f.ask("")
		return false
	}
	if !f.heldUp && !f.cut && (letters.Waiting > 0 || now.Floor() >= f.began+endPatience) {
		f.heldUp = true
		f.out.Send(f.vhost.PID, &mail.QueueHeldUp{Name: f.queue.Name, Incarnation: f.queue.Incarnation})
	}
	return more
}

// empty dead-letters messages or, if only the dead letters of the queue are to arrive, discards the others. Deliveries
// count as messages of the queue, unless a move or a transaction is about to settle them. It reports whether messages
// remain.
func (f *farewell) empty(now clock.Instant) (more bool) {
	if f.consumers.Unacked() > 0 {
		more = f.deliveries.Abandon(func(h backlog.Handle) {
			if f.backlog {
				f.messages.Unclaim(h, now)
				return
			}
			f.messages.Remove(h, store.Purged)
			f.discarded++
		})
	}
	if f.backlog {
		return f.messages.DeadLetterAll() || more
	}
	before := f.left()
	more = f.messages.DiscardAll(&f.at) || more
	f.discarded += before - f.left()
	return more
}

// left returns the number of all messages, scheduled and dead-lettered ones included.
func (f *farewell) left() int { return f.messages.Backlog.Len() + f.messages.Scheduled.Len() }

// deadline returns when the next turn is due, in wall ms; false if it is not.
func (f *farewell) deadline() (int64, bool) {
	var next earliest
	if !f.cut {
		next.of(f.messages.DeadLetters.Next())
	}
	next.of(min(f.since+endPatience, f.began+deletePatience), f.command != nil)
	next.of(f.began+endPatience, f.command == nil && !f.heldUp)
	next.of(f.pause, f.pause != 0)
	return next.at, next.ok
}

// forgotten ends the queue after the vhost has removed the name and the bindings. Consumers are cancelled (LEASE-9),
// outstanding confirms are sent (LEASE-8), and the remaining messages are discarded (LEASE-7).
func (s *state) forgotten() {
	f := &s.farewell
	if !s.phase.becomeEnded() {
		return
	}
	left, lost := f.left(), f.losses()
	count, discarded := left, left+f.dropped()+f.discarded
	if !f.cut {
		count += f.dropped() - s.consumers.Unacked()
	}
	f.gone = lost
	s.consumers.CancelAll()
	if !s.queue.Holds() { // the vhost reports these
		s.messages.Notices.Purged(s.messages.Scheduled.Len())
		s.messages.Notices.Lost(lost)
	}
	s.messages.ClearScheduled()
	s.messages.Retire()
	if c := f.command; c != nil {
		s.out.Send(c.ReplyTo, &mail.DeleteQueueReply{Reply: c.Done(nil), Queue: s.queue.Name, MessageCount: count})
	}
	if f.cause == leaseRanOut {
		s.out.Send(s.vhost.DeadLetter, &mail.QueueExpired{
			Queue: s.queue.Name, Incarnation: s.queue.Incarnation, Discarded: discarded, Time: s.messages.Dates.Date(s.messages.Journal.At) / 1000,
		})
	}
	s.answerWaiting()
	for _, m := range s.pending.All() {
		f.handleLate(m)
	}
}

// figures adds what is lost. All messages of a queue that is ending count as ready.
func (f *farewell) figures(to *figures) {
	n := &to.values
	n[queuestats.Lost] = int64(f.gone)
	if f.phase == ending {
		n[queuestats.ReadyBytes], n[queuestats.UnackedBytes] = n[queuestats.ReadyBytes]+n[queuestats.UnackedBytes], 0
	}
}

// handleLate handles mail that arrives after the vhost has forgotten the queue. Publishes count as routed and discarded
// (PRO-2), unless the queue has promised to dead-letter them (LEASE-13), which it can no longer do: it refuses them.
func (f *farewell) handleLate(received any) {
	if m, ok := received.(mail.Answerable); ok {
		cause := mail.Gone
		if _, publish := received.(*mail.Enqueue); publish && f.backlog {
			cause = mail.Failed
		}
		if to, reply := m.Answer(cause); to != nil {
			f.out.Send(to, reply)
		}
	}
}
