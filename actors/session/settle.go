package session

import (
	"slices"

	"candlemark/actors/channel/peers"
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/actors/session/entities"
	"candlemark/internal/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// settling are deliveries of one queue that a client has settled, and waits to hear of whether it still held them.
type settling struct {
	queue   *unacked.Queue
	state   amqp10.State
	numbers []uint64 // the queue's
	ids     []uint32 // the deliveries'
}

// settleEntity settles deliveries of links of Azure Service Bus's dialect, and has the queue tell which of them were held.
func settleEntity(s *state, tags []uint64, m *amqp10.Disposition) {
	if len(tags) == 0 {
		return
	}
	how, outcome := entities.Settlement(&m.State)
	var all []*settling
	for _, tag := range tags {
		s.unacked.Take(tag, tag, func(_ uint64, u unacked.Delivery) {
			q, number := s.unacked.Account(u, how)
			i := slices.IndexFunc(all, func(x *settling) bool { return x.queue == q })
			if i < 0 {
				i, all = len(all), append(all, &settling{queue: q, state: m.State})
			}
			all[i].numbers, all[i].ids = append(all[i].numbers, number), append(all[i].ids, uint32(tag-1))
		})
	}
	s.unacked.Flush() // what was settled before comes first
	for _, x := range all {
		if x.queue.Gone {
			x.tell(s, func(uint64) bool { return true }, m.Settled)
			continue
		}
		told := &mail.Settle{Channel: s.self, Ranges: entities.Ranges(x.numbers, how, outcome)}
		if !m.Settled {
			s.asked++
			s.settles[s.asked] = x
			told.Asked = &mail.Request{ReplyTo: s.self, ID: s.asked, By: s.cfg.By}
		}
		s.Send(x.queue.Address, told)
	}
}

// entitySettled tells a client what a queue has answered.
func entitySettled(s *state, m *mail.Settled) {
	if x := s.settles[m.Number()]; x != nil {
		delete(s.settles, m.Number())
		lost := entities.Lost(m.Lost)
		x.tell(s, func(n uint64) bool { return m.Failure() != nil || lost(n) }, false)
	} else {
		s.answered(m) // deferred ones
	}
}

// lostWith answers for a queue that ended.
func lostWith(s *state, p *peers.Peer) {
	for id, x := range s.settles {
		if x.queue == &p.Queue {
			delete(s.settles, id)
			x.tell(s, func(uint64) bool { return true }, false)
		}
	}
}

// tell answers the client, unless it has settled by itself: deliveries that it did not hold any more, for which lost is asked in order, are
// rejected. A dead-lettering that has succeeded has no error, which clients would take for their own.
func (x *settling) tell(s *state, lost func(number uint64) bool, settled bool) {
	if settled || s.phase != open {
		return
	}
	for i, id := range x.ids {
		state := amqp10.State{Kind: x.state.Kind}
		if lost(x.numbers[i]) {
			state = amqp10.State{Kind: amqp10.Rejected, Error: servicebus.ErrLockLost()}
		}
		s.reply(&amqp10.Disposition{Role: amqp10.RoleSender, First: id, Settled: true, State: state})
	}
}
