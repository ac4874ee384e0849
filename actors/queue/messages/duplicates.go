package messages

import (
	"candlemark/actors/queue/duplicates"
	"candlemark/internal/clock"
	"candlemark/internal/message"
	"candlemark/internal/servicebus/filter"
	"candlemark/internal/store"
)

// Duplicate finds the id of a message that is published now, 0 for none, and reports whether that was accepted within the
// queue's window: then the message is to be dropped, and counts as taken when, if stored says so, the journal has what was
// written before (DUP-1). What has died does not come from a publisher.
func Duplicate(s *Set, m *message.Message, by *filter.Action, now clock.Instant) (id uint64, is, stored bool) {
	if m.Overlay.Dead() {
		return 0, false, false
	}
	suffix := "" // a copy by a rule is no duplicate of another one
	if by != nil {
		suffix = "\x00" + by.ID
	}
	id = duplicates.ID(m.Header, suffix)
	is, stored = s.Duplicates.Seen(id, now.Floor())
	return id, is, stored
}

// Remember keeps the id of a message that was accepted now. If that is written down, so is the id.
func Remember(s *Set, id uint64, persistent bool, now clock.Instant) {
	if s.Duplicates == nil {
		s.Duplicates = duplicates.New()
	}
	until, seq := now.Ceil()+s.Settings.DuplicateWindow, uint64(0)
	if s.Journal.Keeps(persistent) {
		s.Seq++
		seq = s.Seq
		s.Journal.Remember(seq, id, now.Ceil(), until)
	}
	s.Duplicates.Add(id, until, seq, s.Journal.Forget)
}

// ForgetDuplicates forgets ids whose window is over, or all of a queue that has none any more, a turn's worth at a time. It
// reports whether there may be more.
func ForgetDuplicates(s *Set, now clock.Instant) (more bool) {
	at := now.Floor()
	if s.Settings.DuplicateWindow <= 0 {
		at = duplicates.Never
	}
	if more = s.Duplicates.Advance(at, TurnLimit, s.Journal.Forget); s.Duplicates.Len() == 0 {
		s.Duplicates = nil
	}
	return more
}

// restoreNotes takes the notes out of what the journal had, and returns the messages.
func restoreNotes(s *Set, recovered []store.Recovered) []store.Recovered {
	kept := recovered
	for i := range recovered {
		m := &recovered[i]
		switch {
		case m.Note:
			if len(kept) == len(recovered) { // they may be needed again as they are
				kept = append(recovered[:0:0], recovered[:i]...)
			}
			if m.TTL < 0 {
				if s.Sessions != nil { // states are the notes that have contents
					s.Sessions.Unknown(store.Ref{Seq: m.Seq, At: m.At}, m.Body)
				}
				continue
			}
			if s.Duplicates == nil {
				s.Duplicates = duplicates.New()
			}
			s.Duplicates.Add(uint64(m.TTL), m.Deadline, m.Seq, s.Journal.Forget)
		case len(kept) < len(recovered):
			kept = append(kept, *m)
		}
	}
	return kept
}
