package republish

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// maxNamed is the maximum number of queues named in one log line; there is an event for each queue.
const maxNamed = 16

// reportExpired requests a log line about the queues that have expired since the last one.
type reportExpired struct{}

// expired holds the queues whose leases ended and whose end is not logged yet. If thousands expire in a second, a line
// for each would take as long as ending them.
type expired struct {
	queues, discarded int
	names             []string
}

// queueExpired counts a queue that has expired, and requests a log line after the mail that waits already.
func (s *state) queueExpired(m *mail.QueueExpired) {
	s.stats.QueuesExpired.Add(1)
	s.stats.Discarded.Add(uint64(m.Discarded))
	e := &s.expired
	if e.queues == 0 {
		s.out.Send(s.self, reportExpired{})
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
