package parameters

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Limits of backfills (REC-14).
const (
	MaxBackfill     = 10_000 // runs
	MaxBackfillRate = 1000   // runs in a second
	UsualRate       = 100
)

// Backfill is the publication of the runs of a schedule in a past span (REC-14), from the first one to the last, both included.
type Backfill struct {
	From    int64   `json:"from"` // ms since 1970
	To      int64   `json:"to"`
	Rate    int     `json:"rate"` // runs in a second
	Overlap Overlap `json:"overlap"`
	// Incarnation is its number in marks and in the journal.
	Incarnation uint64 `json:"incarnation"`
}

// NewBackfill checks a request for a backfill of a schedule; to is at most now. It returns the number of its runs. The error is a text for the user.
func (s *ScheduleSpec) NewBackfill(b Backfill, now int64) (runs int, err error) {
	switch {
	case b.From == 0:
		return 0, errors.New("a backfill needs from, a date")
	case b.To < b.From:
		return 0, errors.New("to is before from")
	case b.To > now:
		return 0, errors.New("to is in the future: a backfill is of past times")
	case b.Rate < 1 || b.Rate > MaxBackfillRate:
		return 0, fmt.Errorf("rate is not in 1-%d", MaxBackfillRate)
	case !slices.Contains([]Overlap{OverlapAllow, OverlapSkip, OverlapReplace}, b.Overlap):
		return 0, errors.New("overlap is not one of allow, skip, replace")
	case b.Overlap != OverlapAllow && !s.ToQueue:
		return 0, errors.New("overlap needs a queue as its target")
	}
	runs = s.Times.Count(b.From-1, b.To, MaxBackfill+1)
	switch {
	case runs == 0:
		return 0, errors.New("the schedule has no time in this span")
	case runs > MaxBackfill:
		return 0, fmt.Errorf("the schedule has more than %d times in this span", MaxBackfill)
	}
	return runs, nil
}

// Filling returns the schedule of the runs of the backfill.
func (s *ScheduleSpec) Filling() *ScheduleSpec {
	f, b := *s, s.Backfill
	f.Incarnation, f.Overlap, f.Created, f.Count = b.Incarnation, b.Overlap, b.From-1, MaxBackfill
	f.Since, f.Paused, f.DeleteAtEnd = 0, false, true
	return &f
}

// Filled returns the incarnation of the schedule's backfill, 0 without one.
func (s *ScheduleSpec) Filled() uint64 {
	if s.Backfill == nil {
		return 0
	}
	return s.Backfill.Incarnation
}

// Incarnations returns the incarnations of the schedule that a parameter defines, and of its backfill.
func Incarnations(p *Parameter) (list []uint64) {
	var value struct {
		Incarnation uint64
		Backfill    struct{ Incarnation uint64 }
	}
	if p.Component != Schedule || json.Unmarshal(p.Value, &value) != nil {
		return nil
	}
	return slices.DeleteFunc([]uint64{value.Incarnation, value.Backfill.Incarnation}, func(i uint64) bool { return i == 0 })
}

// stampBackfill keeps the backfill of the schedule before. Only the broker itself sets or removes one.
func stampBackfill(fields map[string]json.RawMessage, before *ScheduleSpec, user string) error {
	raw, given := fields["backfill"]
	var was *Backfill
	if before != nil {
		was = before.Backfill
	}
	switch {
	case !given && was == nil, given && before != nil && user == "":
	case given:
		var now Backfill
		if was == nil || json.Unmarshal(raw, &now) != nil || now != *was {
			return errors.New("unknown key 'backfill'")
		}
	default:
		fields["backfill"], _ = json.Marshal(was)
	}
	return nil
}

// WithoutBackfill returns the value of a schedule without its backfill, which is not exported.
func WithoutBackfill(value json.RawMessage) json.RawMessage {
	return changed(value, func(fields map[string]json.RawMessage) { delete(fields, "backfill") })
}

// WithBackfill returns the value of a schedule with another backfill, nil for none.
func WithBackfill(value json.RawMessage, b *Backfill) json.RawMessage {
	return changed(value, func(fields map[string]json.RawMessage) { fields["backfill"], _ = json.Marshal(b) })
}

// WithPause returns the value of a schedule that is paused.
func WithPause(value json.RawMessage) json.RawMessage {
	return changed(value, func(fields map[string]json.RawMessage) { fields["paused"] = json.RawMessage("true") })
}

func changed(value json.RawMessage, change func(fields map[string]json.RawMessage)) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields == nil { // it is refused elsewhere
		return value
	}
	change(fields)
	text, _ := json.Marshal(fields) // of valid JSON
	return text
}
