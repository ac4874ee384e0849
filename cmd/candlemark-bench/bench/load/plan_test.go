package load

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	p, err := (Plan{}).Parse("100:2,0:1")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Parse("10:0.5"); err != nil {
		t.Fatal(err)
	}
	if text := p.String(); text != "100:2,0:1,10:0.5" {
		t.Error(text)
	}
	const cycle, sum = 3500 * time.Millisecond, 205.0
	for _, row := range []struct {
		at          time.Duration
		value, come float64
	}{
		{0, 100, 0},
		{time.Second, 100, 100},
		{2 * time.Second, 0, 200},
		{2900 * time.Millisecond, 0, 200},
		{3 * time.Second, 10, 200},
		{3400 * time.Millisecond, 10, 204},
		{cycle, 100, sum},
		{10*cycle + time.Second, 100, 10*sum + 100},
	} {
		if v, n := p.At(row.at), p.Until(row.at); v != row.value || math.Abs(n-row.come) > 1e-9 {
			t.Errorf("at %v: %v, %v have come", row.at, v, n)
		}
	}
	for n, at := range map[float64]time.Duration{0: 0, 150: 1500 * time.Millisecond, 200: 3 * time.Second, 204: 3400 * time.Millisecond, sum: cycle, 3*sum + 1: 3*cycle + 10*time.Millisecond} {
		if got := p.When(n); (got - at).Abs() > time.Microsecond {
			t.Errorf("%v have come at %v, want %v", n, got, at)
		}
	}
	var none Plan
	if always := Always(200); always.At(time.Hour) != 200 || always.When(300) != 1500*time.Millisecond || always.Until(1500*time.Millisecond) != 300 {
		t.Errorf("%+v", always)
	}
	if a := Always(0); !none.IsZero() || !a.IsZero() || none.At(1) != 0 || none.Until(time.Hour) != 0 || none.When(1) != 0 {
		t.Error("there is none")
	}
	for _, text := range []string{"", "1", "1:", ":1", "1:0", "-1:1", "1:-1", "x:1", "1:x", "NaN:1", "1:NaN", "1e10:1", "1:1,", "Inf:1"} {
		if _, err := (Plan{}).Parse(text); !errors.Is(err, errPlan) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
