package queue

import (
	"candlemark/actors/queue/backlog"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/inspect"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// view returns the parts of the queue that queries read.
func (s *state) view() inspect.View {
	return inspect.View{
		Messages: &s.Backlog, Scheduled: s.Scheduled, Consumers: &s.consumers, AckTimeouts: s.deliveries.Timeouts,
		Deferred: s.Deferred, Sessions: s.Sessions, Expiry: &s.Expiry, Style: s.Style(), Limit: int(s.turnLimit), Now: &s.Journal.At,
	}
}

// startQuery starts answering a query, in several turns if necessary.
func (s *state) startQuery(asked mail.Answerable, q inspect.Query, now clock.Instant) {
	s.pending.Start(&deliveries.LongCommand{
		Expires: !q.Still, Asked: asked,
		Step: func(clock.Instant) bool { return q.Step() },
		End:  func(clock.Instant) { s.answerWith(asked, q.Answer()) },
	}, now)
}

// answerWith sends an answer after reading the contents that it needs.
func (s *state) answerWith(asked mail.Answerable, a inspect.Answer) {
	if len(a.Want) == 0 {
		s.out.Send(a.To, a.Reply)
		return
	}
	s.out.lookups = append(s.out.lookups, &lookup{asked: asked, want: a.Want, found: func(contents []store.Content, _ clock.Instant) {
		a.Found(contents)
		s.out.Send(a.To, a.Reply)
	}})
}

// expiring returns how many messages expire and when.
func expiring(s *state) mail.ExpiryCounts {
	c := mail.ExpiryCounts(s.Expiry.Counts(s.Journal.At))
	if c.Next != 0 {
		c.Next = s.Dates.Date(c.Next)
	}
	return c
}

// claim takes messages for a move. Like basic.get, it counts as a use of the queue.
func claim(s *state, m *mail.Claim, now clock.Instant) {
	if !m.Look {
		s.lease.Renew(now.Ceil(), leaseGot)
	}
	c := takeClaim(m, &s.Messages, &s.consumers, func() *consumers.Holder { return s.channel(m.ReplyTo) }, now)
	s.answerWith(m, inspect.Answer{To: m.ReplyTo, Reply: c.Reply, Want: c.Want, Found: c.Found})
}

// leased describes the lease and when it ends if the queue is not used; the zero value if there is none.
func leased(s *state) (l mail.Lease) {
	if l.Period = s.lease.Period(); l.Period == 0 || s.phase >= ending {
		return mail.Lease{}
	}
	at, by := s.lease.LastUse()
	l.Renewed, l.By = s.Dates.Date(at), by.String()
	if at, ends := s.lease.Deadline(); ends {
		l.Ends = s.Dates.Date(at)
	}
	return l
}

// ages describes how old the messages are, and how long they waited and were processed.
func ages(s *state, info *mail.QueueInfo) {
	info.OldestReady = since(s, backlog.OldestReady(&s.Backlog))
	if info.OldestMessage = info.OldestReady; s.consumers.Unacked() > 0 {
		info.OldestMessage = since(s, backlog.OldestHeld(&s.Backlog))
	}
	info.Wait, info.Processing = s.Ages.Wait.Summary(s.Journal.At), s.Ages.Processing.Summary(s.Journal.At)
}

// since describes the oldest message, which is available since at, in wall ms of the broker, 0 if there is none.
func since(s *state, at int64) mail.Oldest {
	if at == 0 {
		return mail.Oldest{}
	}
	return mail.Oldest{Since: s.Dates.Date(at), Age: max(s.Journal.At-at, 0)}
}

// describe answers DescribeQueue. It changes nothing and does not renew the lease (LEASE-4).
func (s *state) describe(m *mail.DescribeQueue) {
	letters := s.DeadLetters.Counts()
	forwarding := letters.ForwardingBytes
	info := &mail.QueueInfo{
		Reply: m.Done(nil), Name: s.queue.Name,
		Ready: s.Shown(), Unacked: s.consumers.Unacked(), Consumers: s.consumers.Len(),
		ReadyBytes: s.Backlog.ReadyBytes() + forwarding, UnackedBytes: s.Backlog.Bytes() - s.Backlog.ReadyBytes() - forwarding - s.Deferred.Bytes(), Deferred: s.Deferred.Len(), Postponed: s.Deferred.Postponed(), Sessions: s.Sessions.Len(),
		Paged: s.Backlog.Paged(), PagedBytes: s.Backlog.PagedBytes(),
		Memory: s.Taken(), LastUse: s.Dates.Date(s.used), Counts: s.Counts, Effective: s.effective.Value().effective(), Settings: s.Settings,
		Arguments: s.queue.Arguments, Durable: s.queue.Durable, AutoDelete: s.queue.AutoDelete, Exclusive: s.queue.Exclusive,
		DeadLetters: letters.Len, Retrying: letters.Waiting,
	}
	if at, ok := s.DeadLetters.Next(); ok {
		info.NextAttempt = s.Dates.Date(at)
	}
	if s.phase == ending { // its messages are the dead letters that have not arrived
		info.Ready += letters.Len - letters.Forwarding
		info.ReadyBytes, info.UnackedBytes = info.ReadyBytes+info.UnackedBytes, 0
	}
	if x := s.Scheduled; x != nil {
		info.Scheduled = x.Counts(s.Journal.At, s.Dates)
		info.Paged += x.Messages.Paged()
		info.PagedBytes += x.Messages.PagedBytes()
	}
	info.Persistent, info.PersistentBytes = s.Backlog.Stored()
	info.Expiring, info.Lease = expiring(s), leased(s)
	if at := s.consumers.Oldest(s.Journal.At); at != 0 {
		info.OldestUnacked = s.Dates.Date(at)
	}
	ages(s, info)
	if m.Ahead {
		info.Ahead = s.view().Ahead(s.Journal.At)
	}
	if c := s.consumers.Exclusive(); c != nil {
		info.ExclusiveTag = c.Tag
	}
	if c := s.consumers.SingleActive(); c != nil {
		info.ActiveTag = c.Tag
	}
	info.HeadTimestamp = inspect.HeadTimestamp(&s.Backlog)
	if m.Consumers {
		info.List = inspect.Consumers(&s.consumers, s.Settings.ConsumerTimeout)
	}
	s.out.Send(m.ReplyTo, info)
}
