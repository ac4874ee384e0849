package rest

import (
	"strconv"
	"strings"
	"time"
)

// Duration reads a time of a query, named key: such as 90s, 5m or 1h30m, days as 7d, or a whole number of ms. It is not
// negative.
func Duration(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if days, is := strings.CutSuffix(value, "d"); is {
		d, err = time.ParseDuration(days + "h")
		d *= 24
	} else if n, bad := strconv.ParseInt(value, 10, 64); bad == nil && n < int64(maxDuration/time.Millisecond) {
		d, err = time.Duration(n)*time.Millisecond, nil
	}
	if err != nil || d < 0 || d > maxDuration {
		return 0, Complaintf("%s must be a time such as 90s, 5m, 7d, or a number of ms", key)
	}
	return d, nil
}

// maxDuration is the longest time of a query.
const maxDuration = 100 * 365 * 24 * time.Hour
