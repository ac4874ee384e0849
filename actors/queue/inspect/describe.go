package inspect

import (
	"slices"
	"strings"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// DescribeTimes describes how many messages expire and when, how old the messages are, and how long they waited and were
// processed.
func DescribeTimes(info *mail.QueueInfo, m *messages.Messages, all *consumers.Consumers) {
	now := m.Journal.At
	info.Expiring = mail.ExpiryCounts(m.Expiry.Counts(now))
	if info.Expiring.Next != 0 {
		info.Expiring.Next = m.Dates.Date(info.Expiring.Next)
	}
	since := func(at int64) mail.Oldest {
		if at == 0 {
			return mail.Oldest{}
		}
		return mail.Oldest{Since: m.Dates.Date(at), Age: max(now-at, 0)}
	}
	info.OldestReady = since(backlog.OldestReady(&m.Backlog))
	if info.OldestMessage = info.OldestReady; all.Unacked() > 0 {
		info.OldestMessage = since(backlog.OldestHeld(&m.Backlog))
	}
	info.OldestUnacked = since(all.Oldest(now)).Since
	info.HeadTimestamp = headTimestamp(&m.Backlog)
	info.Wait, info.Processing = m.Ages.Wait.Summary(now), m.Ages.Processing.Summary(now)
}

// DescribeConsumers describes the consumers, and lists them if asked. timeout is the queue's consumer timeout in ms, -1 for none.
func DescribeConsumers(info *mail.QueueInfo, all *consumers.Consumers, timeout int64, list bool) {
	if c := all.Exclusive(); c != nil {
		info.ExclusiveTag = c.Tag
	}
	if c := all.SingleActive(); c != nil {
		info.ActiveTag = c.Tag
	}
	if list {
		info.List = listConsumers(all, timeout)
	}
}

// headTimestamp returns the timestamp property of the first ready message, 0 if there is no message, no timestamp, or
// the content is not in memory.
func headTimestamp(b *backlog.Backlog) uint64 {
	h, ok := b.First()
	if !ok || b.IsPaged(h) {
		return 0
	}
	var r backlog.Record
	b.Get(h, &r)
	return content.Scan(r.Header).Timestamp
}

// listConsumers describes the consumers, by channel and then order of attachment. timeout is the queue's consumer timeout
// in ms, -1 for none.
func listConsumers(set *consumers.Consumers, timeout int64) []mail.QueueConsumer {
	list := make([]mail.QueueConsumer, 0, set.Len())
	set.Consumers(func(c *consumers.Consumer) {
		own := int64(-1)
		if !c.NoAck {
			own = policies.Timeout(c.Timeout, timeout)
		}
		list = append(list, mail.QueueConsumer{
			Channel: c.Channel.Address, Tag: c.Tag, NoAck: c.NoAck, Exclusive: set.Exclusive() == c, Active: set.Active(c),
			Prefetch: c.Prefetch, Arguments: c.Arguments, Timeout: own,
		})
	})
	slices.SortStableFunc(list, func(a, b mail.QueueConsumer) int { return strings.Compare(a.Channel.GetId(), b.Channel.GetId()) })
	return list
}
