package queue

import (
	"candlemark/actors/queue/expiry"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/policies"
)

// unused is the part of a queue that ends it when its lease is over.
type unused struct{ base }

func (s unused) Next() (int64, bool) { return s.lease.Deadline() }

// Settings restarts the period, even if it is unchanged (LEASE-4). It has none while the queue is ending.
func (s unused) Settings(before *policies.QueueSettings, now clock.Instant) {
	by := expiry.LeaseChanged
	if before == nil {
		if by = expiry.LeaseStarted; s.queue.Ending != "" {
			return
		}
	}
	s.lease.SetPeriod(s.messages.Settings.Expires, now.Ceil(), by)
}

// Slept restarts the lease, as after a restart (LEASE-4).
func (s unused) Slept(_ int64, now clock.Instant) { s.lease.Renew(now.Ceil(), expiry.LeaseAwoken) }

func (s unused) Figures(f *figures) {
	if s.messages.Settings.Expires <= 0 || s.phase >= ending {
		return
	}
	f.values[queuestats.Leased] = 1
	at, ends := s.lease.Deadline()
	if ends {
		f.values[queuestats.LeaseEnds] = at
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
func (s unused) excused(held int, now clock.Instant) bool {
	m := &s.messages
	in := m.Backlog.Len() > 0
	if !m.Settings.ExpiresIfEmpty || !in && held == 0 {
		if !m.Settings.RenewedBy.Has(policies.RenewedByScheduled) || held == 0 {
			return false
		}
	}
	by := expiry.LeaseScheduled
	if in {
		by = expiry.LeaseNotEmpty
	}
	s.lease.Renew(now.Ceil(), by)
	return true
}
