package messages

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deadletters"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
)

// Counters holds the counters to continue with in later Messages of the queue, after these are Idle. nil if there are none.
type Counters struct {
	counts  mail.Counts
	letters deadletters.Counters
	places  uint64
	spilled bool
	ages    metrics.AgesKept
}

// Counters returns the counters of these Messages, which must be Idle.
func (s *Messages) Counters() *Counters {
	if p := (Counters{s.Counts, s.DeadLetters.Counters(), backlog.Places(&s.Backlog), s.Journal.Spilled(), s.Ages.AgesKept}); p != (Counters{}) {
		return new(p)
	}
	return nil
}

// RestoreCounters sets the counters. It is called right after Init.
func (s *Messages) RestoreCounters(p *Counters) {
	if p == nil {
		return
	}
	s.Ages.AgesKept = p.ages
	if s.Counts = p.counts; p.letters != (deadletters.Counters{}) {
		s.ensureDeadLetters().RestoreCounters(p.letters)
	}
	backlog.SkipPlaces(&s.Backlog, p.places)
	newJournal(s, p.spilled)
}

// Idle reports whether there are no messages, except scheduled ones, and nothing is under way.
func (s *Messages) Idle() bool {
	return s.Backlog.Len() == 0 && s.Journal.Idle() && !s.Unfinished
}

// Shrink releases memory that is needed only for messages. It may be called between two turns if the Messages are Idle.
func (s *Messages) Shrink() {
	p := s.Counters()
	s.Backlog.Clear()
	s.Expiry.Clear()
	s.Scheduled, s.DeadLetters, s.Deferred, s.Expiry.Others = nil, nil, nil, nil
	newJournal(s, false)
	s.RestoreCounters(p)
}
