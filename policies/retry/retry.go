package retry

import (
	"fmt"
	"math/bits"
	"strings"
)

// The types of delayed retries.
const (
	All      = "all"
	Failed   = "failed"
	Returned = "returned"
	Disabled = "disabled"
)

// longest is the longest delay of a setting without a maximum, in ms: ten years.
const longest = 315_360_000_000

// Settings define which messages of a queue wait when they come back, and for how long (RETRY-1, RETRY-6).
type Settings struct {
	// Failed: messages whose delivery failed; Returned: the others.
	Failed, Returned bool
	// Jitter is the percentage by which delays are extended at most, 0 to 100.
	Jitter uint8
	// Multiplier is the factor from one delay to the next, 0 for delays that grow by Min each time.
	Multiplier int64
	// Min is the delay after the first delivery that counts, and of messages without one; Max is the longest delay.
	// Both are in ms, at least 1; 0 with a Ladder.
	Min, Max int64
	// Ladder lists the delays in the form of ParseLadder, "" for delays from Min to Max.
	Ladder string
}

// Given has the values of the settings as arguments and policies give them. Values below 1 count as missing.
type Given struct {
	Type                         string // "" if there is none
	Min, Max, Multiplier, Jitter int64
	Ladder                       string
	// Any: without a type all messages wait.
	Any bool
}

// Settings returns the settings: none without a type, unless there is a ladder or a multiplier, and none without a Min or a ladder.
// A ladder replaces Min, Max and the multiplier. Without a Max, it is Min or, with a multiplier, ten years.
func (g *Given) Settings() (r Settings) {
	kind := g.Type
	if kind == "" && (g.Any || g.Multiplier > 0 || g.Ladder != "") {
		kind = All
	}
	r.Failed, r.Returned = kind == All || kind == Failed, kind == All || kind == Returned
	if !r.On() || g.Min <= 0 && g.Ladder == "" {
		return Settings{}
	}
	r.Jitter = uint8(min(max(g.Jitter, 0), 100))
	if r.Ladder = g.Ladder; r.Ladder != "" {
		return r
	}
	r.Multiplier = max(g.Multiplier, 0)
	switch r.Min, r.Max = g.Min, g.Max; {
	case r.Max > 0:
	case r.Multiplier > 0:
		r.Max = max(r.Min, longest)
	default:
		r.Max = r.Min
	}
	return r
}

// On reports whether any messages wait.
func (r Settings) On() bool { return r.Failed || r.Returned }

// Delay returns the time in ms that a message waits, 0 for no wait. failed: its last delivery failed. The message has a number, and
// came back so many times: failures, and returns that were none.
func (r Settings) Delay(failed bool, failures, returns uint32, number uint64) int64 {
	if failed && !r.Failed || !failed && !r.Returned {
		return 0
	}
	count := failures
	if r.Multiplier > 0 || r.Ladder != "" { // RETRY-6
		if !r.Failed {
			count = 0
		}
		if r.Returned {
			count += returns
		}
	}
	count = max(count, 1)
	d := int64(0)
	switch {
	case r.Ladder != "":
		d = step(r.Ladder, count)
	case r.Multiplier > 0:
		d = r.power(count)
	case int64(count) > r.Max/r.Min:
		d = r.Max
	default:
		d = r.Min * int64(count)
	}
	return d + extra(d, r.Jitter, number, count)
}

// power returns the delay after count returns: each is the Multiplier times the one before, at most Max.
func (r Settings) power(count uint32) int64 {
	d := min(r.Min, r.Max)
	for ; count > 1 && d < r.Max && r.Multiplier > 1; count-- {
		if d > r.Max/r.Multiplier {
			return r.Max
		}
		d *= r.Multiplier
	}
	return d
}

// extra returns by how much a delay is extended: at most by jitter percent. It depends only on the message and the count, so that the
// same story has the same times again.
func extra(d int64, jitter uint8, number uint64, count uint32) int64 {
	if jitter == 0 {
		return 0
	}
	x := number*0x9e3779b97f4a7c15 + uint64(count)*0xbf58476d1ce4e5b9 // mixed as in the finaliser of SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	share := (x ^ x>>31) >> 44 // of 2^20
	high, low := bits.Mul64(uint64(d), uint64(jitter)*share)
	more, _ := bits.Div64(high, low, 100<<20)
	return int64(more)
}

// String returns the settings as RabbitMQ shows them.
func (r Settings) String() string {
	kind := Disabled
	switch {
	case r.Failed && r.Returned:
		kind = All
	case r.Failed:
		kind = Failed
	case r.Returned:
		kind = Returned
	default:
		return kind
	}
	var b strings.Builder
	if r.Ladder != "" {
		fmt.Fprintf(&b, "%s (ladder: %sms", kind, strings.ReplaceAll(r.Ladder, ",", "ms, "))
	} else {
		fmt.Fprintf(&b, "%s (min: %dms, max: %dms", kind, r.Min, r.Max)
	}
	if r.Multiplier > 0 {
		fmt.Fprintf(&b, ", multiplier: %d", r.Multiplier)
	}
	if r.Jitter > 0 {
		fmt.Fprintf(&b, ", jitter: %d%%", r.Jitter)
	}
	return b.String() + ")"
}
