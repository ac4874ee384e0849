package load

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// TTL determines how long each message lives, or waits. The zero value means without limit.
type TTL struct {
	among []time.Duration // one of them, or if even, anything between the two
	even  bool
}

var errTTL = errors.New("a TTL is 5s, uniform:1s-10s, or mix:100ms,1s,5s")

// ParseTTL reads one: "5s" or "fixed:5s", "uniform:1s-10s" for any time between the two, "mix:100ms,1s,5s" for one of them, the same
// number of each in the long run and in no order. Times are whole milliseconds.
func ParseTTL(text string) (TTL, error) {
	if text == "" {
		return TTL{}, nil
	}
	kind, list, named := strings.Cut(text, ":")
	if !named {
		kind, list = "fixed", text
	}
	t, sep := TTL{}, ","
	switch kind {
	case "fixed", "mix":
	case "uniform":
		t.even, sep = true, "-"
	default:
		return TTL{}, errTTL
	}
	for part := range strings.SplitSeq(list, sep) {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 || d%time.Millisecond != 0 {
			return TTL{}, fmt.Errorf("%w, not %q", errTTL, text)
		}
		t.among = append(t.among, d)
	}
	if kind == "fixed" && len(t.among) != 1 || t.even && (len(t.among) != 2 || t.among[0] > t.among[1]) {
		return TTL{}, fmt.Errorf("%w, not %q", errTTL, text)
	}
	return t, nil
}

// IsZero reports whether no TTL is set.
func (t TTL) IsZero() bool { return len(t.among) == 0 }

// Fixed reports whether all are the same.
func (t TTL) Fixed() bool { return len(t.among) == 1 || t.even && t.among[0] == t.among[1] }

// Of returns the TTL of the i-th message: random, and the same each time.
func (t TTL) Of(i uint64) time.Duration {
	switch {
	case t.IsZero():
		return 0
	case t.even:
		return t.among[0] + time.Duration(mixed(i)%uint64((t.among[1]-t.among[0])/time.Millisecond+1))*time.Millisecond
	}
	return t.among[mixed(i)%uint64(len(t.among))]
}

// Max returns the longest.
func (t TTL) Max() (longest time.Duration) {
	for _, d := range t.among {
		longest = max(longest, d)
	}
	return longest
}

// mixed is splitmix64: every bit of its result depends on all of i.
func mixed(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}
