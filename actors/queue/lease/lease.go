package lease

import "math"

// Lease is the lease of one queue. The zero value is a queue without one. All times are wall ms; they are rounded up where
// the lease begins and down where it is tested, so that it never ends early.
type Lease struct {
	// period in ms; 0 if the queue does not expire.
	period int64
	// lastUse is when the period began to run.
	lastUse int64
	holders int32
	by      Use
}

// Use renews a lease.
type Use uint8

// The uses.
const (
	Started   Use = iota // the queue began, or began anew with the broker
	Awoken               // the machine had slept
	Declared             // a declare that waits for an answer
	Got                  // a basic.get
	Left                 // the last consumer left
	Returned             // a channel was closed that held what it got
	Changed              // other settings
	Published            // a message arrived
	Peeked               // somebody looked at messages
	Updated              // a purge, or a change of scheduled messages
	Scheduled            // messages were scheduled when it would have ended
	NotEmpty             // messages were there when it would have ended
)

// String is the name of a use for clients.
func (u Use) String() string {
	return [...]string{
		Started: "start", Awoken: "wake", Declared: "declare", Got: "get", Left: "consumer", Returned: "channel", Changed: "policy",
		Published: "publish", Peeked: "peek", Updated: "update", Scheduled: "scheduled", NotEmpty: "messages",
	}[u]
}

// SetPeriod sets the period in ms and starts it anew, also if it is the same one (LEASE-4, POL-9). Zero and negative values
// end the lease: the queue lives on. The range that clients may ask for is the caller's matter (LEASE-1).
func (l *Lease) SetPeriod(ms, now int64, by Use) {
	l.period = max(ms, 0)
	l.Renew(now, by)
}

// Period returns the period in ms, 0 if the queue does not expire.
func (l *Lease) Period() int64 { return l.period }

// Renew starts the period anew; the package comment lists for what. A time before the last use changes nothing.
func (l *Lease) Renew(now int64, by Use) {
	if now >= l.lastUse {
		l.lastUse, l.by = now, by
	}
}

// LastUse returns the wall ms of the last use, and what it was.
func (l *Lease) LastUse() (ms int64, by Use) { return l.lastUse, l.by }

// Hold attaches a consumer: the queue cannot expire before the last one has left (LEASE-3).
func (l *Lease) Hold() { l.holders++ }

// Release detaches a consumer, however it left. When the last one goes, the full period runs from now (LEASE-4).
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

// Deadline returns the wall ms at which the queue expires if it is not used; ok is false while it cannot.
func (l *Lease) Deadline() (ms int64, ok bool) {
	if l.period == 0 || l.holders > 0 {
		return 0, false
	}
	if l.period > math.MaxInt64-l.lastUse { // policies have no upper bound (LEASE-1)
		return math.MaxInt64, true
	}
	return l.lastUse + l.period, true
}

// Expired tells whether the queue is to end. Messages in it, ready or not, do not matter (LEASE-6, LEASE-7).
func (l *Lease) Expired(now int64) bool {
	deadline, ok := l.Deadline()
	return ok && now >= deadline
}
