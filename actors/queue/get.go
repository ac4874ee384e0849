package queue

import (
	"candlemark/actors/queue/backlog"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// get takes the first message for basic.get. It renews the lease, even if there is no message (LEASE-4).
func (s *state) get(m *mail.Get, now clock.Instant) {
	reply := &mail.GetReply{Reply: m.Done(nil), Queue: s.self, Empty: true}
	if reply.Err = access(s.queue, s.vhost, m.Connection); reply.Err == nil && s.Sessions != nil {
		reply.Err = needsSession(s)
	}
	if reply.Err != nil {
		s.out.Send(m.ReplyTo, reply)
		return
	}
	s.lease.Renew(now.Ceil(), leaseGot)
	if s.Settings.HasForward { // all messages are forwarded instead
		s.Counts.GetEmpty++
		s.out.Send(m.ReplyTo, reply)
		return
	}
	s.ExpireDue(now)
	h, ok := s.First(now)
	if needs := int64(0); ok {
		if needs = int64(mail.ChargeOf(int(s.Backlog.Size(h)))); !m.Unread.Room(needs) {
			reply.Crowded = needs
			s.out.Send(m.ReplyTo, reply)
			return
		}
		if !s.HasContent(h, now) {
			s.gets = append(s.gets, m)
			return
		}
		s.Expiry.Remove(h)
		s.fetch(h, m, reply, now)
		s.ExpireDue(now) // the head may have changed (TTL-18)
		reply.MessageCount = s.Backlog.Ready()
	}
	if !ok && s.Backlog.Ready() > 0 { // more expired messages precede it than one turn removes
		s.out.Send(s.self, m)
		return
	}
	if !ok {
		s.Counts.GetEmpty++
	}
	s.out.Send(m.ReplyTo, reply)
}

// fetch puts a ready message into the reply to m.
func (s *state) fetch(h backlog.Handle, m *mail.Get, reply *mail.GetReply, now clock.Instant) {
	var r backlog.Record
	s.Backlog.Get(h, &r)
	reply.Empty, reply.Delivery = false, mail.Delivery{}
	s.Style().Deliver(&reply.Delivery, &r)
	m.Unread.Take(int64(reply.Delivery.Charge()))
	if r.Redelivered {
		s.Counts.Redeliver++
	} else {
		s.Ages.Waited(now.Ceil() - r.Enqueued)
	}
	if m.Facts {
		reply.Delivery.Facts = s.Style().Facts(&r)
	}
	if m.NoAck {
		s.Counts.GetNoAck++
		s.Remove(h, store.Acked)
	} else {
		s.Counts.Get++
		to := s.channel(m.Channel)
		reply.Delivery.Number = s.deliveries.Take(h, to, nil, now)
		if m.Facts {
			s.deliveries.Lock(reply.Delivery.Facts, to, reply.Delivery.Number)
		}
	}
}

// receiveDeferred takes deferred messages. Like basic.get, it counts as a use of the queue.
func receiveDeferred(s *state, m *mail.ReceiveDeferred, now clock.Instant) {
	if err := access(s.queue, s.vhost, m.Connection); err != nil {
		s.out.Send(m.ReplyTo, &mail.ReceiveDeferredReply{Reply: m.Done(err), Queue: s.self})
		return
	}
	s.lease.Renew(now.Ceil(), leaseGot)
	s.deliveries.Receive(m, now)
}

// loaded: the contents of the messages with these handles were read.
type loaded struct {
	handles  []backlog.Handle
	contents []store.Content
	bytes    int64 // according to Orders
}

// contentsRead stores the contents that were read and resumes the operations that waited for them.
func (s *state) contentsRead(m loaded, now clock.Instant) {
	s.Loaded(m.handles, m.contents, m.bytes, now)
	s.Sessions.Resume()
	if s.phase == live && s.pending.Work() == nil {
		s.resumeGets(now)
		s.DeadLetters.Retry(now, s.Dates)
	}
}

// resumeGets resumes the basic.gets that wait for contents.
func (s *state) resumeGets(now clock.Instant) {
	gets := s.gets
	s.gets = nil
	for _, g := range gets {
		s.get(g, now)
	}
}
