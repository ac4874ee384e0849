package parameters

import (
	"encoding/json"
	"slices"
	"time"

	"candlemark/internal/measure/recurrence"
)

// readTimes reads when a schedule runs (REC-2, REC-4).
func (s *ScheduleSpec) readTimes(r *scheduleReader) {
	t := &s.Times
	t.Name = s.Name
	zone, zoned := r.text("zone", 255)
	cron, timed := r.text("cron", recurrence.MaxExpression)
	every, repeated := r.interval()
	at := r.dates("at")
	t.Start, t.End = r.date("start"), r.date("end")
	ways := 0
	for _, is := range []bool{timed, repeated, at != nil} {
		if is {
			ways++
		}
	}
	switch {
	case ways != 1:
		r.fail("a schedule needs exactly one of cron, every and at")
	case zoned && !timed:
		r.fail("zone needs cron")
	case t.End != 0 && t.Start != 0 && t.End <= t.Start:
		r.fail("end is not after start")
	}
	t.Every, t.At = every, at
	s.setBase(s.Created)
	if timed {
		s.readCron(r, cron, zone)
	}
	if r.into("count", &s.Count, "a number") && s.Count < 1 {
		r.fail("count is below 1")
	}
	t.Jitter, _ = r.ms("jitter", 0, maxEvery)
	if r.err != nil || t.Jitter == 0 {
		return
	}
	if shortest, ok := t.Shortest(s.Created); ok && t.Jitter > shortest/2 {
		r.fail("jitter is more than half of the interval")
	}
}

// setBase sets when an interval begins: at the start, or else at the creation of the schedule.
func (s *ScheduleSpec) setBase(created int64) {
	if s.Times.Every > 0 {
		if s.Times.Base = s.Times.Start; s.Times.Base == 0 {
			s.Times.Base = created
		}
	}
}

func (s *ScheduleSpec) readCron(r *scheduleReader, cron, zone string) {
	if zone == "" {
		zone = "UTC"
	}
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		r.fail("unknown time zone '%s'", zone)
		return
	}
	expression, err := recurrence.ParseCron(cron)
	if err != nil {
		r.fail("%w", err)
		return
	}
	s.CronText, s.Times.Cron, s.Times.Zone = cron, expression, location
	if _, _, ok := expression.Next(time.UnixMilli(max(s.Created, s.Times.Start)), location); !ok {
		r.fail("this expression has no time within 30 years")
	}
}

// interval reads the key every.
func (r *scheduleReader) interval() (ms int64, given bool) {
	value := r.take("every")
	if value == nil {
		return 0, false
	}
	ms, err := durationOf(value)
	switch {
	case err != nil:
		r.fail("every: %v", err)
	case ms < minEvery:
		r.fail("the interval is below one second")
	case ms > maxEvery:
		r.fail("the interval is above 366 days")
	}
	return ms, true
}

// dates reads a list of dates, or one date, in ascending order.
func (r *scheduleReader) dates(key string) (all []int64) {
	value := r.take(key)
	if value == nil {
		return nil
	}
	list := []json.RawMessage{value}
	if kindOf(value) == '[' && json.Unmarshal(value, &list) != nil {
		r.fail("%s is not a list of dates", key)
	}
	if len(list) == 0 || len(list) > maxDates {
		r.fail("%s has 1 to %d dates", key, maxDates)
		return nil
	}
	for _, one := range list {
		at, err := DateOf(one)
		if err != nil {
			r.fail("%s: %v", key, err)
		}
		all = append(all, at)
	}
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i]-all[i-1] < minEvery {
			r.fail("%s: two dates are less than one second apart", key)
		}
	}
	return all
}
