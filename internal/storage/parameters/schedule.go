package parameters

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/measure/recurrence"
	"candlemark/protocol"
)

// Schedule is the component of recurring schedules (REC-1).
const Schedule = "schedule"

// ProgressPrefix begins the name that the journal has for the progress of a schedule. No queue can have such a name.
const ProgressPrefix = "amq.candlemark.schedule/"

// Limits of schedules (REC-13).
const (
	MaxSchedules   = 10_000 // in a virtual host
	MaxScheduled   = 48 << 10
	maxDates       = 100
	minEvery       = 1000
	maxEvery       = 366 * 24 * 3600_000
	usualWindow    = 3600_000
	maxWindow      = maxEvery
	MaxNote        = 1000 // bytes of a note
	scheduleHeader = "x-schedule"
)

// Overlap decides in the queue what becomes of a run while the message of the run before is there (REC-8).
type Overlap string

// The rules for overlapping runs.
const (
	OverlapAllow   Overlap = "allow"
	OverlapSkip    Overlap = "skip"
	OverlapReplace Overlap = "replace"
)

// Missed decides what becomes of missed runs (REC-9).
type Missed string

// The rules for missed runs.
const (
	MissedSkip Missed = "skip"
	MissedOne  Missed = "one"
	MissedAll  Missed = "all"
)

// ScheduleSpec describes a schedule. It is immutable. Times are in ms since 1970, durations in ms.
type ScheduleSpec struct {
	VHost, Name string
	User        string // publishes, "" in a draft
	CronText    string
	Times       recurrence.Times
	Count       int64 // of runs, 0 for no limit
	// Exchange and Key are the target; ToQueue: it is the queue Key.
	Exchange, Key string
	ToQueue       bool
	Body          []byte
	Properties    protocol.Properties // with the headers; without what the broker sets
	Templates     bool
	Expires       int64 // of messages, negative for never
	ExpiresNext   bool  // messages expire at the next nominal time
	Overlap       Overlap
	Missed        Missed
	MissedWindow  int64
	Paused        bool
	Note          string
	DeleteAtEnd   bool
	// Created is when the schedule was created; no run is at or before Since; Incarnation is its number in marks and in the
	// journal, unique in a data folder. The broker sets them (StampSchedule).
	Created, Since int64
	Incarnation    uint64
	Backfill       *Backfill // nil for none
}

// Target names the target in texts.
func (s *ScheduleSpec) Target() string {
	if s.ToQueue {
		return "queue '" + s.Key + "'"
	}
	return "exchange '" + s.Exchange + "'"
}

// scheduleReader reads the keys of a schedule, and keeps the first error.
type scheduleReader struct {
	fields map[string]json.RawMessage
	err    error
}

