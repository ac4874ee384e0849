package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
)

// get takes the first message for basic.get; asking renews the lease, found or
// not (LEASE-4).
func (s *state) get(m *mail.Get, now clock.Instant) {
	reply := &mail.GetReply{Reply: m.Done(nil), Queue: s.self, Empty: true}
	if reply.Err = s.access(m.Connection); reply.Err != nil {
		s.send(m.ReplyTo, reply)
		return
	}
	s.lease.Renew(now.Ceil())
	if s.settings.HasForward { // all there is goes elsewhere
		s.counts.GetEmpty++
		s.send(m.ReplyTo, reply)
		return
	}
	s.expireDue(now)
	h, ok := s.first(now)
	if ok {
		if !s.hasContent(h, now) {
			s.gets = append(s.gets, m)
			return
		}
		s.expiry.Remove(h)
		s.fetch(h, m, reply, now)
		s.expireDue(now) // what is the head now (TTL-18)
		reply.MessageCount = s.messages.Ready()
	}
	if !ok && s.messages.Ready() > 0 { // behind expired ones, too many for one turn
		s.send(s.self, m)
		return
	}
	if !ok {
		s.counts.GetEmpty++
	}
	s.send(m.ReplyTo, reply)
}

// fetch gives a ready message to whoever asked for it.
func (s *state) fetch(h backlog.Handle, m *mail.Get, reply *mail.GetReply, now clock.Instant) {
	r := s.messages.Get(h)
	reply.Empty, reply.Delivery = false, s.style().Delivery(&r)
	if r.Redelivered {
		s.counts.Redeliver++
	}
	if m.NoAck {
		s.counts.GetNoAck++
		s.Remove(h, acked)
	} else {
		s.counts.Get++
		to := s.channel(m.Channel)
		reply.Delivery.Number = s.take(h, to, nil)
		s.startAckTimeout(h, to, reply.Delivery.Number, -1, now)
	}
}
