package recurring

import (
	"candlemark/internal/storage/parameters"
	"candlemark/protocol"
)

// missed decides on the runs that are due, the first of which is late.
func (s *state) missed(x *schedule, now int64) {
	times := &x.spec.Times
	until, _ := times.Last(x.from, now) // there is one
	if until+times.Delay(until) > now {
		before, ok := times.Last(x.from, until-1)
		if !ok {
			return
		}
		until = before
	}
	from := now - x.spec.MissedWindow
	switch {
	case x.spec.Missed == parameters.MissedAll && until >= from:
		if from > x.next {
			s.leaveOut(x, from-1)
		}
		x.catching, x.until, x.left = true, until, maxCatchUp
	case x.spec.Missed == parameters.MissedOne && until >= from:
		n := s.count(x, until) - 1
		if s.fire(x, until, byCatchUp, n) {
			s.miss(x, n, until)
		}
	default:
		s.leaveOut(x, until)
	}
}

// count returns the number of runs until a time, which is part of what a turn may count.
func (s *state) count(x *schedule, until int64) int {
	n := x.spec.Times.Count(x.from, until, maxCounted)
	s.counted += n
	return n
}

// leaveOut counts the runs until a time as missed.
func (s *state) leaveOut(x *schedule, until int64) {
	s.miss(x, s.count(x, until), until)
	s.skipTo(x, until)
}

// miss counts n runs as missed, the last of which was due until a time.
func (s *state) miss(x *schedule, n int, until int64) {
	if n == 0 {
		return
	}
	x.Missed += int64(n)
	s.cfg.Stats.add(missedRun, int64(n))
	s.publishEvent(x, "schedule.run.missed", protocol.Field{Key: "runs", Value: int64(n)}, protocol.Field{Key: "until_ms", Value: until})
}

// skipTo makes the schedule continue after a time.
func (s *state) skipTo(x *schedule, at int64) {
	if at <= x.from {
		return
	}
	x.from = at
	x.flights = append(x.flights, &flight{x: x, at: at, number: x.fired, over: true})
	s.land(x)
}
