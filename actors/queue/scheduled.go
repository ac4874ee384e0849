package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/dueindex"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// scheduled are the messages that are not to be had before their time (ADR 18):
// those of a queue with delayed-messages, and those that a delayed exchange holds.
// They have a backlog of their own, so that they are in nobody's way. Of an entry there
// the deadline is when it is due, and what links it with others that have the same
// message-id, by store.HashID, is where a ready message's wheel and its count of
// deliveries are.
type scheduled struct {
	messages backlog.Findable
	due      dueindex.Index[*backlog.Findable]
	ids      map[uint32]backlog.Handle // the newest of each hash
	// overdue is until when those were due that came due while the broker was down,
	// wall ms; gone counts those that were dropped or dead-lettered for it.
	overdue int64
	givenUp int
	rate    rateLimiter
	reading bool           // the first one's content is being read
	trimmed backlog.Handle // where a trim goes on, 0 for none
	settled int64          // bytes of contents that were left by the last trim
}

// ensureScheduled makes room for scheduled messages.
func (s *state) ensureScheduled() *scheduled {
	if s.scheduled == nil {
		x := &scheduled{ids: map[uint32]backlog.Handle{}}
		x.messages.Budget = s.messages.Budget
		x.due = dueindex.New(&x.messages)
		s.scheduled = x
	}
	return s.scheduled
}

// scheduledPending reports whether messages wait for their time.
func (s *state) scheduledPending() bool { return s.scheduledCount() > 0 }

func (s *state) scheduledCount() int {
	if s.scheduled == nil {
		return 0
	}
	return s.scheduled.due.Len()
}

func (s *state) nextScheduled() (backlog.Handle, bool) {
	if s.scheduled == nil {
		return 0, false
	}
	h, _, ok := s.scheduled.due.First()
	return h, ok
}

// dueOf is when a message that comes now is to be released, and the hash of its
// message-id. A delayed exchange goes by x-delay alone (DLY-2), a queue by the dates
// too (DLY-8). What was held already is not held again (DLY-9), and what cannot be
// made out counts for nothing here: the publisher was told.
func (s *state) dueOf(m *message.Message, now clock.Instant) (due topology.Due, id uint32) {
	if !s.holdsDelayed && m.Overlay != nil && (m.Overlay.Held || m.Overlay.Delayed != 0) {
		return due, 0
	}
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil || scan.Headers == nil {
		return due, 0
	}
	if s.holdsDelayed {
		due.At = after(now.Ceil(), topology.DelayOf(m.Header))
	} else if due, err = topology.DueOf(scan.Headers, s.settings.DeliverAtHeader, now.Ceil(), s.skew); err != nil {
		return topology.Due{}, 0
	}
	if due.At > now.Floor() && len(scan.MessageID) > 0 {
		id = store.HashID(scan.MessageID)
	}
	return due, id
}

// addScheduled keeps a message until it is due. It counts against no limit. It reports
// whether the message was written down.
func (s *state) addScheduled(m *message.Message, due topology.Due, id uint32, now clock.Instant) (stored bool) {
	if s.settings.ExpiresAtHeader != "" && !m.Overlay.Undated() {
		if at, ok := s.expiresAtOf(m); ok {
			m.Cap(max(at-due.At, 0)) // TTL begins when it is due
		}
	}
	x := s.ensureScheduled()
	s.seq++
	r := backlog.Record{
		Exchange: m.Exchange, RoutingKey: m.RoutingKey, Header: m.Header, Body: m.Body, Overlay: m.Overlay,
		Deadline: due.At, TTL: m.TTL, Enqueued: now.Ceil(), Priority: min(m.Priority, s.settings.MaxPriority),
		Persistent: m.Persistent, Seq: s.seq, Shared: m.Owned, Share: m.Share,
	}
	h := x.messages.Push(&r)
	x.add(h, id)
	switch {
	case s.durable(m.Persistent):
		r = x.messages.Get(h)
		w := s.write(store.Put, &x.messages.Backlog, h, &r)
		if w.Due = due.At; due.Dated {
			w.Deadline = store.Never
		}
		return true
	case s.overLimit:
		s.spill(&x.messages.Backlog, h)
	}
	return false
}

