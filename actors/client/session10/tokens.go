package session10

import (
	"maps"
	"slices"

	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// takeToken executes a request to $cbs.
func takeToken(s *state, request []byte, done func(replyTo string, answer []byte)) error {
	return (&tokenNode{Access: &s.access, Check: s.cfg.Token, Connection: s.cfg.Connection, Send: s.Send, Ask: s.request, Beside: s.runInBackground}).Run(request, done)
}

// recheckLinks detaches links to entities if the token has expired or lacks a right, or if the entity's status forbids
// them. If a consumer has to be cancelled first, the remaining links wait for it.
func recheckLinks(s *state) {
	for _, handle := range slices.Sorted(maps.Keys(s.links)) {
		l := s.links[handle]
		if !s.recheck.Concern(l.address) {
			continue
		}
		err := refusedNow(s, l)
		switch {
		case err == nil:
		case l.opening != nil:
			stopOpening(s, l, func(m *amqp10.Attach) { attachFailed(s, m, err) })
			return
		case l.consumer == nil:
			if l.answers != nil {
				s.withdraw(l)
			}
			s.failLink(l, dialect.ErrorOf(err))
		case !l.consumer.leaving:
			s.cancel(l, func() { s.failLink(l, err) })
			return
		}
	}
	s.recheck.Clear()
}

// refusedNow returns why, by tokens and statuses, a link would be refused if it were attached now.
func refusedNow(s *state, l *link) error {
	if l.closing || !servicebus.Is(l.address) || l.address == servicebus.TokenNode {
		return nil
	}
	may, err := s.access.RightsAt(l.address)
	switch {
	case err != nil:
		return err
	case l.opening != nil:
		return may.Keeps(true, l.opening.Ask.Queue)
	case l.consumer != nil:
		return may.Keeps(true, l.consumer.name)
	case l.publisher != nil && l.publisher.node == nil:
		return may.Keeps(false, l.publisher.Name())
	}
	return nil
}
