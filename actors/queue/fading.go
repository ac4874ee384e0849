package queue

import (
	"math"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/store"
)

// fading are scheduled messages that were purged: nobody can have them any more, and
// the journal is told a turn's worth at a time.
type fading struct {
	messages *backlog.Backlog
	at       backlog.Handle
}

// purgeScheduled drops all scheduled messages and counts them (DLY-12).
func (s *state) purgeScheduled() int {
	n := s.scheduledCount()
	if n == 0 {
		return 0
	}
	s.fading = append(s.fading, &fading{&s.scheduled.messages.Backlog, 1})
	s.scheduled = nil
	s.out.purged += n
	s.fade(turnLimit)
	return n
}

// fade has the journal forget those of about so many messages that it has.
func (s *state) fade(limit int) {
	if len(s.fading) == 0 {
		return
	}
	f := s.fading[0]
	f.at = f.messages.Sweep(f.at, limit, func(h backlog.Handle) {
		if e := f.messages.Entry(h); e.Marks&backlog.Stored != 0 {
			s.mark(store.Remove, e.Seq, store.Purged)
		}
	})
	if f.at == 0 {
		s.fading = s.fading[1:]
	}
	if len(s.fading) == 0 {
		s.fading = nil
		return
	}
	s.out.again = true
}

// fadeAway does so at once, when the queue ends. What the turn that failed would have
// written is written, too: to forget a message twice does no harm.
func (s *state) fadeAway(j store.Journal) {
	if len(s.fading) == 0 || !s.queue.Durable {
		return
	}
	s.out.marks = nil
	for _, f := range s.fading {
		f.at = 1
	}
	for len(s.fading) > 0 {
		s.fade(math.MaxInt)
	}
	j.Append(s.id, s.out.marks, nil)
	s.out.marks = nil
}
