package session

import (
	"candlemark/actors/channel/peers"
	"candlemark/actors/mail"
	"candlemark/actors/session/entities"
	"candlemark/actors/session/settlement"
	"candlemark/protocol/amqp10"
)

// settleEntity settles deliveries of links of Azure Service Bus's dialect, and has the queue tell which of them were held.
func settleEntity(s *state, tags []uint64, m *amqp10.Disposition) {
	if len(tags) == 0 {
		return
	}
	how, outcome := entities.Settlement(&m.State)
	all := settlement.Take(&s.unacked, tags, m.State, how)
	s.unacked.Flush() // what was settled before comes first
	for _, x := range all {
		if x.Queue.Gone {
			if !m.Settled {
				lost(s, x)
			}
			continue
		}
		told := &mail.Settle{Channel: s.self, Ranges: entities.Ranges(x.Numbers, how, outcome)}
		if !m.Settled {
			s.asked++
			s.settles[s.asked] = x
			told.Asked = &mail.Request{ReplyTo: s.self, ID: s.asked, By: s.cfg.By}
		}
		s.Send(x.Queue.Address, told)
	}
}

// entitySettled tells a client what a queue has answered.
func entitySettled(s *state, m *mail.Settled) {
	x := s.settles[m.Number()]
	if x == nil { // its session has ended
		return
	}
	delete(s.settles, m.Number())
	held := entities.Lost(m.Lost)
	if s.phase == open {
		x.Tell(func(n uint64) bool { return m.Failure() != nil || held(n) }, s.reply)
	}
}

// lostWith answers for a queue that ended.
func lostWith(s *state, p *peers.Peer) {
	for id, x := range s.settles {
		if x.Queue == &p.Queue {
			delete(s.settles, id)
			lost(s, x)
		}
	}
}

// lost tells a client that its queue held none of the deliveries any more.
func lost(s *state, x *settlement.Asked) {
	if s.phase == open {
		x.Tell(func(uint64) bool { return true }, s.reply)
	}
}
