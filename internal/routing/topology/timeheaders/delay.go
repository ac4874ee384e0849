package timeheaders

import (
	"math"
	"strconv"

	"candlemark/protocol"
)

// DelayHeader is the header with the delay of a message in ms (DLY-2).
const DelayHeader = "x-delay"

// MaxDelay is the longest delay in ms, 10 years.
const MaxDelay = 315_360_000_000

// Delay reads the value of an x-delay header in ms; a result ≤ 0 means no delay. The value may be an integer of any
// type but the signed byte, a float, which is truncated, or a string with an integer; anything else is no delay
// (DLY-2). The error is a 406 for a string that is not an integer, a float that is not a number, and a delay above
// MaxDelay.
func Delay(v any) (int64, error) {
	ms := int64(0)
	switch n := v.(type) {
	case int8:
		return 0, nil
	case string:
		var err error
		if ms, err = strconv.ParseInt(n, 10, 64); err != nil && ms != math.MaxInt64 && ms != math.MinInt64 {
			return 0, badDelay("'%s' is not an integer", n)
		}
	case float32:
		return floatDelay(float64(n))
	case float64:
		return floatDelay(n)
	default:
		ms, _ = protocol.Int64(v)
	}
	if ms > MaxDelay {
		return 0, badDelay("%v is more than 10 years (%d ms)", v, int64(MaxDelay))
	}
	return ms, nil
}

func floatDelay(f float64) (int64, error) {
	switch {
	case f != f:
		return 0, badDelay("%v is not a number", f)
	case f >= MaxDelay+1:
		return 0, badDelay("%v is more than 10 years (%d ms)", f, int64(MaxDelay))
	case f < -MaxDelay:
		return -MaxDelay, nil
	}
	return int64(f), nil
}

func badDelay(format string, args ...any) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid header 'x-delay': "+format, args...)
}

// DelayOf returns the delay in the raw properties of a message in ms, 0 for none and for a value that Delay refuses.
// Headers that the broker adds to a message do not count.
func DelayOf(properties []byte) int64 {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || scan.Headers == nil {
		return 0
	}
	return DelayIn(scan.Headers)
}

// DelayIn is DelayOf for the headers of a message, an encoded table.
func DelayIn(headers []byte) int64 {
	v, found, err := protocol.LookupField(headers, DelayHeader)
	if err != nil || !found {
		return 0
	}
	ms, err := Delay(v)
	if err != nil {
		return 0
	}
	return max(ms, 0)
}
