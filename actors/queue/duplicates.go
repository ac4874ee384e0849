package queue

import (
	"candlemark/actors/queue/messages"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// duplicates drops messages whose id the queue has accepted within its window (DUP-1).
type duplicates struct {
	base
	window *messages.DuplicateWindow // nil if there are no ids
}

// Judge finds duplicates, which count as taken; if the original is being written to the journal, the confirm waits
// until the journal has it. Dead letters are never duplicates.
func (s *duplicates) Judge(a *incoming) verdict {
	if a.id = 0; a.m.Overlay.Dead() {
		return pass
	}
	suffix := "" // copies by different rules are no duplicates
	if a.batch.Action != nil {
		suffix = "\x00" + a.batch.Action.ID
	}
	a.id = messages.DuplicateID(a.scanned.Of(a.m.Header).MessageID, suffix)
	is, written := s.window.Seen(a.id, a.now.Floor())
	if a.dry {
		if is || a.ids[a.id] {
			return taken
		}
		if a.id != 0 {
			if a.ids == nil {
				a.ids = map[uint64]bool{}
			}
			a.ids[a.id] = true
		}
		return pass
	}
	if !is {
		return pass
	}
	s.messages.Counts.Duplicates++
	if written {
		s.messages.Journal.Await(func(bool) {}) // commits end in order
	}
	return kept(written)
}

// Took keeps the id of a message. If the message is to be stored, so is the id.
func (s *duplicates) Took(a *incoming, v verdict) verdict {
	if a.id == 0 {
		return v
	}
	if s.window == nil {
		s.window = messages.NewDuplicateWindow()
	}
	until, seq := a.now.Ceil()+s.messages.Settings.DuplicateWindow, uint64(0)
	if s.messages.Journal.Stores(a.m) {
		s.messages.Seq++
		seq = s.messages.Seq
		s.messages.Journal.Remember(seq, a.id, a.now.Ceil(), until)
		if a.made {
			v = stored
		}
	}
	most := messages.MaxIDs // otherwise the ids of many queues would keep a memory alarm in effect
	if s.messages.Critical {
		most = messages.ScarceIDs
	}
	if s.messages.Scarce {
		most = min(messages.ScarceIDs, max(s.window.Len(), 1))
	}
	s.window.Add(a.id, until, seq, s.messages.Journal.Forget)
	s.window.Keep(most, messages.TurnLimit, s.messages.Journal.Forget)
	return v
}

func (s *duplicates) Next() (int64, bool) { return s.window.Next() }

// Advance removes expired ids, or all if the queue no longer has a window.
func (s *duplicates) Advance(now clock.Instant) (more bool) {
	at := now.Floor()
	if s.messages.Settings.DuplicateWindow <= 0 {
		at = messages.Never
	}
	if more = s.window.Advance(at, messages.TurnLimit, s.messages.Journal.Forget); s.window.Len() == 0 {
		s.window = nil
	}
	return more
}

func (s *duplicates) Figures(f *figures) {
	n := s.window.Bytes()
	f.memory, f.counted, f.notes = f.memory+n, f.counted+n, f.notes+n
}

func (s *duplicates) Busy() bool  { return true }
func (s *duplicates) Noted() bool { return true }

func (s *duplicates) Restore(n *store.Recovered) (taken bool) {
	if !n.Note || n.TTL < 0 || n.Priority != 0 { // notes with contents are session states, those with a priority are marks
		return false
	}
	if s.window == nil {
		s.window = messages.NewDuplicateWindow()
	}
	s.window.Add(uint64(n.TTL), n.Deadline, n.Seq, s.messages.Journal.Forget)
	return true
}
