package session10

import (
	"maps"
	"slices"

	"candlemark/actors/client/session10/dialects"
	"candlemark/internal/servicebus/dialect"
)

// recheckLinks detaches links to entities if the token has expired or lacks a right, or if the entity's status forbids
// them. If a consumer has to be cancelled first, the remaining links wait for it.
func (s *state) recheckLinks() {
	for _, handle := range slices.Sorted(maps.Keys(s.links)) {
		l := s.links[handle]
		if !s.recheck.Concern(l.address) {
			continue
		}
		err := refusedNow(l)
		switch {
		case err == nil:
		case l.opening != nil:
			s.receiving.stopOpening(l, func(o *opening) { s.attachFailed(o.attach, o.dialect, err) })
			return
		case l.consumer == nil:
			if l.answers != nil {
				s.output.withdraw(l)
			}
			s.failLink(l, dialect.ErrorOf(err))
		case !l.consumer.leaving:
			s.receiving.cancel(l, func() { s.failLink(l, err) })
			return
		}
	}
	s.recheck.Clear()
}

// refusedNow returns why, by tokens and statuses, a link would be refused if it were attached now.
func refusedNow(l *link) error {
	switch d := l.dialect; {
	case l.closing || d == nil:
		return nil
	case l.opening != nil:
		return d.Keeps(dialects.Receives, l.opening.ask.Queue)
	case l.consumer != nil:
		return d.Keeps(dialects.Receives, l.consumer.name)
	case l.publisher != nil && l.publisher.node == nil:
		return d.Keeps(dialects.Sends, l.publisher.Name())
	default:
		return d.Keeps(dialects.Requests, "")
	}
}
