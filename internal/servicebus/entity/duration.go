package entity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Duration is a length of time in ms.
type Duration int64

// Forever is the longest Duration, which means no limit: the longest time span of .NET.
const Forever Duration = 922_337_203_685_477

const foreverText = "P10675199DT2H48M5.4775807S"

// Units of durations.
const (
	Second Duration = 1000
	Minute          = 60 * Second
	Hour            = 60 * Minute
	Day             = 24 * Hour
)

// ParseDuration reads a duration of ISO 8601 in days, hours, minutes and seconds, such as P1DT2H3M4.5S or PT1M.
// Anything longer than Forever becomes Forever. Years, months and signs are refused, as they have no fixed length or no
// meaning; fractions of ms are cut off.
func ParseDuration(text string) (Duration, error) {
	fail := func() (Duration, error) {
		return 0, fmt.Errorf("%.40q is not a duration such as P14D, PT1H or PT30S", text)
	}
	rest, ok := strings.CutPrefix(text, "P")
	if !ok || len(text) > 64 {
		return fail()
	}
	sum, units, parts := 0.0, "DTHMS", 0
	for rest != "" {
		if rest[0] == 'T' && strings.HasPrefix(strings.TrimPrefix(units, "D"), "T") && len(rest) > 1 {
			rest, units = rest[1:], "HMS"
			continue
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n <= 0 {
			return fail()
		}
		amount, err := strconv.ParseFloat(rest[:n], 64)
		at := strings.IndexByte(units, rest[n])
		if err != nil || at < 0 || rest[n] == 'T' || rest[n] != 'D' && strings.Contains(units, "T") || rest[n] != 'S' && strings.Contains(rest[:n], ".") {
			return fail()
		}
		sum += amount * float64(map[byte]Duration{'D': Day, 'H': Hour, 'M': Minute, 'S': Second}[rest[n]])
		rest, units = rest[n+1:], units[at+1:]
		parts++
	}
	if parts == 0 {
		return fail()
	}
	if sum >= float64(Forever) {
		return Forever, nil
	}
	return Duration(math.Floor(sum + 1e-6)), nil
}

// String formats the duration like .NET.
func (d Duration) String() string {
	switch {
	case d >= Forever:
		return foreverText
	case d <= 0:
		return "PT0S"
	}
	var b strings.Builder
	b.WriteByte('P')
	if days := d / Day; days > 0 {
		fmt.Fprintf(&b, "%dD", days)
	}
	if d %= Day; d > 0 {
		b.WriteByte('T')
	}
	if d >= Hour {
		fmt.Fprintf(&b, "%dH", d/Hour)
	}
	if d %= Hour; d >= Minute {
		fmt.Fprintf(&b, "%dM", d/Minute)
	}
	if d %= Minute; d > 0 {
		b.WriteString(strconv.FormatFloat(float64(d)/1000, 'f', -1, 64) + "S")
	}
	return b.String()
}
