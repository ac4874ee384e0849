package deadletters

import (
	"iter"
	"slices"

	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Delays before a dead letter that could not be enqueued is retried: initial and maximum, in ms. Each round without
// success doubles the delay.
const (
	MinRetryDelay = 1000
	MaxRetryDelay = 30_000
)

// RetryLimit is the number of retries by a classic queue before the last attempt, and RetrySpan the least time in ms that they take:
// rounds that begin sooner, because a target took another dead letter, do not shorten it (DL-29). A quorum queue with at-least-once
// never gives up (DL-30).
const (
	RetryLimit = 8
	RetrySpan  = 120_000
)

// retries holds dead letters not taken by their exchange or a target.
type retries struct {
	ids   []uint64 // in the order of return
	at    int64    // wall ms of the next round, 0 for none
	delay int64    // from that round to the next
	// reading: the round waits for a content
	reading bool
}

// guarantee returns the guarantee to request for a message.
func (l *DeadLetters) guarantee(x deadLetter, now clock.Instant) mail.Guarantee {
	switch {
	case l.Last || l.answers(x.reason):
		return mail.Drop
	case l.Settings.DeadLetterAtLeastOnce || l.Settings.DeadLetterQueue || x.reason == store.Forwarded:
		return mail.AtLeastOnce
	case l.Queue.Durable && (x.tries < RetryLimit || now.Floor() < x.since+RetrySpan):
		return mail.RetryRefused
	}
	return mail.Drop
}

// kept adds a message that could not be enqueued.
func (l *DeadLetters) kept(k mail.Retained, now clock.Instant) {
	x, ok := l.all.Take(k.ID)
	if !ok {
		return
	}
	l.answered(x)
	if l.Last && x.reason != store.Forwarded { // there is no next round
		l.lost++
		l.discard(x)
		return
	}
	if x.tries == 0 {
		x.since = now.Floor()
	}
	x.tries = min(x.tries+1, RetryLimit)
	x.taken = k.Taken
	l.all.Restore(k.ID, x)
	l.await(k.ID, now)
}

// await adds a message to the next round.
func (l *DeadLetters) await(id uint64, now clock.Instant) {
	r := &l.retries
	r.ids = append(r.ids, id)
	if r.at == 0 {
		r.delay = max(r.delay, MinRetryDelay)
		r.at = now.Ceil() + r.delay
	}
}

// Retry resends dead letters that were returned, if it is time: the oldest first, at most Limit at a time.
func (l *DeadLetters) Retry(now clock.Instant, dates clock.Dates) {
	if l == nil || l.retries.at == 0 || l.retries.at > now.Floor() {
		return
	}
	r := &l.retries
	n := max(min(len(r.ids), Limit-l.out), 0)
	b := batch{now: now, dates: dates}
	r.reading = false
	for i, id := range r.ids[:n] {
		if !l.hasRoom() {
			n = i
			break
		}
		if x, ok := l.all.Get(id); ok && !l.add(&b, id, x) {
			l.order(slices.Values(r.ids[i:n]), now)
			r.ids, r.reading = r.ids[i:], true
			return
		}
	}
	if r.ids = r.ids[n:]; len(r.ids) == 0 {
		*r = retries{delay: r.delay}
	}
	r.delay = min(2*max(r.delay, MinRetryDelay), MaxRetryDelay)
	r.at = 0
	if len(r.ids) > 0 {
		r.at = now.Ceil() + r.delay
	}
}

// Next returns when Retry has to be called, in wall ms.
func (l *DeadLetters) Next() (int64, bool) {
	if l == nil {
		return 0, false
	}
	r := &l.retries
	return r.at, r.at != 0 && !r.reading
}

// RetryNow makes the next round due, because a target took a message or this is the last attempt.
func (l *DeadLetters) RetryNow(now clock.Instant) {
	if l == nil {
		return
	}
	l.retries.delay = 0
	if len(l.retries.ids) > 0 {
		l.retries.at = now.Floor()
	}
}

// order requests the contents of the paged-out dead letters among ids.
func (l *DeadLetters) order(ids iter.Seq[uint64], now clock.Instant) {
	if l.Pager.Paused(now) {
		return
	}
	bytes := int64(0)
	for id := range ids {
		x, ok := l.all.Get(id)
		if !ok || !l.Messages.IsPaged(x.message) {
			continue
		}
		if bytes += l.Pager.Order(l.Messages, x.message); bytes == 0 || bytes > paging.WindowBusy/2 {
			return // requested already, or enough
		}
	}
}
