package messages

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deadletters"
	"candlemark/internal/metrics"
)

// Past holds the counters to continue with in a later Set of the queue, after this one is Idle. nil if there are none.
type Past struct {
	counts  mail.Counts
	letters deadletters.Past
	places  uint64
	spilled bool
	ages    metrics.AgesKept
}

// Past returns the counters of this Set, which must be Idle.
func (s *Set) Past() *Past {
	if p := (Past{s.Counts, s.DeadLetters.Past(), backlog.Places(&s.Backlog), s.Journal.Spilled(), s.Ages.AgesKept}); p != (Past{}) {
		return new(p)
	}
	return nil
}

// Continue sets the counters. It is called right after Init.
func (s *Set) Continue(p *Past) {
	if p == nil {
		return
	}
	s.Ages.AgesKept = p.ages
	if s.Counts = p.counts; p.letters != (deadletters.Past{}) {
		s.ensureDeadLetters().Continue(p.letters)
	}
	backlog.SkipPlaces(&s.Backlog, p.places)
	newJournal(s, p.spilled)
}

// Empty reports whether there are no messages, scheduled or not.
func (s *Set) Empty() bool { return s.Backlog.Len() == 0 && s.Scheduled.Len() == 0 }

// Idle reports whether there are no messages, and nothing is under way.
func (s *Set) Idle() bool {
	return s.Empty() && s.Duplicates.Len() == 0 && s.Sessions.Idle() && s.Journal.Idle() && !s.Unfinished
}

// Shrink releases memory that is needed only for messages. It may be called between two turns if the Set is Idle.
func (s *Set) Shrink() {
	p := s.Past()
	s.Backlog.Clear()
	s.Expiry.Clear()
	s.Scheduled, s.DeadLetters, s.Deferred, s.Expiry.Others = nil, nil, nil, nil
	newJournal(s, false)
	s.Continue(p)
}
