package consumers

import "testing"

// TestMoment_AGE3: a moment is exact to 4 ms, and for 198 days, wherever in the range of 32 bits it is.
func TestMoment_AGE3(t *testing.T) {
	const day = 24 * 3600 * 1000
	for _, at := range []int64{1_800_000_000_000, 1_800_000_000_003, 1 << 34, 1<<34 - 1, 1<<34 + 1<<33} {
		m := MomentOf(at)
		for _, passed := range []int64{0, 1, 3, 4, 5, 1000, 60 * day, 198 * day} {
			ago, began := m.Ago(at+passed), m.At(at+passed)
			if ago < passed-3 || ago > passed+3 || began != at-at%4 {
				t.Errorf("%d after %d: %d ago, at %d", passed, at, ago, began)
			}
		}
	}
}
