package deadletter

import (
	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/protocol"
)

// maxNamed is the maximum number of queues named in a line of the log; there is an event for each queue.
const maxNamed = 16

// reportExpired requests a line of the log about the queues that have expired since the last one.
type reportExpired struct{}

// expired are queues whose leases ran out, and that are not logged yet. If thousands expire in a second, a line for
// each would take as long as their end.
type expired struct {
	queues, discarded int
	names             []string
}

// queueExpired counts a queue that has expired, and requests a line of the log behind the mail that waits already.
func (s *state) queueExpired(m *mail.QueueExpired) {
	s.stats.QueuesExpired.Add(1)
	s.stats.Discarded.Add(uint64(m.Discarded))
	e := &s.expired
	if e.queues == 0 {
		s.send(s.self, reportExpired{})
	}
	e.queues++
	e.discarded += m.Discarded
	if len(e.names) < maxNamed {
		e.names = append(e.names, m.Queue)
	}
	s.events.Publish(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: "queue.lease.ended", VHost: s.vhost.Name, Fields: protocol.Table{
			{Key: "name", Value: m.Queue}, {Key: "vhost", Value: s.vhost.Name}, {Key: "messages", Value: int64(m.Discarded)},
		}}
	})
}

// logExpired logs one line about the expired queues.
func (s *state) logExpired() {
	e := s.expired
	s.expired = expired{}
	switch e.queues {
	case 0:
	case 1:
		s.log.Info().Str("queue", e.names[0]).Int("discarded_messages", e.discarded).Msg("a queue expired because it was unused")
	default:
		s.log.Info().Int("queues", e.queues).Strs("first", e.names).Int("discarded_messages", e.discarded).
			Msg("queues expired because they were unused")
	}
}
