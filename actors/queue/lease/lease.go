package lease

import "math"

// Lease is the lease of one queue. The zero value means none. All times are wall ms; they are rounded up where the
// lease starts and down where it is checked, so that it never ends early.
type Lease struct {
	// period in ms; 0 if the queue does not expire.
	period int64
	// lastUse is the start of the current period.
	lastUse int64
	holders int32
	by      Use
}

// Use is a use that renews a lease.
type Use uint8

// The uses.
const (
	Started   Use = iota // the queue started, or restarted with the broker
	Awoken               // the machine had slept
	Declared             // a declare that waited for an answer
	Got                  // a basic.get
	Left                 // the last consumer left
	Returned             // a channel closed with an unacked basic.get
	Changed              // the settings changed
	Published            // a message arrived
	Peeked               // messages were peeked at
	Updated              // a purge, or a change of scheduled messages
	Scheduled            // scheduled messages were pending when the lease would have ended
	NotEmpty             // the queue was not empty when the lease would have ended
)

// String returns the name of a use, for clients.
func (u Use) String() string {
	return [...]string{
		Started: "start", Awoken: "wake", Declared: "declare", Got: "get", Left: "consumer", Returned: "channel", Changed: "policy",
		Published: "publish", Peeked: "peek", Updated: "update", Scheduled: "scheduled", NotEmpty: "messages",
	}[u]
}

// SetPeriod sets the period in ms and restarts it, even if it is unchanged (LEASE-4, POL-9). With zero or a negative
// value there is no lease. The caller checks the range allowed to clients (LEASE-1).
func (l *Lease) SetPeriod(ms, now int64, by Use) {
	l.period = max(ms, 0)
	l.Renew(now, by)
}

// Period returns the period in ms, 0 if the queue does not expire.
func (l *Lease) Period() int64 { return l.period }

// Renew restarts the period; the package comment lists the uses. A time before the last use is ignored.
func (l *Lease) Renew(now int64, by Use) {
	if now >= l.lastUse {
		l.lastUse, l.by = now, by
	}
}

// LastUse returns the time, in wall ms, and kind of the last use.
func (l *Lease) LastUse() (ms int64, by Use) { return l.lastUse, l.by }

// Hold counts a consumer: the queue cannot expire before the last one has left (LEASE-3).
func (l *Lease) Hold() { l.holders++ }

// Release uncounts a consumer. When the last one leaves, the full period starts at now (LEASE-4).
func (l *Lease) Release(now int64, by Use) {
	if l.holders == 0 {
		panic("lease: Release without Hold")
	}
	l.holders--
	if l.holders == 0 {
		l.Renew(now, by)
	}
}

// Holders returns the number of consumers.
func (l *Lease) Holders() int { return int(l.holders) }

// Deadline returns the time, in wall ms, at which the queue expires if it is not used; ok is false if it does not
// expire.
func (l *Lease) Deadline() (ms int64, ok bool) {
	if l.period == 0 || l.holders > 0 {
		return 0, false
	}
	if l.period > math.MaxInt64-l.lastUse { // policies have no upper bound (LEASE-1)
		return math.MaxInt64, true
	}
	return l.lastUse + l.period, true
}

// Expired reports whether the lease has ended. Messages of the queue, ready or not, do not matter (LEASE-6, LEASE-7).
func (l *Lease) Expired(now int64) bool {
	deadline, ok := l.Deadline()
	return ok && now >= deadline
}
