package recurrence

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"
)

// Times are the nominal times of a schedule (REC-2): of exactly one of Cron, Every and At, from Start to End. It is immutable.
// All times are in ms since 1970.
type Times struct {
	Cron *Cron
	Zone *time.Location // of Cron
	// Every is an interval in ms, counted from Base.
	Every, Base int64
	At          []int64 // ascending
	// Start and End are the first and the last time that there may be, 0 for no limit.
	Start, End int64
	// Name and Jitter determine by how much a run is later than its nominal time (REC-4); Jitter is in ms.
	Name   string
	Jitter int64
}

// Next returns the first nominal time after one; ok is false if there is none.
func (t *Times) Next(after int64) (at int64, why Reason, ok bool) {
	after = max(after, t.Start-1, 0)
	switch {
	case t.Cron != nil:
		var next time.Time
		if next, why, ok = t.Cron.Next(time.UnixMilli(after), t.Zone); ok {
			at = next.UnixMilli()
		}
	case t.Every > 0:
		at, ok = t.Base, true
		if after >= t.Base {
			at += ((after-t.Base)/t.Every + 1) * t.Every
		}
	default:
		i, _ := slices.BinarySearch(t.At, after+1)
		if ok = i < len(t.At); ok {
			at = t.At[i]
		}
	}
	if ok = ok && (t.End == 0 || at <= t.End); !ok {
		return 0, "", false
	}
	return at, why, true
}

// Delay returns by how many ms a run is later than its nominal time. It depends only on the name and the time.
func (t *Times) Delay(at int64) int64 {
	if t.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(append([]byte(t.Name), 0), at, 10)) // never fails
	sum := h.Sum64()
	sum ^= sum >> 33 // the low bits of FNV are weak
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return int64(sum % uint64(t.Jitter+1))
}

// Last returns the last nominal time after one and until another; ok is false if there is none. It takes about 50 calls of Next.
func (t *Times) Last(after, until int64) (at int64, ok bool) {
	before := func(from int64) bool { // a time after from is until
		at, _, ok := t.Next(from)
		return ok && at <= until
	}
	if !before(after) {
		return 0, false
	}
	low, high := after, until // before(low) holds, before(high) does not
	for low+1 < high {
		if middle := low + (high-low)/2; before(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	at, _, _ = t.Next(low)
	return at, true
}

// Count returns how many nominal times there are after one and until another, most at most.
func (t *Times) Count(after, until int64, most int) (n int) {
	if t.Every > 0 {
		first, _, ok := t.Next(after)
		if t.End != 0 {
			until = min(until, t.End)
		}
		if !ok || first > until {
			return 0
		}
		return int(min((until-first)/t.Every+1, int64(most)))
	}
	for n < most {
		at, _, ok := t.Next(after)
		if !ok || at > until {
			break
		}
		after = at
		n++
	}
	return n
}

// maxCompared is how many intervals Shortest looks at.
const maxCompared = 100

// Shortest returns the shortest of the next intervals after a time, in ms; ok is false if there is at most one time.
func (t *Times) Shortest(after int64) (ms int64, ok bool) {
	last, _, _ := t.Next(after)
	for range maxCompared {
		at, _, more := t.Next(last)
		if !more {
			break
		}
		if !ok || at-last < ms {
			ms, ok = at-last, true
		}
		last = at
	}
	return ms, ok
}
