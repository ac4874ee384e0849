package topology

import (
	"strings"
	"sync/atomic"

	"candlemark/protocol"
)

// DeliverAtHeader is the moment until which a queue is to keep a message scheduled (DLY-8).
const DeliverAtHeader = "x-deliver-at"

// earliestMoment is the lowest number, in ms since 1970, that counts as a moment: 1973. What is below is taken for seconds.
const earliestMoment = 100_000_000_000

// Schedules says whether a queue keeps messages scheduled that ask for it, as its policies have it at present. The zero value is one
// that does not, and so is nil. It is safe for concurrent use and must not be copied.
type Schedules struct{ header atomic.Pointer[string] }

// Set takes effect with the next publish. header is the name of one more header that holds a moment, "" for none. Only the vhost
// actor calls it.
func (s *Schedules) Set(on bool, header string) {
	switch was := s.header.Load(); {
	case !on:
		s.header.Store(nil)
	case was == nil || *was != header:
		s.header.Store(&header)
	}
}

// Header is what Set was told.
func (s *Schedules) Header() (header string, on bool) {
	if s == nil {
		return "", false
	}
	if h := s.header.Load(); h != nil {
		return *h, true
	}
	return "", false
}

// Due is when a message is to be released that a queue keeps scheduled. The zero value is that of a message that is not scheduled.
type Due struct {
	// At is in ms of the broker's time, 0 for a message that asks for nothing, or for what has passed.
	At int64
	// Dated says that the message names the moment, and not how long it is to be held.
	Dated bool
}

// DueOf is when a message is due that comes at now (ms of the broker's time, rounded up) with these headers, an encoded table: after
// x-delay, or at the moment that x-deliver-at, or the header called more (unless ""), names; of several the latest. Headers without
// a value say nothing. skew is how many ms dates are ahead of the broker's time. The error is a 406 for a header that Delay or
// Instant cannot make out, for a number that seems to be in seconds, and for more than MaxDelay (DLY-10).
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
		at, err := momentIn(headers, name, now, skew)
		if err != nil {
			return Due{}, err
		}
		if at > now && at > due.At {
			due = Due{at, true}
		}
	}
	return due, nil
}

// momentIn reads a header, 0 for none.
func momentIn(headers []byte, name string, now, skew int64) (int64, error) {
	v, found, err := protocol.LookupField(headers, name)
	if err != nil || !found || v == nil {
		return 0, err
	}
	ms, ok := Instant(v)
	if !ok {
		return 0, badMoment(name, "'%v' is no time: a timestamp, RFC 3339 text or milliseconds since 1970 are expected", v)
	}
	if _, seconds := v.(protocol.Timestamp); !seconds && 0 < ms && ms < earliestMoment {
		return 0, badMoment(name, "%v is before 1973: milliseconds since 1970 are expected", v)
	}
	if fraction(v) { // never early
		ms++
	}
	at := ms - skew
	if at-now > MaxDelay {
		return 0, badMoment(name, "%v is more than 10 years away", v)
	}
	return at, nil
}

// fraction tells whether a value names a part of a millisecond, which Instant cuts off.
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
