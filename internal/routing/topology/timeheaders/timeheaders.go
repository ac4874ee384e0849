package timeheaders

import (
	"math"
	"strings"
	"sync/atomic"

	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology/instant"
	"candlemark/protocol"
)

// DeliverAtHeader is the header with the time until which a queue keeps a message scheduled (DLY-8).
const DeliverAtHeader = "x-deliver-at"

// EarliestMoment is the lowest number of ms since 1970 that is accepted, in 1973. A lower one is probably in seconds.
const EarliestMoment = 100_000_000_000

// Config names the time headers that a queue honours, and what else publishers have to know of it.
type Config struct {
	// Schedules reports whether the queue keeps messages scheduled that ask for it; DeliverAt is the name of an
	// additional header with the time of release, "" for none.
	Schedules bool
	DeliverAt string
	// ExpiresAt is the name of the header with the time of expiry, "" for none (TTL-9).
	ExpiresAt string
	// Answers reports whether the queue has requests answered that it would drop (ANS-2).
	Answers bool
}

// Schedules holds a queue's current Config, as set by its policies. The zero value and nil honour no header. It is safe
// for concurrent use and must not be copied.
type Schedules struct{ moments atomic.Pointer[Config] }

// Set takes effect with the next publish. Only the vhost actor calls it.
func (s *Schedules) Set(m Config) {
	if !m.Schedules {
		m.DeliverAt = ""
	}
	switch was := s.moments.Load(); {
	case m == Config{}:
		s.moments.Store(nil)
	case was == nil || *was != m:
		s.moments.Store(&m)
	}
}

// Config returns the current Config, or nil if the queue honours no header.
func (s *Schedules) Config() *Config {
	if s == nil {
		return nil
	}
	return s.moments.Load()
}

// Check returns an error if a header that the queue honours has an invalid time (DLY-10, TTL-6). The parameters and the
// error are as for DueOf.
func (m *Config) Check(headers []byte, now int64, dates *clock.Dates) error {
	if m.Schedules {
		if _, err := DueOf(headers, m.DeliverAt, now, dates); err != nil {
			return err
		}
	}
	if m.ExpiresAt != "" {
		_, _, err := ExpiryOf(headers, m.ExpiresAt, dates)
		return err
	}
	return nil
}

// Due is the time at which a scheduled message is released. The zero value stands for a message that is not scheduled.
type Due struct {
	// At is in ms of the broker's time, 0 if the message is not delayed or its time has passed.
	At int64
	// Dated reports whether the message contains a time of release rather than a delay.
	Dated bool
}

// DueOf returns when a message with these headers, an encoded table, is due if it arrives at now (ms of the broker's
// time, rounded up): after x-delay, or at the time in x-deliver-at or in the header called more (unless ""); the latest
// of several. Headers without a value are ignored. The error is a
// 406 for a value that Delay or instant.Parse refuses, for a number that seems to be in seconds, and for more than
// MaxDelay (DLY-10).
func DueOf(headers []byte, more string, now int64, dates *clock.Dates) (due Due, err error) {
	v, found, err := protocol.LookupField(headers, DelayHeader)
	if err != nil {
		return Due{}, err
	}
	if found {
		ms, err := Delay(v)
		if err != nil {
			return Due{}, err
		}
		if ms > 0 {
			due.At = now + ms
		}
	}
	for _, name := range [...]string{DeliverAtHeader, more} {
		if name == "" {
			continue
		}
		at, err := momentIn(headers, name, dates)
		if err != nil {
			return Due{}, err
		}
		if at > now && at-now > MaxDelay {
			return Due{}, badMoment(name, "%d is more than 10 years away", dates.Date(at))
		}
		if at > now && at > due.At {
			due = Due{at, true}
		}
	}
	return due, nil
}

// ExpiryOf returns the time in ms of the broker's time at which a message with these headers expires by the header
// called name; ok is false if the header is absent or has no value. The error is as for DueOf, except that the time may
// be any distance away.
func ExpiryOf(headers []byte, name string, dates *clock.Dates) (at int64, ok bool, err error) {
	at, err = momentIn(headers, name, dates)
	return at, err == nil && at != noMoment, err
}

// noMoment is the result of momentIn for an absent header.
const noMoment = math.MinInt64

// momentIn returns the time in a header in ms of the broker's time, noMoment if it is absent.
func momentIn(headers []byte, name string, dates *clock.Dates) (int64, error) {
	v, found, err := protocol.LookupField(headers, name)
	if err != nil || !found || v == nil {
		return noMoment, err
	}
	ms, ok := instant.Parse(v)
	if !ok {
		return 0, badMoment(name, "'%v' is not a time: expected a timestamp, RFC 3339 text or milliseconds since 1970", v)
	}
	if _, seconds := v.(protocol.Timestamp); !seconds && 0 < ms && ms < EarliestMoment {
		return 0, badMoment(name, "%v is before 1973: expected milliseconds since 1970", v)
	}
	if fraction(v) { // round up: never early
		ms++
	}
	return max(dates.Deadline(ms), noMoment+1), nil
}

// fraction reports whether a value has a fraction of a millisecond, which instant.Parse truncates.
func fraction(v any) bool {
	switch n := v.(type) {
	case float32:
		return n != float32(int64(n))
	case float64:
		return n != float64(int64(n))
	case string:
		_, digits, _ := strings.Cut(n, ".")
		if i := strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' }); i >= 0 {
			digits = digits[:i]
		}
		return len(digits) > 3 && strings.Trim(digits[3:], "0") != ""
	}
	return false
}

func badMoment(header, format string, args ...any) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid header '"+strings.ReplaceAll(header, "%", "%%")+"': "+format, args...)
}
