package retry

import "fmt"

// The types of delayed retries.
const (
	All      = "all"
	Failed   = "failed"
	Returned = "returned"
	Disabled = "disabled"
)

// Settings define which messages of a quorum queue wait when they come back, and for how long (RETRY-1).
type Settings struct {
	// Failed: messages whose delivery failed; Returned: the others.
	Failed, Returned bool
	// Min is the delay after the first delivery that counts, and of messages without one; Max is the longest delay.
	// Both are in ms, at least 1.
	Min, Max int64
}

// Of returns the settings of a type, with delays in ms, where values below 1 count as missing. Without a type or a Min
// there are no delays; without a Max it is Min.
func Of(kind string, low, high int64) (r Settings) {
	r.Failed, r.Returned = kind == All || kind == Failed, kind == All || kind == Returned
	if !r.Failed && !r.Returned || low <= 0 {
		return Settings{}
	}
	if r.Min, r.Max = low, high; high <= 0 {
		r.Max = low
	}
	return r
}

// Delay returns the time in ms that a message waits after coming back count times, 0 for no wait. failed: the last
// delivery failed.
func (r *Settings) Delay(failed bool, count uint32) int64 {
	if failed && !r.Failed || !failed && !r.Returned {
		return 0
	}
	times := int64(max(count, 1))
	if times > r.Max/r.Min {
		return r.Max
	}
	return r.Min * times
}

// String returns the settings as RabbitMQ shows them.
func (r *Settings) String() string {
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
	return fmt.Sprintf("%s (min: %dms, max: %dms)", kind, r.Min, r.Max)
}
