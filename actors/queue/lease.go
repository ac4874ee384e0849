package queue

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

import (
	"math"

	"candlemark/actors/queue/messages"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/policies"
)

// idleLease is the lease of one queue. The zero value means none. All times are wall ms; they are rounded up where the
// lease starts and down where it is checked, so that it never ends early.
type idleLease struct {
	// period in ms; 0 if the queue does not expire.
	period int64
	// lastUse is the start of the current period.
	lastUse int64
	holders int32
	by      leaseUse
}

// leaseUse is a use that renews a lease.
type leaseUse uint8

// The uses.
const (
	leaseStarted   leaseUse = iota // the queue started, or restarted with the broker
	leaseAwoken                    // the machine had slept
	leaseDeclared                  // a declare that waited for an answer
	leaseGot                       // a basic.get
	leaseLeft                      // the last consumer left
	leaseReturned                  // a channel closed with an unacked basic.get
	leaseChanged                   // the settings changed
	leasePublished                 // a message arrived
	leasePeeked                    // messages were peeked at
	leaseUpdated                   // a purge, or a change of scheduled messages
	leaseScheduled                 // scheduled messages were pending when the lease would have ended
	leaseNotEmpty                  // the queue was not empty when the lease would have ended
)

// String returns the name of a use, for clients.
func (u leaseUse) String() string {
	return [...]string{
		leaseStarted: "start", leaseAwoken: "wake", leaseDeclared: "declare", leaseGot: "get", leaseLeft: "consumer", leaseReturned: "channel", leaseChanged: "policy",
		leasePublished: "publish", leasePeeked: "peek", leaseUpdated: "update", leaseScheduled: "scheduled", leaseNotEmpty: "messages",
	}[u]
}

// SetPeriod sets the period in ms and restarts it, even if it is unchanged (LEASE-4, POL-9). With zero or a negative
// value there is no lease. The caller checks the range allowed to clients (LEASE-1).
func (l *idleLease) SetPeriod(ms, now int64, by leaseUse) {
	l.period = max(ms, 0)
	l.Renew(now, by)
}

// Period returns the period in ms, 0 if the queue does not expire.
func (l *idleLease) Period() int64 { return l.period }

// Renew restarts the period; the package comment lists the uses. A time before the last use is ignored.
func (l *idleLease) Renew(now int64, by leaseUse) {
	if now >= l.lastUse {
		l.lastUse, l.by = now, by
	}
}

// LastUse returns the time, in wall ms, and kind of the last use.
func (l *idleLease) LastUse() (ms int64, by leaseUse) { return l.lastUse, l.by }

// Hold counts a consumer: the queue cannot expire before the last one has left (LEASE-3).
func (l *idleLease) Hold() { l.holders++ }

// Release uncounts a consumer. When the last one leaves, the full period starts at now (LEASE-4).
func (l *idleLease) Release(now int64, by leaseUse) {
	if l.holders == 0 {
		panic("lease: Release without Hold")
	}
	l.holders--
	if l.holders == 0 {
		l.Renew(now, by)
	}
}

// Holders returns the number of consumers.
func (l *idleLease) Holders() int { return int(l.holders) }

// Deadline returns the time, in wall ms, at which the queue expires if it is not used; ok is false if it does not
// expire.
func (l *idleLease) Deadline() (ms int64, ok bool) {
	if l.period == 0 || l.holders > 0 {
		return 0, false
	}
	if l.period > math.MaxInt64-l.lastUse { // policies have no upper bound (LEASE-1)
		return math.MaxInt64, true
	}
	return l.lastUse + l.period, true
}

// Expired reports whether the lease has ended. Messages of the queue, ready or not, do not matter (LEASE-6, LEASE-7).
func (l *idleLease) Expired(now int64) bool {
	deadline, ok := l.Deadline()
	return ok && now >= deadline
}

// unused is the part of a queue that ends it when its lease is over.
type unused struct{ base }

func (s unused) Next() (int64, bool) { return s.lease.Deadline() }

// Settings restarts the period, even if it is unchanged (LEASE-4). It has none while the queue is ending.
func (s unused) Settings(before *policies.QueueSettings, now clock.Instant) {
	by := leaseChanged
	if before == nil {
		if by = leaseStarted; s.queue.Ending != "" {
			return
		}
	}
	s.lease.SetPeriod(s.messages.Settings.Expires, now.Ceil(), by)
}

// Slept restarts the lease, as after a restart (LEASE-4).
func (s unused) Slept(_ int64, now clock.Instant) { s.lease.Renew(now.Ceil(), leaseAwoken) }

func (s unused) Figures(f *figures) {
	if s.messages.Settings.Expires <= 0 || s.phase >= ending {
		return
	}
	f.numbers[metrics.Leased] = 1
	at, ends := s.lease.Deadline()
	if ends {
		f.leaseEnds = at
	}
	if f.info == nil || s.lease.Period() == 0 {
		return
	}
	l := &f.info.Lease
	used, by := s.lease.LastUse()
	l.Period, l.Renewed, l.By = s.lease.Period(), s.messages.Dates.Date(used), by.String()
	if ends {
		l.Ends = s.messages.Dates.Date(at)
	}
}

// excused renews the lease, which is over, if the settings count the messages that the queue holds as a use (LEASE-13), and
// reports whether it did. held is the number of messages that are not in the backlog.
func (l *idleLease) excused(m *messages.Messages, held int, now clock.Instant) bool {
	in := m.Backlog.Len() > 0
	if !m.Settings.ExpiresIfEmpty || !in && held == 0 {
		if !m.Settings.RenewedBy.Has(policies.RenewedByScheduled) || held == 0 {
			return false
		}
	}
	by := leaseScheduled
	if in {
		by = leaseNotEmpty
	}
	l.Renew(now.Ceil(), by)
	return true
}
