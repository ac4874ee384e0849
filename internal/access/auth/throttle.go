package auth

import (
	"hash/maphash"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Bounds on guessing passwords. A failed login is a debt that decreases with time; a source with too much debt waits
// before its password is checked.
const (
	pairFree, pairCost     = 10, time.Second            // of one user from one source
	sourceFree, sourceCost = 50, 100 * time.Millisecond // of one source
	maxWait                = 5 * time.Second            // beyond it the login is refused
	maxDebts               = 1 << 14                    // entries, of 64 bytes
	maxKnown               = 1 << 12
	knownFor               = 24 * time.Hour
	reportInterval         = 10 * time.Second
)

// ErrThrottled reports that the password was not checked, because too many logins from the source have failed. It wraps
// ErrRefused. Options.Throttled reports it, so callers need not.
var ErrThrottled error = &LoginError{Reason: "too many failed logins"}

// Source identifies one client: an address of IPv4; of IPv6 the /64 network, as assigned to one customer; and all
// clients without an address together.
func Source(addr net.Addr) netip.Prefix {
	if addr == nil {
		return netip.Prefix{}
	}
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits)
	return prefix
}

// debtor is a user from a source, or the whole source.
type debtor struct {
	source netip.Prefix
	user   uint64 // hash of the name; 0 for all
}

// throttle bounds the rate of password checks. Only clients of the same source wait, and users that have logged in from
// it before wait only for guesses at their own names.
type throttle struct {
	mu    sync.Mutex // also held while a password is checked: one is hashed at a time
	seed  maphash.Seed
	debts map[debtor]time.Time // when the debt is zero
	known map[debtor]time.Time // end of the time for which a login is remembered
	// refused counts the logins refused since the last report, by source.
	refused map[netip.Prefix]int
	report  func(source string, refused int) // nil: no reports
	timer   *time.Timer                      // nil unless a report is due
}

func newThrottle(report func(source string, refused int)) *throttle {
	return &throttle{
		seed: maphash.MakeSeed(), debts: map[debtor]time.Time{}, known: map[debtor]time.Time{},
		refused: map[netip.Prefix]int{}, report: report,
	}
}

// check calls fits to check the password of a user from a source, after the delay of both. gone, which may be nil, ends
// the wait; the debt stays. Errors: ErrThrottled, or the error of fits.
func (t *throttle) check(source netip.Prefix, user string, gone <-chan struct{}, fits func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	pair, all := debtor{source, maphash.String(t.seed, user) | 1}, debtor{source: source}
	wait := t.wait(pair, pairFree, pairCost, now)
	known := t.known[pair].After(now)
	if !known {
		wait = max(wait, t.wait(all, sourceFree, sourceCost, now))
	}
	if wait > maxWait {
		t.refuse(source)
		return ErrThrottled
	}
	// Charge the debt before the check, or many passwords could be checked at once.
	t.charge(pair, pairCost, now)
	if !known {
		t.charge(all, sourceCost, now)
	}
	if wait > 0 && !t.sleep(wait, gone) {
		return ErrThrottled
	}
	if err := fits(); err != nil {
		return err
	}
	now = time.Now()
	t.charge(pair, -pairCost, now)
	if !known {
		t.charge(all, -sourceCost, now)
	}
	put(t.known, pair, now.Add(knownFor), maxKnown, now)
	return nil
}

// sleep waits without the lock; false: the client has gone.
func (t *throttle) sleep(wait time.Duration, gone <-chan struct{}) bool {
	t.mu.Unlock()
	defer t.mu.Lock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-gone:
		return false
	}
}

// wait returns the time until a debtor may have more debt.
func (t *throttle) wait(d debtor, free int, cost time.Duration, now time.Time) time.Duration {
	return max(max(t.debts[d].Sub(now), 0)+cost-time.Duration(free)*cost, 0)
}

func (t *throttle) charge(d debtor, cost time.Duration, now time.Time) {
	paid := t.debts[d]
	if paid.Before(now) {
		paid = now
	}
	if paid = paid.Add(cost); !paid.After(now) {
		delete(t.debts, d)
		return
	}
	put(t.debts, d, paid, maxDebts, now)
}

// put adds an entry to a bounded table. If it is full, it samples up to 16 entries and evicts an expired one, or the
// one that expires first.
func put(table map[debtor]time.Time, d debtor, until time.Time, limit int, now time.Time) {
	if _, there := table[d]; !there && len(table) >= limit {
		var first debtor
		looked := 0
		for other, at := range table {
			if looked == 0 || at.Before(table[first]) {
				first = other
			}
			if looked++; looked == 16 || !at.After(now) {
				break
			}
		}
		delete(table, first)
	}
	table[d] = until
}

// refuse counts a refused login. It reports the first one of a source at once, and the others together every reportInterval.
func (t *throttle) refuse(source netip.Prefix) {
	if t.report == nil {
		return
	}
	n, there := t.refused[source]
	if !there && len(t.refused) >= maxKnown {
		return
	}
	t.refused[source] = n + 1
	if !there {
		t.refused[source] = 0
		t.report(source.String(), 1)
	}
	if t.timer == nil {
		t.timer = time.AfterFunc(reportInterval, t.reportAll)
	}
}

func (t *throttle) reportAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = nil
	for source, n := range t.refused {
		if n == 0 { // no refusals since the last report
			delete(t.refused, source)
			continue
		}
		t.refused[source] = 0
		t.report(source.String(), n)
	}
	if len(t.refused) > 0 {
		t.timer = time.AfterFunc(reportInterval, t.reportAll)
	}
}
