package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/schedule"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// ensureScheduled makes room for scheduled messages.
func (s *state) ensureScheduled() *schedule.Schedule {
	if s.scheduled == nil {
		s.scheduled = schedule.New(s.messages.Budget)
	}
	return s.scheduled
}

// scheduledPending reports whether messages wait for their time.
func (s *state) scheduledPending() bool { return s.scheduledCount() > 0 }

func (s *state) scheduledCount() int {
	if s.scheduled == nil {
		return 0
	}
	return s.scheduled.Len()
}

func (s *state) nextScheduled() (backlog.Handle, bool) {
	if s.scheduled == nil {
		return 0, false
	}
	h, _, ok := s.scheduled.First()
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
	h := x.Messages.Push(&r)
	x.Add(h, id)
	switch {
	case s.durable(m.Persistent):
		r = x.Messages.Get(h)
		w := s.write(store.Put, &x.Messages.Backlog, h, &r)
		if w.Due = due.At; due.Dated {
			w.Deadline = store.Never
		}
		return true
	case s.overLimit:
		s.spill(&x.Messages.Backlog, h)
	}
	return false
}

// unschedule drops a scheduled message for good.
func (s *state) unschedule(h backlog.Handle, why store.Reason) {
	x := s.scheduled
	if e := x.Messages.Entry(h); e.Marks&backlog.Stored != 0 && s.phase < draining && !s.unwrite(e.Seq) {
		s.mark(store.Remove, e.Seq, why)
	}
	x.Remove(h)
}

// moveToReady makes a scheduled message the last of its priority in the queue, ready, with
// the number that it has. Its time there begins when it was due: so its TTL does
// (DLY-9). It needs no content for that.
func (s *state) moveToReady(h backlog.Handle) backlog.Handle {
	x := s.scheduled
	e := x.Messages.Entry(h)
	due, marks, place, paged := e.Deadline, e.Marks&backlog.Stored, x.Messages.Place(h), x.Messages.IsPaged(h)
	r := backlog.Record{Seq: e.Seq, Priority: x.Messages.Priority(h), Persistent: e.Persistent}
	size := x.Messages.Size(h)
	if paged {
		_, r.TTL = x.Messages.Times(h)
	} else {
		r = x.Messages.Get(h)
		r.DeliveryCount = 0
	}
	r.Enqueued, r.Deadline = due, after(due, s.ttl(r.TTL))
	x.Remove(h)
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
