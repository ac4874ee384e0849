package queue

import (
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
)

// marks takes each run of a schedule once (REC-10), and decides on runs that overlap (REC-8).
type marks struct{ base }

// Judge finds runs that the queue has taken before, which count as taken. If such a run is being written to the journal, the confirm
// waits until the journal has it.
func (s marks) Judge(a *incoming) verdict {
	if a.run.Schedule == 0 {
		return pass
	}
	all := messages.EnsureMarks(&s.messages)
	last, written, there := all.Of(a.run.Schedule)
	switch {
	case last.Time >= a.run.Time:
		if written {
			s.messages.Journal.Await(func(bool) {}) // commits end in order
		}
		return kept(written)
	case !there || a.run.Overlap == mail.OverlapAllow:
	case a.run.Overlap == mail.OverlapSkip:
		return skipped
	default:
		s.replace(last.Seq)
	}
	return pass
}

// replace removes a message if it is ready.
func (s marks) replace(seq uint64) {
	if h, ok := messages.ReadyAt(&s.messages.Backlog, seq); ok {
		s.messages.Expiry.Remove(h)
		s.messages.Remove(h, store.Cancelled)
	}
}

// Took replaces the mark of the schedule. If the message is to be stored, so is the mark, in the same commit.
func (s marks) Took(a *incoming, v verdict) verdict {
	if a.run.Schedule == 0 {
		return v
	}
	mark, note := messages.Mark{Time: a.run.Time, Seq: a.seq}, uint64(0)
	if a.direct {
		mark.Seq = 0
	}
	if s.messages.Journal.Stores(a.m) {
		s.messages.Seq++
		note = s.messages.Seq
		apart := uint8(messages.NotKept)
		if mark.Seq != 0 {
			apart = uint8(note - mark.Seq)
		}
		s.messages.Journal.Mark(note, apart, a.run.Schedule, a.run.Time)
		v = stored
	}
	messages.EnsureMarks(&s.messages).Set(a.run.Schedule, mark, note, s.messages.Journal.Forget)
	return v
}

func (s marks) Busy() bool  { return true }
func (s marks) Noted() bool { return true }

func (s marks) Figures(f *figures) {
	n := s.messages.Marks.Bytes()
	f.memory, f.counted, f.notes = f.memory+n, f.counted+n, f.notes+n
}

func (s marks) Restore(n *store.Recovered) (taken bool) {
	if n.Priority == 0 || n.TTL < 0 {
		return false
	}
	messages.EnsureMarks(&s.messages).Restore(n, s.messages.Journal.Forget)
	return true
}
