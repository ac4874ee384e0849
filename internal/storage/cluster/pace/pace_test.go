package pace

import (
	"testing"
	"time"
)

var zero = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return zero.Add(d) }

func ms(n float64, writes int) Sample {
	return Sample{time.Duration(n * float64(time.Millisecond)), writes}
}

// TestMeter_CLU37: a mean is about the last half minute.
func TestMeter_CLU37(t *testing.T) {
	var m Meter
	if s := m.Sample(at(0)); s != (Sample{}) {
		t.Errorf("before the first write: %v", s)
	}
	for i := range 30 {
		m.Add(at(time.Duration(i)*time.Second), 10*time.Millisecond)
	}
	if s := m.Sample(at(29 * time.Second)); s != ms(10, 30) {
		t.Errorf("got %v", s)
	}
	for i := range 15 {
		m.Add(at(time.Duration(30+i)*time.Second), 30*time.Millisecond)
	}
	if s := m.Sample(at(44 * time.Second)); s != ms(20, 30) {
		t.Errorf("got %v", s)
	}
	if s := m.Sample(at(time.Hour)); s.Writes != 0 {
		t.Errorf("an hour later: %v", s)
	}
}

// TestJudge_CLU37: only a disk that is much slower for half a minute is a reason, and only if a majority of the others is fast.
func TestJudge_CLU37(t *testing.T) {
	fast := []Sample{ms(2, 100), ms(3, 100)}
	for name, c := range map[string]struct {
		own    Sample
		others []Sample
		voters int
		slow   bool
	}{
		"much slower":               {ms(100, 50), fast, 3, true},
		"a little":                  {ms(14, 50), fast, 3, false},
		"five times, but fast":      {ms(20, 50), fast, 3, false},
		"all are slow":              {ms(100, 50), []Sample{ms(40, 50), ms(50, 50)}, 3, false},
		"one of two is slow":        {ms(100, 50), []Sample{ms(2, 50), ms(90, 50)}, 3, false},
		"one of two is silent":      {ms(100, 50), fast[:1], 3, false},
		"nothing is written":        {ms(100, 3), fast, 3, false},
		"others write nothing":      {ms(100, 50), []Sample{ms(2, 100), ms(3, 3)}, 3, false},
		"three of five":             {ms(100, 50), []Sample{ms(2, 100), ms(99, 50), ms(1, 100), ms(4, 100)}, 5, true},
		"two of five":               {ms(100, 50), []Sample{ms(2, 100), ms(99, 50), ms(1, 100), ms(98, 100)}, 5, false},
		"a single node":             {ms(100, 50), nil, 1, false},
		"two nodes: both are asked": {ms(100, 50), fast[:1], 2, false},
	} {
		var j Judge
		for s := time.Duration(0); s <= Lasting; s += slot {
			reason := j.Look(at(time.Hour+s), zero, c.own, append([]Sample(nil), c.others...), c.voters)
			if want := c.slow && s == Lasting; (reason != "") != want {
				t.Errorf("%s, after %v: %q", name, s, reason)
			}
		}
	}
}

// TestPatience_CLU37: a break begins the half minute anew, and a leader that was elected a short time ago stays.
func TestPatience_CLU37(t *testing.T) {
	var j Judge
	look := func(d time.Duration, own float64) bool {
		return j.Look(at(d), zero, ms(own, 50), []Sample{ms(2, 100), ms(3, 100)}, 3) != ""
	}
	for s := time.Duration(0); s < Reign; s += slot {
		if look(s, 100) {
			t.Fatalf("after %v", s)
		}
	}
	if !look(Reign, 100) {
		t.Error("not after its reign")
	}
	look(Reign+slot, 10)
	for s := 2 * slot; s < 2*slot+Lasting; s += slot {
		if look(Reign+s, 100) {
			t.Fatalf("%v after a break", s)
		}
	}
	if !look(Reign+2*slot+Lasting, 100) {
		t.Error("not after half a minute")
	}
}

// TestOffice_CLU37: a reason is given once, and again after an answer and another half minute; the time in office begins anew with each office.
func TestOffice_CLU37(t *testing.T) {
	var o Office
	given := 0
	look := func(from, to time.Duration) int {
		given = 0
		for s := from; s <= to; s += slot {
			if o.Look(at(s), ms(100, 50), []Sample{ms(2, 100), ms(3, 100)}, 3) != "" {
				given++
			}
		}
		return given
	}
	if n := look(0, 2*Reign); n != 1 || o.Why() == "" {
		t.Errorf("%d reasons, %q", n, o.Why())
	}
	if o.Answered(); o.Why() != "" || look(2*Reign, 2*Reign+Lasting) != 1 {
		t.Errorf("%d reasons after an answer", given)
	}
	if o.Ended(); look(3*Reign, 4*Reign-slot) != 0 {
		t.Errorf("%d reasons in another office", given)
	}
}