func (r *scheduleReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take removes the value of a key; nil for none and for null.
func (r *scheduleReader) take(key string) json.RawMessage {
	value := r.fields[key]
	delete(r.fields, key)
	if string(value) == "null" {
		return nil
	}
	return value
}

// into decodes the value of a key, if there is one.
func (r *scheduleReader) into(key string, to any, what string) (given bool) {
	value := r.take(key)
	if value == nil {
		return false
	}
	if json.Unmarshal(value, to) != nil {
		r.fail("%s is not %s", key, what)
	}
	return true
}

func (r *scheduleReader) text(key string, most int) (s string, given bool) {
	given = r.into(key, &s, "a text")
	if len(s) > most {
		r.fail("%s has more than %d bytes", key, most)
	}
	return s, given
}

func (r *scheduleReader) flag(key string) (is bool) {
	r.into(key, &is, "true or false")
	return is
}

// ms reads a duration: a number of ms, or a text like 90s, 1h30m, 2d.
func (r *scheduleReader) ms(key string, low, high int64) (n int64, given bool) {
	value := r.take(key)
	if value == nil {
		return 0, false
	}
	n, err := durationOf(value)
	if err != nil {
		r.fail("%s: %v", key, err)
	} else if n < low || n > high {
		r.fail("%s is not in %d-%d ms", key, low, high)
	}
	return n, true
}

func durationOf(value json.RawMessage) (ms int64, err error) {
	if kindOf(value) != '"' {
		if ms, err = strconv.ParseInt(string(value), 10, 64); err != nil {
			return 0, fmt.Errorf("%s is not a number of milliseconds, or a duration like 90s", value)
		}
		return ms, nil
	}
	s := text(value)
	days := int64(0)
	for unit, long := range map[string]int64{"d": 1, "w": 7} {
		if n, is := strings.CutSuffix(s, unit); is {
			if days, err = strconv.ParseInt(n, 10, 32); err == nil {
				return days * long * 24 * 3600_000, nil
			}
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration like 90s, 1h or 2d", s)
	}
	return d.Milliseconds(), nil
}

// date reads a date: a number of ms since 1970, or RFC 3339.
func (r *scheduleReader) date(key string) int64 {
	value := r.take(key)
	if value == nil {
		return 0
	}
	at, err := DateOf(value)
	if err != nil {
		r.fail("%s: %v", key, err)
	}
	return at
}

// lastDate is the end of the broker's time, in ms since 1970.
const lastDate = 1<<63/1_000_000 - 1

// DateOf reads a date: RFC 3339, or a number of ms since 1970.
func DateOf(value json.RawMessage) (at int64, err error) {
	if kindOf(value) == '"' {
		t, err := time.Parse(time.RFC3339, text(value))
		if ms, wrong := strconv.ParseInt(text(value), 10, 64); wrong == nil {
			t, err = time.UnixMilli(ms), nil
		}
		if err != nil {
			return 0, fmt.Errorf("%s is not a date like 2027-01-31T12:00:00Z", value)
		}
		at = t.UnixMilli()
	} else if at, err = strconv.ParseInt(string(value), 10, 64); err != nil {
		return 0, fmt.Errorf("%s is not a date like 2027-01-31T12:00:00Z, or milliseconds since 1970", value)
	}
	if at <= 0 || at > lastDate {
		return 0, fmt.Errorf("%s is not between 1970 and 2262", value)
	}
	return at, nil
}

// ParseSchedule reads the value of a schedule. The error is a text for the user.
func ParseSchedule(vhost, name string, value json.RawMessage) (*ScheduleSpec, error) {
	r := &scheduleReader{}
	if len(value) > MaxValue {
		return nil, fmt.Errorf("a schedule has at most %d bytes", MaxValue)
	}
	if json.Unmarshal(value, &r.fields) != nil || r.fields == nil {
		return nil, errors.New("a schedule is an object")
	}
	s := &ScheduleSpec{VHost: vhost, Name: name, Expires: -1, Overlap: OverlapAllow, Missed: MissedOne, MissedWindow: usualWindow}
	if name == "" || len(name) > 200 {
		r.fail("the name of a schedule has 1 to 200 bytes")
	}
	s.User, _ = r.text("user", 255)
	s.readBroker(r)
	s.readTimes(r)
	s.readTarget(r)
	s.readContent(r)
	s.readRules(r)
	if r.err == nil && len(r.fields) > 0 {
		var unknown []string
		for key := range r.fields {
			unknown = append(unknown, key)
		}
		r.fail("unknown key '%s'", slices.Min(unknown))
	}
	return s, r.err
}

// readBroker reads what the broker has set.
func (s *ScheduleSpec) readBroker(r *scheduleReader) {
	r.into("created", &s.Created, "a number")
	r.into("since", &s.Since, "a number")
	r.into("incarnation", &s.Incarnation, "a number")
	r.into("backfill", &s.Backfill, "an object")
}

// readRules reads the keys that say how runs are made.
func (s *ScheduleSpec) readRules(r *scheduleReader) {
	if value := r.fields["expires"]; text(value) == "next" {
		r.take("expires")
		s.ExpiresNext = true
	} else if ms, given := r.ms("expires", 0, maxEvery*10); given {
		s.Expires = ms
	}
	word := func(key string, to *string, words ...string) {
		if w, given := r.text(key, 255); given {
			if *to = w; !slices.Contains(words, w) {
				r.fail("%s is not one of %s", key, strings.Join(words, ", "))
			}
		}
	}
	word("overlap", (*string)(&s.Overlap), string(OverlapAllow), string(OverlapSkip), string(OverlapReplace))
	word("missed", (*string)(&s.Missed), string(MissedSkip), string(MissedOne), string(MissedAll))
	if s.Overlap != OverlapAllow && !s.ToQueue {
		r.fail("overlap needs a queue as its target")
	}
	if ms, given := r.ms("missed_window", 0, maxWindow); given {
		s.MissedWindow = ms
	}
	s.Paused, s.DeleteAtEnd = r.flag("paused"), r.flag("delete_at_end")
	s.Note, _ = r.text("note", MaxNote)
}

// StampSchedule returns the value of a schedule with what the broker sets: before is the schedule that it replaces, nil for none.
// A schedule that is paused, resumed, or gets other times, has no runs until now (REC-11).
func StampSchedule(value json.RawMessage, before *ScheduleSpec, user string, now int64, incarnation uint64) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, err
	}
	if err := stampBackfill(fields, before, user); err != nil {
		return nil, err
	}
	created, since := now, now
	if before != nil {
		created, incarnation = before.Created, before.Incarnation
		after, err := ParseSchedule(before.VHost, before.Name, value)
		if err != nil {
			return nil, err
		}
		if after.setBase(created); !after.Paused && !before.Paused && after.sameTimes(before) {
			since = before.Since
		}
		if user == "" {
			user = before.User
		}
	}
	if text(fields["user"]) == "" {
		fields["user"], _ = json.Marshal(user)
	}
	fields["created"], fields["since"] = json.RawMessage(strconv.FormatInt(created, 10)), json.RawMessage(strconv.FormatInt(since, 10))
	fields["incarnation"] = json.RawMessage(strconv.FormatUint(incarnation, 10))
	return json.Marshal(fields)
}

// sameTimes reports whether two schedules have the same nominal times.
func (s *ScheduleSpec) sameTimes(t *ScheduleSpec) bool {
	a, b := s.Times, t.Times
	return s.CronText == t.CronText && fmt.Sprint(a.Zone) == fmt.Sprint(b.Zone) && a.Every == b.Every && a.Base == b.Base && slices.Equal(a.At, b.At) &&
		a.Start == b.Start && a.End == b.End && a.Jitter == b.Jitter
}
