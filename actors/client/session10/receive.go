package session10

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol/amqp10"
)

// consumer is the state of a link on which the client receives.
type consumer struct {
	window.Account
	queue   *unacked.Queue
	name    string // name of the queue
	tag     string
	noAck   bool
	from    dialects.Source
	numbers numbers.Of
	leaving bool // the client has detached the link
	// Messages and bytes passed to the outbox and not yet granted to the queue again.
	written, bytes int
}

// creditGiven passes the client's credit to the queue, which knows the deliveries under way.
func (s *state) creditGiven(l *link, f *amqp10.Flow) {
	c := l.consumer
	if f.LinkCredit.Set {
		c.Given(f)
		s.Send(c.queue.Address, &mail.SetLinkCredit{
			Channel: s.Self(), Tag: c.tag, DeliveryCount: f.DeliveryCount.Or(0), Credit: f.LinkCredit.Value, Drain: f.Drain, Echo: f.Echo,
		})
	} else if f.Echo && !f.Drain {
		s.output.reply(l.flow(&s.output.windows))
	}
}

// ofTag returns the link of the consumer with the given tag, nil if there is none.
func (s *state) ofTag(tag string, queue mail.Address) *link {
	for _, l := range s.links {
		if c := l.consumer; c != nil && c.tag == tag && mail.Same(c.queue.Address, queue) {
			return l
		}
	}
	return nil
}

// deliver writes messages for a consumer. Later output does not overtake them.
func (s *state) deliver(m *mail.Deliver) {
	s.in.Use()
	l := s.ofTag(m.Tag, m.Queue)
	switch {
	case l == nil || s.in.Leaving || s.in.Phase != input.Open:
		m.Release() // the queue is informed separately that the session is gone
	case l.consumer.leaving:
		s.output.sendBack(l, m)
	default:
		if len(s.output.held) > 0 {
			m.DetachChunk()
		}
		s.output.held = append(s.output.held, &writing{link: l, deliver: m})
	}
}

// creditTaken answers a drain or an echo, after the earlier deliveries. Repeated requests before the answer is read get
// one answer.
func (s *state) creditTaken(m *mail.CreditTaken) {
	if l := s.ofTag(m.Tag, m.Queue); l != nil && !l.consumer.leaving {
		s.output.holdFlow(l, m)
	}
}

// accepted attaches a link that has waited for a session, or refuses it.
func (s *state) accepted(m *mail.ConsumeReply) {
	for _, l := range s.links {
		if o := l.opening; o != nil && o.ask.ID == m.ID {
			if delete(s.links, l.handle); m.Err != nil {
				s.attachFailed(o.attach, o.dialect, m.Err)
				return
			}
			o.peer = s.queues.peers.Of(o.from.Queue.PID)
			s.consumes(o, m.Session)
			if o.flow != nil {
				s.creditGiven(s.links[l.handle], o.flow)
			}
			s.recheck.Add(l.address) // its token may have expired in the meantime
			return
		}
	}
}

// stopOpening ends a link that waits for a session, and calls done when its queue has answered.
func (s *state) stopOpening(l *link, done func(o *opening)) {
	o := l.opening
	l.opening, l.closing = nil, true
	s.Send(o.from.Queue.PID, &mail.CancelConsumer{
		Request: s.queues.request(func(any, error) {
			delete(s.links, l.handle)
			done(o)
		}),
		Channel: o.ask.Channel, Tag: o.ask.Tag,
	})
}
