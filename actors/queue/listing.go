package queue

import (
	"cmp"
	"errors"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/protocol"
)

// listScheduled answers with a page of the scheduled messages, in the order of their
// release. It changes nothing.
func (s *state) listScheduled(m *mail.ListScheduled) {
	page := &mail.ScheduledPage{Reply: m.Done(nil)}
	x := s.scheduled
	if x == nil {
		s.send(m.ReplyTo, page)
		return
	}
	limit := m.Limit
	if limit < 1 || limit > mail.MostScheduled {
		limit = mail.MostScheduled
	}
	l := &lookup{asked: m}
	var at []int // which of the messages the contents are for
	x.Behind(m.After.Due-s.skew, m.After.Seq, func(h backlog.Handle) bool {
		if n := len(page.Messages); n == limit {
			last := &page.Messages[n-1]
			page.Next = &mail.Cursor{Due: last.Due, Seq: last.Seq}
			return false
		}
		if x.Messages.IsPaged(h) {
			at = append(at, len(page.Messages))
			l.want = append(l.want, x.Ref(h))
		}
		page.Messages = append(page.Messages, s.scheduledMessage(h))
		return true
	})
	if len(l.want) == 0 {
		s.send(m.ReplyTo, page)
		return
	}
	order := make([]int, len(at)) // they are read best as they stand
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(l.want[a].At, l.want[b].At) })
	sorted := make([]store.Ref, len(order))
	for i, k := range order {
		sorted[i] = l.want[k]
	}
	l.want = sorted
	l.found = func(contents []store.Content, _ clock.Instant) {
		gone := map[int]bool{}
		for i := range contents {
			k := at[order[i]]
			gone[k] = errors.Is(contents[i].Err, store.ErrUnknown)
			reveal(&page.Messages[k], &contents[i])
		}
		kept := page.Messages[:0]
		for k := range page.Messages {
			if !gone[k] {
				kept = append(kept, page.Messages[k])
			}
		}
		page.Messages = kept
		s.send(m.ReplyTo, page)
	}
	s.out.lookups = append(s.out.lookups, l)
}

// scheduledMessage describes a scheduled message.
func (s *state) scheduledMessage(h backlog.Handle) mail.ScheduledMessage {
	x := s.scheduled
	e := x.Messages.Entry(h)
	enqueued, _ := x.Messages.Times(h)
	m := mail.ScheduledMessage{
		Seq: e.Seq, Due: e.Deadline + s.skew, Enqueued: enqueued + s.skew, Bytes: x.Messages.Size(h), Persistent: e.Persistent,
	}
	if !x.Messages.IsPaged(h) {
		r := x.Messages.Get(h)
		describeContent(&m, r.Exchange, r.RoutingKey, r.Header)
	}
	return m
}

// reveal adds what was read of it.
func reveal(m *mail.ScheduledMessage, c *store.Content) {
	if m.Unreadable = c.Err != nil; m.Unreadable {
		return
	}
	m.Persistent = c.Record.Kind == store.Put
	describeContent(m, c.Record.Exchange, c.Record.RoutingKey, c.Record.Header)
}

func describeContent(m *mail.ScheduledMessage, exchange, key, header []byte) {
	m.Exchange, m.RoutingKey = string(exchange), string(key)
	if scan, err := protocol.ScanProperties(header); err == nil {
		m.MessageID, m.Priority = string(scan.MessageID), scan.Priority
	}
}
