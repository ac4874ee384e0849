package queue

import (
	"slices"

	"candlemark/actors/queue/backlog"
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

// replaceScan is how many ready messages replace looks at where they are in no order.
const replaceScan = 10_000

// replace removes a message if it is ready.
func (s marks) replace(seq uint64) {
	var found backlog.Handle
	if b := &s.messages.Backlog; backlog.Ordered(b) {
		backlog.From(b, seq-1, 1, func(h backlog.Handle) {
			if b.Seq(h) == seq {
				found = h
			}
		})
	} else {
		n := 0
		b.Walk(func(h backlog.Handle) bool {
			if b.Seq(h) == seq {
				found = h
			}
			n++
			return found == 0 && n < replaceScan
		})
	}
	if found != 0 {
		s.messages.Expiry.Remove(found)
		s.messages.Remove(found, store.Cancelled)
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

// Restored keeps which of the marked messages the journal has, in a list by ascending number.
func (s marks) Restored(list []store.Recovered) {
	s.messages.Marks.Settle(func(seq uint64) bool {
		_, has := slices.BinarySearchFunc(list, seq, func(m store.Recovered, seq uint64) int {
			switch {
			case m.Seq < seq:
				return -1
			case m.Seq > seq:
				return 1
			}
			return 0
		})
		return has
	})
}
