package queue

import (
	"slices"
	"strings"

	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/protocol"
)

// shownReady is how many messages clients see as ready: those that are moved on
// and have not arrived are in the queue.
func (s *state) shownReady() int { return s.messages.Ready() + s.deadLetters.forwarding }

// describe answers a question. It changes nothing and renews no lease (LEASE-4).
func (s *state) describe(m *mail.DescribeQueue) {
	info := &mail.QueueInfo{
		Reply: m.Done(nil), Name: s.queue.Name,
		Ready: s.shownReady(), Unacked: s.consumers.Unacked(), Consumers: s.consumers.Len(),
		ReadyBytes: s.messages.ReadyBytes() + s.deadLetters.forwardingBytes, UnackedBytes: s.messages.Bytes() - s.messages.ReadyBytes() - s.deadLetters.forwardingBytes,
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
	info.NextExpiry, _ = s.nextExpiry()
	if c := s.consumers.Exclusive(); c != nil {
		info.ExclusiveTag = c.Tag
	}
	if m.Consumers {
		info.HeadTimestamp = s.headTimestamp()
		info.List = s.list()
	}
	s.send(m.ReplyTo, info)
}

// headTimestamp is the timestamp property of the first ready message.
func (s *state) headTimestamp() uint64 {
	h, ok := s.messages.First()
	if !ok || s.messages.IsPaged(h) {
		return 0
	}
	scan, _ := protocol.ScanProperties(s.messages.Get(h).Header)
	return scan.Timestamp
}

// list describes the consumers, in the order of their channels and of their
// coming.
func (s *state) list() []mail.QueueConsumer {
	list := make([]mail.QueueConsumer, 0, s.consumers.Len())
	s.consumers.Consumers(func(c *consumers.Consumer) {
		list = append(list, mail.QueueConsumer{
			Channel: c.Channel.Address, Tag: c.Tag, NoAck: c.NoAck, Exclusive: s.consumers.Exclusive() == c, Active: s.consumers.Active(c),
			Prefetch: c.Prefetch, Arguments: c.Arguments, Timeout: s.timeout(c),
		})
	})
	slices.SortStableFunc(list, func(a, b mail.QueueConsumer) int { return strings.Compare(a.Channel.Id, b.Channel.Id) })
	return list
}
