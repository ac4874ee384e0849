package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/inspect"
)

// shownReady is how many messages clients see as ready: those that are moved on
// and have not arrived are in the queue.
func (s *state) shownReady() int { return s.messages.Ready() + s.deadLetters.Counts().Forwarding }

// describe answers a question. It changes nothing and renews no lease (LEASE-4).
func (s *state) describe(m *mail.DescribeQueue) {
	forwarding := s.deadLetters.Counts().ForwardingBytes
	info := &mail.QueueInfo{
		Reply: m.Done(nil), Name: s.queue.Name,
		Ready: s.shownReady(), Unacked: s.consumers.Unacked(), Consumers: s.consumers.Len(),
		ReadyBytes: s.messages.ReadyBytes() + forwarding, UnackedBytes: s.messages.Bytes() - s.messages.ReadyBytes() - forwarding,
		Paged: s.messages.Paged(), PagedBytes: s.messages.PagedBytes(),
		Memory: s.messages.Memory(), LastUse: s.used, Counts: s.counts, Effective: s.effective, Settings: s.settings,
		Arguments: s.queue.Arguments, Durable: s.queue.Durable, AutoDelete: s.queue.AutoDelete, Exclusive: s.queue.Exclusive,
	}
	if x := s.scheduled; x != nil {
		info.Scheduled = x.Counts(s.journal.At, s.skew)
		info.Paged += x.Messages.Paged()
		info.PagedBytes += x.Messages.PagedBytes()
		info.Memory += x.Memory()
	}
	info.LeaseDeadline, _ = s.lease.Deadline()
	info.NextExpiry, _ = s.expiry.Next()
	if c := s.consumers.Exclusive(); c != nil {
		info.ExclusiveTag = c.Tag
	}
	if m.Consumers {
		info.HeadTimestamp = inspect.HeadTimestamp(&s.messages)
		info.List = inspect.Consumers(&s.consumers, s.settings.ConsumerTimeout)
	}
	s.send(m.ReplyTo, info)
}
