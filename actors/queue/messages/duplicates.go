package messages

import (
	"candlemark/actors/queue/content"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Duplicate returns the id of a message that is published now, 0 for none, and whether the id was accepted within the
// queue's window: then the message must be dropped and counts as taken; if stored, confirm it only after the journal
// has written the earlier records (DUP-1). Dead letters are never duplicates.
func Duplicate(s *Messages, m *message.Message, scanned *content.Scanned, by *filter.Action, now clock.Instant) (id uint64, is, stored bool) {
	if m.Overlay.Dead() {
		return 0, false, false
	}
	suffix := "" // copies by different rules are no duplicates
	if by != nil {
		suffix = "\x00" + by.ID
	}
	id = duplicateID(scanned.Of(m.Header).MessageID, suffix)
	is, stored = s.Duplicates.Seen(id, now.Floor())
	return id, is, stored
}

// Remember keeps the id of a message that is accepted now. If the message is stored, so is the id.
func Remember(s *Messages, id uint64, m *message.Message, now clock.Instant) {
	if s.Duplicates == nil {
		s.Duplicates = newDuplicateWindow()
	}
	until, seq := now.Ceil()+s.Settings.DuplicateWindow, uint64(0)
	if s.Journal.Stores(m) {
		s.Seq++
		seq = s.Seq
		s.Journal.Remember(seq, id, now.Ceil(), until)
	}
	most := maxIDs // otherwise the ids of many queues would keep a memory alarm in effect
	if s.Critical {
		most = scarceIDs
	}
	if s.Scarce {
		most = min(scarceIDs, max(s.Duplicates.Len(), 1))
	}
	s.Duplicates.Add(id, until, seq, s.Journal.Forget)
	s.Duplicates.Keep(most, TurnLimit, s.Journal.Forget)
}

// ForgetDuplicates removes expired ids, or all if the queue no longer has a window, up to a turn's limit. It reports
// whether others may be left.
func ForgetDuplicates(s *Messages, now clock.Instant) (more bool) {
	at := now.Floor()
	if s.Settings.DuplicateWindow <= 0 {
		at = never
	}
	if more = s.Duplicates.Advance(at, TurnLimit, s.Journal.Forget); s.Duplicates.Len() == 0 {
		s.Duplicates = nil
	}
	return more
}

// restoreNotes restores the notes among the records of the journal, and returns the messages.
func restoreNotes(s *Messages, recovered []store.Recovered) []store.Recovered {
	kept := recovered
	for i := range recovered {
		m := &recovered[i]
		switch {
		case m.Note:
			if len(kept) == len(recovered) { // the caller may need the list unchanged
				kept = append(recovered[:0:0], recovered[:i]...)
			}
			if m.TTL < 0 {
				if s.Sessions != nil { // notes with contents are session states
					s.Sessions.Unknown(store.Ref{Seq: m.Seq, At: m.At}, m.Body)
				}
				continue
			}
			if s.Duplicates == nil {
				s.Duplicates = newDuplicateWindow()
			}
			s.Duplicates.Add(uint64(m.TTL), m.Deadline, m.Seq, s.Journal.Forget)
		case len(kept) < len(recovered):
			kept = append(kept, *m)
		}
	}
	return kept
}
