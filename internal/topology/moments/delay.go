package moments

import (
	"math"
	"strconv"

	"candlemark/protocol"
)

// DelayHeader is how long a message is to be held back, in ms (DLY-2).
const DelayHeader = "x-delay"

// MaxDelay is the longest delay, 10 years, in ms.
const MaxDelay = 315_360_000_000

// Delay reads the value of an x-delay header, in ms; 0 and less for no delay. It may be an integer of any type but the signed byte,
// a float, whose fraction is cut off, or a text with an integer; all else is no delay (DLY-2). The error is a 406 for a text that is
// no integer, a float that is no number, and a delay beyond MaxDelay.
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

// DelayOf returns the delay that the raw properties of a message ask for, in ms, 0 for none and for one that Delay
// refuses. Only what a message brings along counts: what the broker adds to it does not.
func DelayOf(properties []byte) int64 {
	scan, err := protocol.ScanProperties(properties)
	if err != nil || scan.Headers == nil {
		return 0
	}
	return DelayIn(scan.Headers)
}

// DelayIn is DelayOf by the headers of a message, an encoded table.
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
