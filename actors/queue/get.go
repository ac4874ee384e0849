package queue

import (
	"slices"

	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// This part answers basic.get.
//
// Owns: the commands that wait for the content of the first message.
//
// Deadlines: none. A restart loses nothing: the commands that wait get an answer.
type gets struct {
	base
	waiting []*mail.Get
}

func (s *gets) Handle(received any, now clock.Instant) (taken bool) {
	m, taken := received.(*mail.Get)
	if taken {
		s.get(m, now)
	}
	return taken
}

// get takes the first message for basic.get. It renews the lease, even if there is no message (LEASE-4).
func (s *gets) get(m *mail.Get, now clock.Instant) {
	reply := &mail.GetReply{Reply: m.Done(nil), Queue: s.self, Empty: true}
	if reply.Err = mail.Locked(s.queue, m.Connection, s.vhost.Name); reply.Err == nil {
		reply.Err = s.source.Admits(nil)
	}
	if reply.Err != nil {
		s.out.Send(m.ReplyTo, reply)
		return
	}
	s.lease.Renew(now.Ceil(), expiry.LeaseGot)
	if s.consumers.Paused() { // PAUSE-2, or all messages go elsewhere
		s.messages.Counts.GetEmpty++
		s.out.Send(m.ReplyTo, reply)
		return
	}
	s.messages.ExpireDue(now)
	h, ok := s.messages.First(now)
	if needs := int64(0); ok {
		if needs = int64(mail.ChargeOf(int(s.messages.Backlog.Size(h)))); !m.Unread.Room(needs) {
			reply.Crowded = needs
			s.out.Send(m.ReplyTo, reply)
			return
		}
		if !s.messages.HasContent(h, now) {
			s.waiting = append(s.waiting, m)
			return
		}
		s.messages.Expiry.Remove(h)
		s.deliveries.Fetch(h, m, reply, now)
		s.messages.ExpireDue(now) // the head may have changed (TTL-18)
		reply.MessageCount = s.messages.Backlog.Ready()
	}
	if !ok && s.messages.Backlog.Ready() > 0 { // more expired messages precede it than one turn removes
		s.out.Send(s.self, m)
		return
	}
	if !ok {
		s.messages.Counts.GetEmpty++
	}
	s.out.Send(m.ReplyTo, reply)
}

func (s *gets) Resume(now clock.Instant) {
	waiting := s.waiting
	s.waiting = nil
	for _, g := range waiting {
		s.get(g, now)
	}
}

func (s *gets) Gone(channel mail.Address, _ clock.Instant) {
	s.waiting = slices.DeleteFunc(s.waiting, func(g *mail.Get) bool { return mail.Same(g.Channel, channel) })
}

func (s *gets) Busy() bool { return len(s.waiting) > 0 }

func (s *gets) End() (waiting []mail.Answerable) {
	for _, g := range s.waiting {
		waiting = append(waiting, g)
	}
	s.waiting = nil
	return waiting
}
