package queue

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/clock"
)

// How long a dead letter waits that could not be enqueued: the first time, and
// at most, in ms. Each round that brings nothing doubles it.
const (
	retryFirst = 1000
	retryMost  = 30_000
)

// retryLimit is how often a classic queue tries again, about two minutes in all;
// the attempt after those is the last. A quorum queue with at-least-once never
// gives up (DL-30).
const retryLimit = 8

// retries are dead letters that their exchange or a target did not take.
type retries struct {
	ids   []uint64 // in the order in which they came back
	at    int64    // wall ms of the next round, 0 for none
	delay int64    // from then to the round after it
	// reading: the round waits for a content
	reading bool
}

// guarantee returns the guarantee that the dead-letter actor is to give for a message.
func (s *state) guarantee(x deadLetter) mail.Guarantee {
	switch {
	case s.phase >= draining:
		return mail.Drop
	case s.settings.DeadLetterAtLeastOnce || s.settings.DeadLetterQueue || x.reason == forwarded:
		return mail.AtLeastOnce
	case s.queue.Durable && x.tries < retryLimit:
		return mail.RetryRefused
	}
	return mail.Drop
}

// onKept takes note that a message could not be enqueued.
func (s *state) onKept(k mail.Kept, now clock.Instant) {
	d := &s.deadLetters
	x, ok := d.all.Take(k.ID)
	if !ok {
		return
	}
	d.out--
	if s.phase >= draining { // nobody would wait for the next round
		s.discardDeadLetter(x)
		return
	}
	x.tries = min(x.tries+1, retryLimit)
	x.taken = k.Taken
	d.all.Restore(k.ID, x)
	r := &d.retries
	r.ids = append(r.ids, k.ID)
	if r.at == 0 {
		r.delay = max(r.delay, retryFirst)
		r.at = now.Ceil() + r.delay
	}
}

// retry sends again what did not get through, those that wait longest first and
// one limit's worth at a time.
func (s *state) retry(now clock.Instant) {
	d := &s.deadLetters
	r := &d.retries
	if r.at == 0 || r.at > now.Floor() {
		return
	}
	n := max(min(len(r.ids), deadLetterLimit-d.out), 0)
	l := deadLetterBatch{now: now}
	r.reading = false
	for i, id := range r.ids[:n] {
		if x, ok := d.all.Get(id); ok && !s.appendDeadLetter(&l, id, x) {
			s.readDeadLetters(slices.Values(r.ids[i:n]), now)
			r.ids, r.reading = r.ids[i:], true
			return
		}
	}
	if r.ids = r.ids[n:]; len(r.ids) == 0 {
		*r = retries{delay: r.delay}
	}
	r.delay = min(2*max(r.delay, retryFirst), retryMost)
	r.at = 0
	if len(r.ids) > 0 {
		r.at = now.Ceil() + r.delay
	}
}

// Next is when retry is to be called, in wall ms.
func (r *retries) Next() (int64, bool) { return r.at, r.at != 0 && !r.reading }

// retryNow makes the next round due: something that had not got through did, or
// there is no time left.
func (r *retries) retryNow(now clock.Instant) {
	r.delay = 0
	if len(r.ids) > 0 {
		r.at = now.Floor()
	}
}

// deadLetterCounts are the messages, and bytes of bodies, that are dead and count
// against the limits nevertheless (DL-30), or are moved on and have not arrived.
func (s *state) deadLetterCounts() (messages, bytes int64) {
	if !s.settings.DeadLetterAtLeastOnce {
		return int64(s.deadLetters.forwarding), s.deadLetters.forwardingBytes
	}
	return int64(s.deadLetters.all.Len()), s.deadLetters.bytes
}
