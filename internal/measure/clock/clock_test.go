package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestInstantRounding(t *testing.T) {
	for _, c := range []struct{ ns, floor, ceil int64 }{
		{5_000_000, 5, 5}, {5_000_001, 5, 6}, {5_999_999, 5, 6}, {0, 0, 0},
	} {
		i := Instant(c.ns)
		if i.Floor() != c.floor || i.Ceil() != c.ceil {
			t.Errorf("%d ns: floor %d ceil %d, want %d %d", c.ns, i.Floor(), i.Ceil(), c.floor, c.ceil)
		}
	}
}

// TTL-31: a timer armed with Until never fires before its deadline.
func TestUntilIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		time.Sleep(1234567 * time.Nanosecond) // virtual: moves the bubble's clock off a whole ms
		deadline := c.Now().Ceil() + 250
		<-time.After(c.Until(deadline))
		if c.Now().Floor() < deadline {
			t.Fatalf("woke at %d, before %d", c.Now().Floor(), deadline)
		}
		if c.Until(1<<62) <= 0 {
			t.Fatal("a deadline beyond the range of durations must lie in the future")
		}
	})
}
