package deadletter

import (
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
)

// parcels gathers what one turn sends: one parcel for each target, so that a
// target gets its part of a batch in one mail.
type parcels struct {
	list  []parcel
	index map[*topology.Queue]int // into list
	// ground is where the messages of this turn lie. The first parcel is made there:
	// mostly it is the only one, and nothing is copied.
	ground  []message.Message
	letters []*letter // of an earlier first parcel, empty
}

type parcel struct {
	target   *topology.Queue
	messages []message.Message
	letters  []*letter // of the messages
}

// add puts a copy into the parcel for target, with its TTL capped.
func (p *parcels) add(target *topology.Queue, m *message.Message, l *letter, cap int64) {
	if n := len(p.list); n > 0 && p.list[n-1].target == target {
		p.list[n-1].add(m, l, cap)
		return
	}
	i, found := p.index[target]
	if !found {
		i = len(p.list)
		p.index[target] = i
		p.list = append(p.list, parcel{target: target})
		if i == 0 {
			p.list[0].messages, p.list[0].letters = p.ground, p.letters
		}
	}
	p.list[i].add(m, l, cap)
}

func (p *parcel) add(m *message.Message, l *letter, cap int64) {
	p.messages = append(p.messages, *m)
	p.messages[len(p.messages)-1].Cap(cap)
	p.letters = append(p.letters, l)
	l.copies++
}

// send gives every copy its number and posts the parcels.
func (p *parcels) send(s *state) {
	for i := range p.list {
		x := &p.list[i]
		pid := x.target.PID
		for k, l := range x.letters {
			x.messages[k].Number = s.base + s.copies.Append(parcelCopy{l, pid})
		}
		if _, known := s.watched[pid.Id]; !known {
			s.watched[pid.Id] = struct{}{}
			s.out.watch = append(s.out.watch, pid)
		}
		s.send(pid, &mail.Enqueue{From: s.self, Queue: pid, Messages: x.messages})
	}
	if len(p.list) > 0 {
		p.letters = p.list[0].letters
		clear(p.letters)
		p.letters = p.letters[:0]
	}
	clear(p.list)
	p.list, p.ground = p.list[:0], nil
	clear(p.index)
}
