package session

import (
	"candlemark/actors/mail"
	"candlemark/protocol/amqp10"
)

// accepted attaches a link that has waited for a session, or refuses it.
func accepted(s *state, m *mail.ConsumeReply) {
	for _, l := range s.links {
		if o := l.opening; o != nil && o.Ask.ID == m.ID {
			if delete(s.links, l.handle); m.Err != nil {
				attachFailed(s, o.Attach, m.Err)
				return
			}
			consumes(s, o.Attach, o.Ask, s.peers.Of(o.Queue), m.Session)
			if o.Flow != nil {
				s.creditGiven(s.links[l.handle], o.Flow)
			}
			s.recheck.Add(l.address) // its token may have ended meanwhile
			return
		}
	}
}

// stopOpening ends a link before it has a session, and calls done when its queue knows.
func stopOpening(s *state, l *link, done func(m *amqp10.Attach)) {
	o := l.opening
	l.opening, l.closing = nil, true
	s.Send(o.Queue, o.Cancel(s.request(func(any, error) {
		delete(s.links, l.handle)
		done(o.Attach)
	})))
}
