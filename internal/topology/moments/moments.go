package moments

import (
	"math"
	"strings"
	"sync/atomic"

	"candlemark/internal/topology/instant"
	"candlemark/protocol"
)

// DeliverAtHeader is the moment until which a queue is to keep a message scheduled (DLY-8).
const DeliverAtHeader = "x-deliver-at"

// earliestMoment is the lowest number, in ms since 1970, that counts as a moment: 1973. What is below is taken for seconds.
const earliestMoment = 100_000_000_000

// Moments are the headers in which a queue looks for times.
type Moments struct {
	// Schedules: the queue keeps messages scheduled that ask for it; DeliverAt is the name of one more header with the
	// moment of release, or "" if there is none.
	Schedules bool
	DeliverAt string
	// ExpiresAt is the name of the header with the moment of expiry, "" for none (TTL-9).
	ExpiresAt string
}

// Schedules says what a queue makes of times that messages name, as its policies have it at present. The zero value is one that makes
// nothing of them, and so is nil. It is safe for concurrent use and must not be copied.
type Schedules struct{ moments atomic.Pointer[Moments] }

// Set takes effect with the next publish. Only the vhost actor calls it.
func (s *Schedules) Set(m Moments) {
	if !m.Schedules {
		m.DeliverAt = ""
	}
	switch was := s.moments.Load(); {
	case m == Moments{}:
		s.moments.Store(nil)
	case was == nil || *was != m:
		s.moments.Store(&m)
	}
}

// Moments returns what Set was told, nil for a queue that looks for nothing.
func (s *Schedules) Moments() *Moments {
	if s == nil {
		return nil
	}
	return s.moments.Load()
}

// Check refuses a message with a time that the queue would look at and cannot make out (DLY-10, TTL-6). The parameters and the error
// are those of DueOf.
func (m *Moments) Check(headers []byte, now, skew int64) error {
	if m.Schedules {
		if _, err := DueOf(headers, m.DeliverAt, now, skew); err != nil {
			return err
		}
	}
	if m.ExpiresAt != "" {
		_, _, err := ExpiryOf(headers, m.ExpiresAt, skew)
		return err
	}
	return nil
}

// Due is when a message is to be released that a queue keeps scheduled. The zero value is that of a message that is not scheduled.
type Due struct {
	// At is in ms of the broker's time, 0 for a message that asks for nothing, or for what has passed.
	At int64
	// Dated reports whether the message names the moment, and not how long it is to be held.
	Dated bool
}

// DueOf returns when a message is due that comes at now (ms of the broker's time, rounded up) with these headers, an
// encoded table: after x-delay, or at the moment that x-deliver-at, or the header called more (unless ""), names; of
// several the latest. Headers without a value say nothing. skew is how many ms dates are ahead of the broker's time.
// The error is a 406 for a header that Delay or instant.Parse cannot make out, for a number that seems to be in
// seconds, and for more than MaxDelay (DLY-10).
func DueOf(headers []byte, more string, now, skew int64) (due Due, err error) {
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
		at, err := momentIn(headers, name, skew)
		if err != nil {
			return Due{}, err
		}
		if at > now && at-now > MaxDelay {
			return Due{}, badMoment(name, "%d is more than 10 years away", at+skew)
		}
		if at > now && at > due.At {
			due = Due{at, true}
		}
	}
	return due, nil
}

// ExpiryOf returns the moment in ms of the broker's time at which a message with these headers expires by the one
// called name; ok is false without it, or without a value in it. The error is that of DueOf, but that it may be as far
// away as it likes.
func ExpiryOf(headers []byte, name string, skew int64) (at int64, ok bool, err error) {
	at, err = momentIn(headers, name, skew)
	return at, err == nil && at != noMoment, err
}

// noMoment is returned by momentIn where there is nothing.
const noMoment = math.MinInt64

// momentIn reads a header, noMoment for none.
func momentIn(headers []byte, name string, skew int64) (int64, error) {
	v, found, err := protocol.LookupField(headers, name)
	if err != nil || !found || v == nil {
		return noMoment, err
	}
	ms, ok := instant.Parse(v)
	if !ok {
		return 0, badMoment(name, "'%v' is no time: a timestamp, RFC 3339 text or milliseconds since 1970 are expected", v)
	}
	if _, seconds := v.(protocol.Timestamp); !seconds && 0 < ms && ms < earliestMoment {
		return 0, badMoment(name, "%v is before 1973: milliseconds since 1970 are expected", v)
	}
	if fraction(v) { // never early
		ms++
	}
	return ms - skew, nil
}

// fraction reports whether a value names a part of a millisecond, which Instant cuts off.
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
