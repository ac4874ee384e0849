package deadletter

import (
	"candlemark/actors/mail"
	"candlemark/internal/events"
	"candlemark/protocol"
)

// mostNamed is how many queues a line of the log names; events name each of them.
const mostNamed = 16

// reportExpired has the queues logged that have expired since the first one of which the log does not tell yet.
type reportExpired struct{}

// expired are queues that ended because nobody used them, and are not logged yet. A line for each took as long as their end, when
// thousands expire in a second.
type expired struct {
	queues, discarded int
	names             []string
}

// queueExpired counts a queue that ended, and has it logged behind the mail that waits already.
func (s *state) queueExpired(m *mail.QueueExpired) {
	s.stats.QueuesExpired.Add(1)
	s.stats.Discarded.Add(uint64(m.Discarded))
	e := &s.expired
	if e.queues == 0 {
		s.send(s.self, reportExpired{})
	}
	e.queues++
	e.discarded += m.Discarded
	if len(e.names) < mostNamed {
		e.names = append(e.names, m.Queue)
	}
	s.events.Tell(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: "queue.lease.ended", VHost: s.vhost.Name, Fields: protocol.Table{
			{Key: "name", Value: m.Queue}, {Key: "vhost", Value: s.vhost.Name}, {Key: "messages", Value: int64(m.Discarded)},
		}}
	})
}

// logExpired writes one line about all that have expired.
func (s *state) logExpired() {
	e := s.expired
	s.expired = expired{}
	switch e.queues {
	case 0:
	case 1:
		s.log.Info().Str("queue", e.names[0]).Int("discarded_messages", e.discarded).Msg("a queue expired because nobody used it")
	default:
		s.log.Info().Int("queues", e.queues).Strs("first", e.names).Int("discarded_messages", e.discarded).
			Msg("queues expired because nobody used them")
	}
}
