package budget

import (
	"math"
	"testing"
)

func TestBudget(t *testing.T) {
	var none *Budget
	none.Add(5)
	if none.OverLimit() || none.Critical() || none.Used() != 0 || none.Limit() != math.MaxInt64 {
		t.Error("nil has a limit")
	}
	var b Budget
	b.Add(100)
	for _, c := range []struct {
		limit, add int64
		tight      bool
		critical   bool
	}{
		{0, 0, false, false},
		{100, 0, false, false},
		{99, 0, true, false},
		{99, -1, false, false},
		{-1, 1, false, false},
		{80, 0, true, false},
		{79, 0, true, true},
		{1, 0, true, true},
	} {
		b.SetLimit(c.limit)
		if b.Add(c.add); b.OverLimit() != c.tight || b.Critical() != c.critical {
			t.Errorf("%d of %d: over is %v, critical is %v", b.Used(), b.Limit(), b.OverLimit(), b.Critical())
		}
	}
}

// TestBudgetOfReads_PRO22: what is being read makes a budget critical that is exceeded, and no other.
func TestBudgetOfReads_PRO22(t *testing.T) {
	var b Budget
	b.Add(100)
	for _, c := range []struct {
		limit, read int64
		critical    bool
	}{{90, 11, false}, {90, 12, true}, {99, 13, true}, {100, 13, false}, {0, 100, false}, {90, -100, false}} {
		b.SetLimit(c.limit)
		if b.Read(c.read - b.reading.Load()); b.Critical() != c.critical {
			t.Errorf("%d of %d, of which %d are being read: critical is %v", b.Used(), b.Limit(), c.read, b.Critical())
		}
	}
	(*Budget)(nil).Read(1)
}
