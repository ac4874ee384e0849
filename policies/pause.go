package policies

import (
	"math"
	"time"
)

// Forever is the end of a pause that has none.
const Forever = math.MaxInt64

// endOfPause reads the value of paused-until, in wall ms: a date in RFC 3339, rounded up, ms since 1970, or forever (PAUSE-3).
func endOfPause(v any) (ms int64, ok bool) {
	text, ok := v.(string)
	if text == "forever" {
		return Forever, true
	}
	if !ok {
		ms, ok = integer(v)
		return ms, ok && ms >= 1 && ms <= forever
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.UnixMilli() < 1 {
		return 0, false
	}
	return at.Add(time.Millisecond - 1).UnixMilli(), true
}

func isEndOfPause(v any) bool {
	_, ok := endOfPause(v)
	return ok
}
