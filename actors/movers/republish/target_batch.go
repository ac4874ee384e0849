package republish

import (
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// targetBatches collects the mail of one turn: one batch for each target, so that a target gets its part of a batch
// in one mail.
type targetBatches struct {
	list  []targetBatch
	index map[*topology.Queue]int // indexes of list
	// backing is the memory for the messages of this turn. The first batch is built in it: usually it is the only one,
	// so nothing is copied.
	backing []message.Message
	pending []*pendingMessage // empty slice with the capacity of an earlier first batch
}

type targetBatch struct {
	target   *topology.Queue
	messages []message.Message
	pending  []*pendingMessage // one for each message
}

// scanned is the number of targets up to which a linear search is faster than a map.
const scanned = 32

// lookup returns a test for the targets that already have a message; nil if there are none.
func lookup(had []mail.Target) func(mail.Target) bool {
	switch {
	case len(had) == 0:
		return nil
	case len(had) <= scanned:
		return func(t mail.Target) bool { return slices.Contains(had, t) }
	}
	all := make(map[mail.Target]struct{}, len(had))
	for _, t := range had {
		all[t] = struct{}{}
	}
	return func(t mail.Target) bool {
		_, has := all[t]
		return has
	}
}

// add adds a copy to the batch for target, with its TTL limited.
func (p *targetBatches) add(target *topology.Queue, m *message.Message, l *pendingMessage, cap int64) {
	if n := len(p.list); n > 0 && p.list[n-1].target == target {
		p.list[n-1].add(m, l, cap)
		return
	}
	i, found := p.index[target]
	if !found {
		i = len(p.list)
		p.index[target] = i
		p.list = append(p.list, targetBatch{target: target})
		if i == 0 {
			p.list[0].messages, p.list[0].pending = p.backing, p.pending
		}
	}
	p.list[i].add(m, l, cap)
}

func (p *targetBatch) add(m *message.Message, l *pendingMessage, cap int64) {
	p.messages = append(p.messages, *m)
	p.messages[len(p.messages)-1].Cap(cap)
	p.pending = append(p.pending, l)
	l.copies++
}

// origins returns the stored messages of which the copies are made, all of one queue.
func origins(of []*pendingMessage) []uint64 {
	list := make([]uint64, len(of))
	for i, l := range of {
		list[i] = l.stored
	}
	return list
}

// send numbers the copies and posts the batches.
func (p *targetBatches) send(s *state) {
	for i := range p.list {
		x := &p.list[i]
		pid := x.target.PID
		for k, l := range x.pending {
			x.messages[k].Number = s.base + s.copies.Append(pendingCopy{l, x.target})
		}
		if _, known := s.watched[pid.GetId()]; !known {
			s.watched[pid.GetId()] = struct{}{}
			s.out.watch = append(s.out.watch, pid)
		}
		e := &mail.Enqueue{From: s.self, Queue: pid, Table: x.target.Table, Action: x.target.Action, Messages: x.messages}
		if b := x.pending[0].batch; b.Stored != nil {
			e.Origin, e.Origins = b.Incarnation, origins(x.pending)
		}
		s.out.Send(pid, e)
	}
	if len(p.list) > 0 {
		p.pending = p.list[0].pending
		clear(p.pending)
		p.pending = p.pending[:0]
	}
	clear(p.list)
	p.list, p.backing = p.list[:0], nil
	clear(p.index)
}
