package deadletters

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// Flush sends dead letters to the dead-letter actor in order, at most Limit of them under way, and examines about limit
// of them. It reports whether more could be sent. Dead letters whose exchange is gone need no answers.
func (l *DeadLetters) Flush(now clock.Instant, dates clock.Dates, limit int) (more bool) {
	if l == nil {
		return false
	}
	b := batch{now: now, dates: dates}
	for n := 0; (l.hasRoom() || !l.Settings.HasDLX && !l.Settings.AnswerRequests) && l.sent < l.all.Last(); n++ {
		if n == max(limit, Limit) {
			return true
		}
		x, ok := l.all.Get(l.sent + 1)
		if ok && l.waits(x) {
			return false
		}
		if ok && !l.add(&b, l.sent+1, x) {
			first, last := l.sent+1, min(l.all.Last(), l.sent+uint64(Limit-l.out))
			l.order(func(yield func(uint64) bool) {
				for id := first; id <= last && yield(id); id++ {
				}
			}, now)
			return false
		}
		l.sent++
	}
	return false
}

// batch collects one mail for each run of dead letters with the same treatment.
type batch struct {
	now    clock.Instant
	dates  clock.Dates
	mail   *mail.DeadLetter
	reason store.Reason
}

// add adds a dead letter to the batch, unless, after a change of settings, it no longer belongs there. It returns false
// if the content has to be read first.
func (l *DeadLetters) add(b *batch, id uint64, x deadLetter) bool {
	switch {
	case x.reason == store.Forwarded && l.Last:
		l.await(id, b.now) // it is discarded with the queue
		return true
	case x.reason == store.Forwarded:
		if l.cancelForward(id, x, b.now) {
			return true
		}
	case l.waits(x):
		l.await(id, b.now)
		return true
	case !l.Settings.HasDLX && !l.answers(x.reason):
		l.all.Take(id)
		l.uncount(x)
		l.lost++
		l.Owner.Drop(x.message, x.reason)
		return true
	}
	if l.Messages.IsPaged(x.message) {
		if l.Messages.Entry(x.message).Marks&backlog.Damaged == 0 {
			return false
		}
		l.all.Take(id)
		l.uncount(x)
		l.lost++
		l.Owner.Remove(x.message, store.Damaged)
		return true
	}
	l.out++
	l.outBytes += l.Messages.Size(x.message)
	guarantee := l.guarantee(x, b.now)
	if b.mail == nil || b.reason != x.reason || b.mail.Guarantee != guarantee || len(b.mail.Messages) == mail.DeadLetterBatch {
		b.reason, b.mail = x.reason, l.newMail(x.reason, b.dates.Date(b.now.Floor())/1000)
		b.mail.Guarantee = guarantee
		l.Out.Send(l.VHost.DeadLetter, b.mail)
	}
	var r backlog.Record
	l.Messages.Get(x.message, &r)
	m := content.Message(&r)
	m.Number, m.Priority = id, content.Priority(&m)
	if x.reason == store.Forwarded {
		m.TTL = l.remainingTTL(x.message, m.TTL, b.now)
	} else {
		content.CountDead(&m, r.Returns, l.Messages.Entry(x.message).Marks&backlog.Failed != 0)
	}
	b.mail.Add(m, records.StoredAs(l.Messages.Entry(x.message)), x.taken)
	return true
}

// waits reports whether a dead letter waits for a dead-letter exchange.
func (l *DeadLetters) waits(x deadLetter) bool {
	return l.Waits && !l.Settings.HasDLX && x.reason != store.Forwarded
}

// answers reports whether requests that end for the reason why are answered instead of dead-lettered (ANS-1).
func (l *DeadLetters) answers(why store.Reason) bool {
	s := l.Settings
	return s.AnswerRequests && why != store.Forwarded && !l.Queue.Holds() && (!s.HasDLX || why == store.Expired && s.DropExpired && !l.Waits)
}

// newMail returns a mail for dead letters for the given reason; date is the time for x-death, in s since 1970.
func (l *DeadLetters) newMail(why store.Reason, date int64) *mail.DeadLetter {
	m := &mail.DeadLetter{From: l.Self, Queue: l.Queue.Name, Incarnation: l.Queue.Incarnation, Epoch: l.epoch}
	s := l.Settings
	switch {
	case why == store.Forwarded:
		m.Reason, m.Forward, m.Exchange = "forwarded", true, s.ForwardTo
	case l.answers(why):
		m.Reason, m.Respond = Reasons[why], true
	case l.Queue.Holds():
		m.Reason, m.Release, m.Exchange, m.Time = "delayed", true, s.DeadLetterExchange, date
	default:
		m.Reason, m.Exchange, m.Time = Reasons[why], s.DeadLetterExchange, date
		m.RoutingKey, m.HasKey = s.DeadLetterRoutingKey, s.HasDLK
		m.Count, m.Continue = s.DeathCount, s.DeathContinue
	}
	return m
}

// Reasons are the reasons of x-death (DL-9).
var Reasons = map[store.Reason]string{
	store.Expired: "expired", store.Rejected: "rejected", store.Overflowed: "maxlen", store.Exceeded: "delivery_limit", store.Exhausted: "hops",
	store.Copied: "copies", store.Failed: "rule_failed",
}

// cancelForward takes back a message that is no longer to be forwarded: it becomes ready, or expires if it is past its
// deadline. It reports whether it did.
func (l *DeadLetters) cancelForward(id uint64, x deadLetter, now clock.Instant) bool {
	late := l.Deadline(x.message) <= now.Floor() && (!x.now || x.tries > 0)
	if l.Settings.HasForward && !late {
		return false
	}
	l.all.Take(id)
	l.uncount(x)
	if late {
		l.Owner.End(x.message, store.Expired)
	} else {
		l.Owner.MakeReady(x.message)
	}
	return true
}

// remainingTTL returns the TTL for a forwarded message, which keeps its deadline.
func (l *DeadLetters) remainingTTL(h backlog.Handle, own int64, now clock.Instant) int64 {
	if at := l.Deadline(h); at != store.Never {
		return max(at-now.Ceil(), 0)
	}
	return own
}
