package recurrence

import "time"

// A Reason tells why a run is not at the wall time that its expression names, or why a wall time is ambiguous.
type Reason string

// The reasons.
const (
	// Gap: the clocks were put forward over the wall time; the run is at the end of the gap.
	Gap Reason = "gap"
	// Overlap: the wall time occurs twice, because the clocks are put back.
	Overlap Reason = "overlap"
	// Jitter: the run is later by its part of the jitter.
	Jitter Reason = "jitter"
)

// horizon is how far Next looks for a time.
const horizon = 30 * 366 * 24 * time.Hour

const day = 24 * 60 * 60 // s

// Next returns the first time after a time, to the second, in a zone (REC-3); false if there is none within 30 years.
//
// An expression whose hour does not begin with * follows the wall clock: each of its wall times happens once. In a gap, all
// of its wall times together happen at the end of the gap; in an overlap, each at the first pass. Any other expression
// follows elapsed time: both passes, and nothing in the gap.
func (c *Cron) Next(after time.Time, zone *time.Location) (at time.Time, why Reason, found bool) {
	from, limit := after.Unix()+1, after.Add(horizon).Unix()
	for from <= limit {
		p := periodOf(from, zone)
		if p.start == from && p.gap() && !c.elapsed {
			if _, skipped := c.within(p.before, p.start+p.offset); skipped {
				return time.Unix(from, 0).In(zone), Gap, true
			}
		}
		wall := from + p.offset
		if !c.elapsed {
			wall = max(wall, p.before)
		}
		if wall, found = c.within(wall, min(p.end, limit+1)+p.offset); found {
			return time.Unix(wall-p.offset, 0).In(zone), p.repeated(wall, zone), true
		}
		from = p.end
	}
	return time.Time{}, "", false
}

// A period is a time without a change of the clocks, in s since 1970. Two may follow each other with the same offset.
type period struct {
	start, end int64 // end is beyond all times if the clocks are not changed any more
	offset     int64 // of the wall clock, s
	before     int64 // what the wall clock would have shown at start without the change: the end of the period before
}

// gap reports whether the clocks were put forward at the start.
func (p *period) gap() bool { return p.before < p.start+p.offset }

// repeated returns Overlap if a wall time of the period happens again after it, or happened before it.
func (p *period) repeated(wall int64, zone *time.Location) Reason {
	if next := periodOf(p.end, zone); wall < p.before || wall >= p.end+next.offset {
		return Overlap
	}
	return ""
}

func periodOf(at int64, zone *time.Location) period {
	t := time.Unix(at, 0).In(zone)
	_, offset := t.Zone()
	p := period{start: -1 << 40, end: 1 << 40, offset: int64(offset), before: -1 << 40}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		_, was := start.Add(-time.Second).Zone()
		p.start, p.before = start.Unix(), start.Unix()+int64(was)
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= at { // ZoneBounds ends a leap year a day early where the zone's rule continues the table of its changes
		p.end = at - mod(at, day) + day
	}
	return p
}

// within returns the first matching wall time from a wall time on and before another one, in s since 1970 on the wall clock.
func (c *Cron) within(from, before int64) (wall int64, found bool) {
	for midnight := from - mod(from, day); midnight < before; {
		date := time.Unix(midnight, 0).UTC()
		if !c.months.has(int(date.Month())) {
			midnight = time.Date(date.Year(), date.Month()+1, 1, 0, 0, 0, 0, time.UTC).Unix()
			continue
		}
		if c.matches(date) {
			if second, found := c.ofDay(int(max(from-midnight, 0))); found && midnight+int64(second) < before {
				return midnight + int64(second), true
			}
		}
		midnight += day
	}
	return 0, false
}

// mod returns the remainder of a division as a number from 0 on.
func mod(a, b int64) int64 { return (a%b + b) % b }

// matches reports whether the day of a date matches.
func (c *Cron) matches(date time.Time) bool {
	d, w := c.days.has(date.Day()), c.weekdays.has(int(date.Weekday()))
	if c.both {
		return d && w
	}
	return d || w
}

// ofDay returns the first matching second of a day from one on.
func (c *Cron) ofDay(from int) (second int, found bool) {
	h, m, s := from/3600, from/60%60, from%60
	for hour, ok := c.hours.next(h); ok && hour < 24; hour, ok = c.hours.next(hour + 1) {
		if hour > h {
			m, s = 0, 0
		}
		for minute, ok := c.minutes.next(m); ok; minute, ok = c.minutes.next(minute + 1) {
			if hour > h || minute > m {
				s = 0
			}
			if found, ok := c.seconds.next(s); ok {
				return hour*3600 + minute*60 + found, true
			}
		}
	}
	return 0, false
}
