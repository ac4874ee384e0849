package expiry

import (
	"math"
	"testing"
)

// TestLease replays the measured table of LEASE-4: x-expires 900, an action at 600 ms, is the queue alive at 1200 ms?
func TestLease(t *testing.T) {
	const start = int64(1_800_000_000_000)
	none := func(*Lease) {}
	tests := []struct {
		name     string
		period   int64
		action   func(l *Lease) // at start+600
		deadline int64          // after start; -1 none
	}{
		{"LEASE-3 runs from the start", 900, none, 900},
		{"LEASE-1 smallest", 1, none, 1},
		{"LEASE-1 largest", 315_360_000_000, none, 315_360_000_000},
		{"LEASE-1 policy without bound", math.MaxInt64, none, math.MaxInt64 - start},
		{"no lease", -1, none, -1},
		{"LEASE-4 a use renews", 900, func(l *Lease) { l.Renew(start+600, LeaseGot) }, 1500},
		{"LEASE-4 a consumer holds", 900, func(l *Lease) { l.Hold() }, -1},
		{"LEASE-4 last consumer leaves", 900, func(l *Lease) { l.Hold(); l.Release(start+650, LeaseLeft) }, 1550},
		{"LEASE-3 one of two consumers leaves", 900, func(l *Lease) { l.Hold(); l.Hold(); l.Release(start+650, LeaseLeft) }, -1},
		{"LEASE-3 a use while held", 900, func(l *Lease) { l.Hold(); l.Renew(start+610, LeaseGot); l.Release(start+650, LeaseLeft) }, 1550},
		{"LEASE-4 policy changed, same period", 900, func(l *Lease) { l.SetPeriod(900, start+600, LeaseStarted) }, 1500},
		{"LEASE-4 shorter period", 900, func(l *Lease) { l.SetPeriod(10, start+600, LeaseStarted) }, 610},
		{"POL-10 period removed", 900, func(l *Lease) { l.SetPeriod(-1, start+600, LeaseStarted) }, -1},
		{"POL-9 period set later", -1, func(l *Lease) { l.SetPeriod(900, start+600, LeaseStarted) }, 1500},
		{"POL-9 period set while held", -1, func(l *Lease) { l.Hold(); l.SetPeriod(900, start+600, LeaseStarted) }, -1},
		{"time does not go back", 900, func(l *Lease) { l.Renew(start-600, LeaseGot) }, 900},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l Lease
			l.SetPeriod(tt.period, start, LeaseStarted)
			tt.action(&l)
			deadline, ok := l.Deadline()
			if ok != (tt.deadline >= 0) || ok && deadline != start+tt.deadline {
				t.Fatalf("deadline %d, %v, want %d", deadline-start, ok, tt.deadline)
			}
			if !ok {
				if l.Expired(math.MaxInt64) {
					t.Error("expired without a deadline")
				}
				return
			}
			if l.Expired(deadline - 1) {
				t.Error("expired early")
			}
			if !l.Expired(deadline) {
				t.Error("not expired at the deadline")
			}
		})
	}
}

// TestLazyTimer_LEASE13 sets the timer as an owner does: only when it fires or is not set.
func TestLazyTimer_LEASE13(t *testing.T) {
	var l Lease
	l.SetPeriod(1000, 0, LeaseStarted)
	armed, fires := int64(1000), 0
	for now := int64(0); ; now++ {
		if now%10 == 0 && now <= 100_000 {
			l.Renew(now, LeaseGot)
		}
		if now < armed {
			continue
		}
		fires++
		if l.Expired(now) {
			if now != 101_000 {
				t.Errorf("ended at %d, want 101000", now)
			}
			break
		}
		armed, _ = l.Deadline()
	}
	if fires > 103 {
		t.Errorf("%d firings for 10001 renewals over 101 periods", fires)
	}
}

func TestAccessors(t *testing.T) {
	var l Lease
	l.SetPeriod(5, 7, LeaseStarted)
	l.Hold()
	if at, by := l.LastUse(); l.Period() != 5 || at != 7 || by != LeaseStarted || l.Holders() != 1 {
		t.Errorf("period %d, last use %d, %v, holders %d", l.Period(), at, by, l.Holders())
	}
	l.Renew(8, LeaseGot)
	l.Renew(6, LeasePublished) // late
	if at, by := l.LastUse(); at != 8 || by != LeaseGot {
		t.Errorf("last use %d, %v", at, by)
	}
	l.Renew(8, LeaseDeclared) // of two uses in one ms the later one is shown
	if at, by := l.LastUse(); at != 8 || by != LeaseDeclared {
		t.Errorf("last use %d, %v", at, by)
	}
	l.Release(9, LeaseLeft)
	defer func() {
		if recover() == nil {
			t.Error("Release without Hold is accepted")
		}
	}()
	l.Release(10, LeaseLeft)
}
