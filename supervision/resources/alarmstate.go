package resources

import (
	"cmp"
	"time"

	"candlemark/internal/admin/config"
)

// The parameters of the alarms.
const (
	unknownMemory = 1 << 30               // the memory assumed if the system does not report it, as in RabbitMQ
	stuck         = time.Second           // an alarm begins when flow is held for this long
	calmMemory    = time.Second           // how long the memory alarm outlasts its cause
	calmDisk      = 10 * time.Second      // how long the disk alarm outlasts its cause, as in RabbitMQ
	memoryRate    = 2 << 30               // bytes/s by which memory may grow at worst
	diskRate      = 1 << 30               // bytes/s that may be written
	soonest       = 10 * time.Millisecond // between two measurements
	soonestFull   = 5 * time.Millisecond  // while connections wait for room
	inAlarm       = 100 * time.Millisecond
	latest        = time.Second
)

// alarmState decides about the two alarms, which are independent of each other. It gets the result of each
// measurement.
type alarmState struct {
	watermark, diskFree config.Amount // as configured
	total               int64         // bytes of memory
	limit, least        int64         // watermark and diskFree in bytes

	memory, disk bool          // alarms
	elsewhere    bool          // another node of the cluster has a memory alarm
	journalFull  bool          // the journal waits for room on the disk
	fullSince    time.Duration // of the first of consecutive measurements that found flow held; 0 if the last did not
	muchAt       time.Duration // of the last measurement with too much memory in use
	lowAt        time.Duration // of the last measurement with too little free disk
}

// set sets the limits, and makes the next measurement decide again.
func (s *alarmState) set(watermark, diskFree config.Amount, total int64) {
	s.watermark, s.diskFree, s.total = watermark, diskFree, cmp.Or(total, unknownMemory)
	s.limit = min(watermark.Of(s.total), s.total)
	s.least = diskFree.Of(s.total)
	s.memory, s.disk = false, false
}

// bound returns the memory, in bytes, above which the collector works harder.
func (s *alarmState) bound() int64 { return max(int64(float64(s.limit)*boundShare), minBound) }

// look updates the alarms.
func (s *alarmState) look(r reading) {
	if !r.full {
		s.fullSince = 0
	} else if s.fullSince == 0 {
		s.fullSince = r.at
	}
	limit := s.limit
	if s.memory { // a twentieth less, so that it does not flap
		limit -= s.limit / 20
	}
	if r.memory > limit || r.full && (s.memory || r.at-s.fullSince >= stuck) {
		s.memory, s.muchAt = true, r.at
	} else if s.memory {
		s.memory = r.at-s.muchAt < calmMemory
	}
	if s.journalFull || r.known && r.disk < s.least {
		s.disk, s.lowAt = true, r.at
	} else if s.disk {
		s.disk = r.at-s.lowAt < calmDisk
	}
}

// reason returns the text for blocked clients, "" without an alarm.
func (s *alarmState) reason() string {
	memory := s.memory || s.elsewhere
	switch {
	case s.disk && memory:
		return "low on disk & memory"
	case s.disk:
		return "low on disk"
	case memory:
		return "low on memory"
	}
	return ""
}

// next returns when to measure again: before a limit can be exceeded by much.
func (s *alarmState) next(r reading) time.Duration {
	wait := latest
	switch {
	case s.memory:
		wait = inAlarm
	case r.full:
		wait = soonestFull
	default:
		wait = min(wait, max(soonest, until(s.limit-r.memory, memoryRate)))
	}
	if r.known && !s.disk {
		wait = min(wait, max(inAlarm, until(r.disk-s.least, diskRate)))
	}
	return wait
}

// until returns how long that many bytes last at a rate per second.
func until(bytes, rate int64) time.Duration {
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}
