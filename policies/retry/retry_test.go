package retry

import (
	"math"
	"strings"
	"testing"
)

// TestDelay_RETRY1: delays grow with the number of failed deliveries up to the maximum.
func TestDelay_RETRY1(t *testing.T) {
	all := Settings{Failed: true, Returned: true, Min: 10, Max: 35}
	for _, c := range []struct {
		retry    Settings
		failed   bool
		failures uint32
		want     int64
	}{
		{all, true, 1, 10},
		{all, true, 2, 20},
		{all, true, 3, 30},
		{all, true, 4, 35},
		{all, true, math.MaxUint32, 35},
		{all, false, 0, 10},
		{all, false, 2, 20},
		{Settings{Failed: true, Min: 10, Max: 35}, false, 1, 0},
		{Settings{Failed: true, Min: 10, Max: 35}, true, 1, 10},
		{Settings{Returned: true, Min: 10, Max: 35}, true, 1, 0},
		{Settings{Returned: true, Min: 10, Max: 35}, false, 1, 10},
		{Settings{}, true, 1, 0},
		{Settings{}, false, 0, 0},
		{Settings{Failed: true, Min: 10, Max: 4}, true, 1, 4},
		{Settings{Failed: true, Min: math.MaxInt64, Max: math.MaxInt64}, true, 3, math.MaxInt64},
	} {
		if got := c.retry.Delay(c.failed, c.failures, 0, 1); got != c.want {
			t.Errorf("%v, failed %v, %d failures: %d ms, want %d", &c.retry, c.failed, c.failures, got, c.want)
		}
	}
	for want, r := range map[string]*Settings{
		"disabled": {}, "all (min: 10ms, max: 35ms)": &all, "failed (min: 1ms, max: 1ms)": {Failed: true, Min: 1, Max: 1},
		"returned (min: 1ms, max: 2ms)":                       {Returned: true, Min: 1, Max: 2},
		"all (min: 1ms, max: 2ms, multiplier: 3, jitter: 4%)": {Failed: true, Returned: true, Min: 1, Max: 2, Multiplier: 3, Jitter: 4},
		"failed (ladder: 1000ms, 60000ms)":                    {Failed: true, Ladder: "1000,60000"},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestShapes_RETRY6: with a multiplier delays grow by a factor up to the maximum, and a ladder lists them; both count what the type names.
func TestShapes_RETRY6(t *testing.T) {
	twice := Given{Min: 500, Max: 30_000, Multiplier: 2}
	endless := Given{Min: 1, Multiplier: 1000}
	constant := Given{Min: 7, Multiplier: 1}
	ladder := Given{Ladder: "1000,10000,60000"}
	failed := Given{Type: Failed, Ladder: "1,2,3,4,5"}
	returned := Given{Type: Returned, Ladder: "1,2,3,4,5"}
	for _, c := range []struct {
		given             Given
		failed            bool
		failures, returns uint32
		want              int64
	}{
		{twice, true, 1, 0, 500},
		{twice, true, 2, 0, 1000},
		{twice, false, 2, 1, 2000},
		{twice, false, 0, 0, 500},
		{twice, true, 6, 0, 16_000},
		{twice, true, 7, 0, 30_000},
		{twice, true, 65_535, 65_535, 30_000},
		{endless, true, 4, 0, 1_000_000_000},
		{endless, true, 5, 0, longest},
		{constant, true, 1, 0, 7},
		{constant, true, 65_535, 65_535, 7},
		{ladder, true, 1, 0, 1000},
		{ladder, false, 1, 1, 10_000},
		{ladder, false, 0, 3, 60_000},
		{ladder, true, 9, 0, 60_000},
		{failed, true, 2, 2, 2},
		{failed, false, 2, 2, 0},
		{returned, false, 3, 1, 1},
		{returned, true, 3, 1, 0},
		{Given{Type: Disabled, Ladder: "1"}, true, 1, 0, 0},
		{Given{Type: All}, true, 1, 0, 0},
		{Given{Min: 5}, true, 1, 0, 0},
		{Given{Min: 5, Any: true}, true, 3, 0, 5},
	} {
		if got := c.given.Settings().Delay(c.failed, c.failures, c.returns, 1); got != c.want {
			t.Errorf("%+v, failed %v, %d failures, %d returns: %d ms, want %d", c.given, c.failed, c.failures, c.returns, got, c.want)
		}
	}
}

// TestJitter_RETRY7: delays are extended by 0 to the given percentage, never shortened, the same each time for a message and its count,
// and evenly spread over messages.
func TestJitter_RETRY7(t *testing.T) {
	for _, d := range []int64{1, 999, 1000, 5000, longest, math.MaxInt64 / 2} {
		g := Given{Min: d, Any: true, Jitter: 50}
		r, thirds := g.Settings(), [3]int{}
		for number := range uint64(3000) {
			got := r.Delay(true, 1, 0, number)
			if got < d || got > d+d/2 || got != r.Delay(true, 1, 0, number) {
				t.Fatalf("%d ms became %d", d, got)
			}
			if d > 1 {
				thirds[(got-d)/(d/6+1)]++
			}
		}
		for _, n := range thirds {
			if d > 1 && n < 800 {
				t.Errorf("%d ms: %d", d, thirds)
			}
		}
		if d > 1000 && r.Delay(true, 1, 0, 7)-d == r.Delay(true, 2, 0, 7)-d {
			t.Errorf("%d ms: the same after each return", d)
		}
	}
}

// TestLadder_RETRY6: units, bounds and errors of a ladder.
func TestLadder_RETRY6(t *testing.T) {
	for text, want := range map[string]string{
		"1s,10s,1m": "1000,10000,60000", " 5 , 7ms,2h ,1d,3w": "5,7,7200000,86400000,1814400000", "315360000000": "315360000000", "3650d": "315360000000",
		strings.TrimSuffix(strings.Repeat("1,", 32), ","): strings.TrimSuffix(strings.Repeat("1,", 32), ","),
	} {
		if got, err := ParseLadder(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ",", "1s,", "0", "-1", "+1", "1x", "1S", "1.5s", "s", "1 s", "315360000001", "3651d", "99999999999999999999", "1ms1", "1mm", strings.Repeat("1,", 32) + "1"} {
		if got, err := ParseLadder(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
