package budget

import (
	"math"
	"testing"
)

func TestBudget(t *testing.T) {
	var none *Budget
	none.Add(5)
	if none.Tight() || none.Used() != 0 || none.Limit() != math.MaxInt64 {
		t.Error("nil has a limit")
	}
	var b Budget
	b.Add(100)
	for _, c := range []struct {
		limit, add int64
		tight      bool
	}{{0, 0, false}, {100, 0, false}, {99, 0, true}, {99, -1, false}, {-1, 1, false}, {1, 0, true}} {
		b.SetLimit(c.limit)
		if b.Add(c.add); b.Tight() != c.tight {
			t.Errorf("%d of %d: tight is %v", b.Used(), b.Limit(), b.Tight())
		}
	}
}
