package move

import (
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// maxCopies is the number of unanswered copies above which no message is sent to several queues.
const maxCopies = 1 << 15

// permitted divides the copies that a message may still have among its queues. It returns no queues if it may not have
// so many (DL-32), and holds the move if it has to wait for permission (DL-33).
func (s *state) permitted(i *item, queues []*topology.Queue) []*topology.Queue {
	copies := topology.Copies(queues, len(i.Message.Header))
	each, ok := message.ShareOf(i.Message.Copies(), len(queues))
	switch {
	case !ok:
		i.reason = TooMany
		return nil
	case copies == 0:
	case len(s.copies) >= maxCopies: // answers follow
		s.held = true
	case !s.job.Copies.Ask(copies):
		s.held, s.out.await = true, !s.awaiting
		s.awaiting = true
	case len(queues) > 1:
		i.Message.Overlay = i.Message.Overlay.WithCopies(each)
	}
	return queues
}

// again continues after a turn, or asks again for permission.
func (s *state) again(now clock.Instant) {
	s.awaiting = false
	s.route(now)
}
