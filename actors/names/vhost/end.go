package vhost

import (
	"maps"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
)

// deleteAll starts the end of the virtual host. Every queue retires as usual, so that every waiting sender gets an
// answer; exchanges end with the actor.
func (s *state) deleteAll(m *mail.EndVHost) {
	if s.ending != nil {
		return // there is one root, which sends this once
	}
	s.ending = m
	g := newBarrier(func() {
		s.deleted = true
		s.leave()
	})
	for _, q := range slices.Collect(maps.Values(s.queues.byName)) {
		g.begin()
		s.queues.deleteAnyway(q, mail.Request{}, g.end)
	}
	g.end()
}

// leave stops the actor once no queue is left, not even one that still has mail to answer, because stopping the parent
// would overtake that mail (PRO-1).
func (s *state) leave() {
	if !s.deleted || s.stopping || len(s.children.leaving) > 0 {
		return
	}
	s.stopping = true
	for _, x := range slices.Collect(maps.Values(s.exchanges.byName)) {
		s.requests.answerFor(x)
		if x.holder != nil && x.holder.lost > 0 {
			s.exchanges.deleted(x)
		}
		s.unpark(&x.name)
	}
	for _, h := range s.holders {
		h.Close()
	}
	s.publish(&topology.Directory{})
	s.out.reply(s.ending.Request, &mail.EndVHostReply{Reply: s.ending.Done(nil)})
	s.out.add(leaving{})
}
