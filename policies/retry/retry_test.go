package retry

import (
	"math"
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
		if got := c.retry.Delay(c.failed, c.failures); got != c.want {
			t.Errorf("%v, failed %v, %d failures: %d ms, want %d", &c.retry, c.failed, c.failures, got, c.want)
		}
	}
	for want, r := range map[string]*Settings{
		"disabled": {}, "all (min: 10ms, max: 35ms)": &all, "failed (min: 1ms, max: 1ms)": {Failed: true, Min: 1, Max: 1},
		"returned (min: 1ms, max: 2ms)": {Returned: true, Min: 1, Max: 2},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
