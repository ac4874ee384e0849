package session

import (
	"candlemark/actors/channel/peers"
	"candlemark/actors/mail"
	"candlemark/actors/session/entities"
	"candlemark/protocol/amqp10"
)

// opening is a link that waits for a session of a queue; the client's other input goes on meanwhile.
type opening struct {
	attach *amqp10.Attach
	ask    *mail.Consume
	peer   *peers.Peer
}

// accept asks for a session.
func accept(s *state, o *opening) {
	s.asked++
	o.ask.Request = mail.Request{ReplyTo: s.self, ID: s.asked, By: s.cfg.By}
	s.links[o.attach.Handle] = &link{handle: o.attach.Handle, name: o.attach.Name, address: o.attach.Source.Address.Or(""), opening: o}
	s.Send(o.peer.Queue.Address, o.ask)
}

// accepted attaches a link, or refuses it.
func accepted(s *state, m *mail.ConsumeReply) {
	for _, l := range s.links {
		if o := l.opening; o != nil && o.ask.ID == m.ID {
			if delete(s.links, l.handle); m.Err != nil {
				attachFailed(s, o.attach, m.Err)
			} else {
				consumes(s, o.attach, o.ask, o.peer, m.Session)
				s.recheck = true // its token may have ended meanwhile
			}
			return
		}
	}
}

// stopOpening ends a link that the client detaches before it has a session.
func stopOpening(s *state, l *link, closed bool) {
	o := l.opening
	l.opening, l.closing = nil, true
	s.Send(o.peer.Queue.Address, &mail.CancelConsumer{
		Request: s.request(func(any, error) {
			delete(s.links, l.handle)
			s.reply(entities.Nothing(o.attach))
			s.reply(&amqp10.Detach{Handle: l.handle, Closed: closed})
		}),
		Channel: s.self, Tag: o.ask.Tag,
	})
}
