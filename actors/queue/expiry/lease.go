package expiry

// This part computes when an unused queue expires (x-expires, policy key expires).
//
// Owns: a period, the number of consumers, the time of the last use.
//
// States:
//
//	none ──SetPeriod──► running ──Hold──► held          none: no period, the queue never expires
//	                    running ◄─Release── held        held: a consumer is attached, the queue cannot expire
//	                    running ──time──► expired       expired: Expired(now) returns true; nothing is called
//
// The uses that renew it are listed here and nowhere else (LEASE-3, LEASE-4):
//
//	yes: queue.declare and passive declare that wait for an answer, even if refused as another's exclusive queue (LEASE-5);
//	     basic.get, also of an empty queue; the last consumer leaving (Release); a channel closing that held an unacknowledged
//	     basic.get; any change of the matched policies (SetPeriod); the queue's start, also after a restart (SetPeriod)
//	if the queue's expires-renewed-by names it: publishing and other arrivals; peeking; an update, that is a purge or
//	     a change of scheduled messages; pending scheduled messages
//	no:  declare with nowait; a refused declare; publishing; bind, unbind, purge; ack, nack, reject; queries
//
// Deadlines: one, last use plus period. While the period is unchanged it only moves later, so the owner need not reset
// its timer on renewal: when the timer fires, it calls Expired, and resets the timer to Deadline if the lease continues
// (LEASE-13).
//
// A restart loses the last use; the full period restarts (LEASE-4).

import "math"

// Lease is the lease of one queue. The zero value means none. All times are wall ms; they are rounded up where the
// lease starts and down where it is checked, so that it never ends early.
type Lease struct {
	// period in ms; 0 if the queue does not expire.
	period int64
	// lastUse is the start of the current period.
	lastUse int64
	holders int32
	by      LeaseUse
}

// LeaseUse is a use that renews a lease.
type LeaseUse uint8

// The uses.
const (
	LeaseStarted   LeaseUse = iota // the queue started, or restarted with the broker
	LeaseAwoken                    // the machine had slept
	LeaseDeclared                  // a declare that waited for an answer
	LeaseGot                       // a basic.get
	LeaseLeft                      // the last consumer left
	LeaseReturned                  // a channel closed with an unacked basic.get
	LeaseChanged                   // the settings changed
	LeasePublished                 // a message arrived
	LeasePeeked                    // messages were peeked at
	LeaseUpdated                   // a purge, or a change of scheduled messages
	LeaseScheduled                 // scheduled messages were pending when the lease would have ended
	LeaseNotEmpty                  // the queue was not empty when the lease would have ended
)

// String returns the name of a use, for clients.
func (u LeaseUse) String() string {
	return [...]string{
		LeaseStarted: "start", LeaseAwoken: "wake", LeaseDeclared: "declare", LeaseGot: "get", LeaseLeft: "consumer", LeaseReturned: "channel", LeaseChanged: "policy",
		LeasePublished: "publish", LeasePeeked: "peek", LeaseUpdated: "update", LeaseScheduled: "scheduled", LeaseNotEmpty: "messages",
	}[u]
}

// SetPeriod sets the period in ms and restarts it, even if it is unchanged (LEASE-4, POL-9). With zero or a negative
// value there is no lease. The caller checks the range allowed to clients (LEASE-1).
func (l *Lease) SetPeriod(ms, now int64, by LeaseUse) {
	l.period = max(ms, 0)
	l.Renew(now, by)
}

// Period returns the period in ms, 0 if the queue does not expire.
func (l *Lease) Period() int64 { return l.period }

// Renew restarts the period; the package comment lists the uses. A time before the last use is ignored.
func (l *Lease) Renew(now int64, by LeaseUse) {
	if now >= l.lastUse {
		l.lastUse, l.by = now, by
	}
}

// LastUse returns the time, in wall ms, and kind of the last use.
func (l *Lease) LastUse() (ms int64, by LeaseUse) { return l.lastUse, l.by }

// Hold counts a consumer: the queue cannot expire before the last one has left (LEASE-3).
func (l *Lease) Hold() { l.holders++ }

// Release uncounts a consumer. When the last one leaves, the full period starts at now (LEASE-4).
func (l *Lease) Release(now int64, by LeaseUse) {
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