// add has a message wait that is in the backlog.
func (x *scheduled) add(h backlog.Handle, id uint32) {
	x.due.Add(h)
	x.chain(h, id)
}

// chain remembers a message by its message-id.
func (x *scheduled) chain(h backlog.Handle, id uint32) {
	e := x.messages.Entry(h)
	if e.DeliveryCount = id; id == 0 {
		return
	}
	first := x.ids[id]
	if e.Links.Next = first; first != 0 {
		x.messages.Entry(first).Links.Prev = h
	}
	x.ids[id] = h
}

// remove ends the waiting of a message and takes it out of the backlog.
func (x *scheduled) remove(h backlog.Handle) {
	x.due.Remove(h)
	e := x.messages.Entry(h)
	if id, prev, next := e.DeliveryCount, e.Links.Prev, e.Links.Next; id != 0 {
		switch {
		case prev != 0:
			x.messages.Entry(prev).Links.Next = next
		case next != 0:
			x.ids[id] = next
		default:
			delete(x.ids, id)
		}
		if next != 0 {
			x.messages.Entry(next).Links.Prev = prev
		}
		e.Links.Prev, e.Links.Next = 0, 0
	}
	x.messages.Remove(h)
}

// unschedule drops a scheduled message for good.
func (s *state) unschedule(h backlog.Handle, why store.Reason) {
	x := s.scheduled
	if e := x.messages.Entry(h); e.Marks&backlog.Stored != 0 && s.phase < draining && !s.unwrite(e.Seq) {
		s.mark(store.Remove, e.Seq, why)
	}
	x.remove(h)
}

// moveToReady makes a scheduled message the last of its priority in the queue, ready, with
// the number that it has. Its time there begins when it was due: so its TTL does
// (DLY-9). It needs no content for that.
func (s *state) moveToReady(h backlog.Handle) backlog.Handle {
	x := s.scheduled
	e := x.messages.Entry(h)
	due, marks, place, paged := e.Deadline, e.Marks&backlog.Stored, x.messages.Place(h), x.messages.IsPaged(h)
	r := backlog.Record{Seq: e.Seq, Priority: x.messages.Priority(h), Persistent: e.Persistent}
	size := x.messages.Size(h)
	if paged {
		_, r.TTL = x.messages.Times(h)
	} else {
		r = x.messages.Get(h)
		r.DeliveryCount = 0
	}
	r.Enqueued, r.Deadline = due, after(due, s.ttl(r.TTL))
	x.remove(h)
	var to backlog.Handle
	if paged {
		to = s.messages.PushPaged(&r, uint32(size), place)
	} else if to = s.messages.Push(&r); place != 0 {
		s.messages.SetPlace(to, place)
	}
	s.messages.Entry(to).Marks = marks
	if marks != 0 && place == 0 {
		s.follow(r.Seq, h, to)
	}
	return to
}

// memory is about how many bytes they take, without counting.
func (x *scheduled) memory() int64 {
	const each = 48 + 8 + 2 // entry, place in the journal, share of the segment
	return int64(x.messages.Len())*each + x.messages.Held() + x.due.Memory()
}

// scheduledCounts are known, not counted (DLY-11).
func (s *state) scheduledCounts() (c mail.ScheduledCounts) {
	x := s.scheduled
	if x == nil {
		return c
	}
	c.Count, c.Bytes = x.due.Len(), x.messages.Bytes()
	if _, due, ok := x.due.First(); ok {
		c.NextDue = due + s.skew
	}
	c.Overdue = x.due.Until(s.at)
	before := 0
	for i, ms := range [...]int64{1000, 60_000, 3_600_000, 86_400_000} {
		n := x.due.Until(s.at + ms)
		c.Within[i], before = n-before, n
	}
	c.Within[4] = c.Count - before
	return c
}
