package instant

import (
	"strconv"
	"strings"
	"time"

	"candlemark/protocol"
)

// maxInstant bounds the times that Parse accepts, in ms before and after 1970: 285,000 years, as for all settings
// (TTL-8).
const maxInstant = 1 << 53

// naive is a date and time without an offset, as Python writes it; it is taken as UTC.
const naive = "2006-01-02T15:04:05"

// Parse parses a time in a header into wall-clock ms since 1970. v may be an AMQP timestamp (seconds), an integer of
// any type or a float (ms since 1970, truncated), or a string: RFC 3339, the same without an offset (UTC), or ms in
// decimal. ok is false for anything else, including nil, which is a header without a value.
func Parse(v any) (wallMillis int64, ok bool) {
	switch n := v.(type) {
	case protocol.Timestamp:
		return within(int64(min(n, maxInstant)) * 1000)
	case float32:
		return floatInstant(float64(n))
	case float64:
		return floatInstant(n)
	case string:
		return textInstant(n)
	}
	if wallMillis, ok = protocol.Int64(v); !ok {
		return 0, false
	}
	return within(wallMillis)
}

func floatInstant(f float64) (int64, bool) {
	if !(f >= -maxInstant && f <= maxInstant) { // also false for NaN
		return 0, false
	}
	return int64(f), true
}

func textInstant(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return within(n)
	}
	s = strings.Replace(s, " ", "T", 1)
	for _, layout := range [...]string{time.RFC3339, naive} {
		if t, err := time.Parse(layout, s); err == nil {
			return within(t.UnixMilli())
		}
	}
	return 0, false
}

func within(ms int64) (int64, bool) {
	if ms < -maxInstant || ms > maxInstant {
		return 0, false
	}
	return ms, true
}
