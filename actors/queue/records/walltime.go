package records

import (
	"slices"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// ToWall converts the times of records to be written from the broker's time to wall-clock time, which is skew ms ahead
// (ADR 19).
func ToWall(list []store.Record, skew int64) {
	if skew == 0 {
		return
	}
	for i := range list {
		r := &list[i]
		if r.Time += skew; r.Note && r.Priority != 0 { // a mark, with a date
			continue
		}
		r.Deadline = shiftDeadline(r.Deadline, skew)
		r.Due = shiftDeadline(r.Due, skew)
		r.Until = shiftDeadline(r.Until, skew)
	}
}

// FromWall converts the times of records to the broker's time; dates are skew ms ahead of it. A record from the future,
// written before the clock was set back, counts as written now, so that no message is delayed longer than originally
// intended.
func FromWall(list []store.Recovered, skew int64, now clock.Instant) []store.Recovered {
	own := false
	for i := range list {
		by := skew + max(list[i].Time-skew-now.Ceil(), 0)
		if by == 0 && skew == 0 {
			continue
		}
		if !own { // the caller may need the list unchanged
			list, own = slices.Clone(list), true
		}
		m := &list[i]
		if m.Time -= by; m.Note && m.Priority != 0 { // a mark, with a date
			continue
		}
		if m.Due == m.Deadline { // delayed by a period, not until a date
			m.Due = shiftDeadline(m.Due, -by)
		} else {
			m.Due = shiftDeadline(m.Due, -skew)
		}
		m.Deadline = shiftDeadline(m.Deadline, -by)
		m.Until = shiftDeadline(m.Until, -skew)
	}
	return list
}

// shiftDeadline shifts a deadline; none stays none.
func shiftDeadline(deadline, by int64) int64 {
	if deadline <= 0 || deadline == store.Never {
		return deadline
	}
	return max(deadline+by, 1)
}
