package forms

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/admin/management"
)

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Rates
		look := func(object string, value float64) float64 { return r.Of(object, value)[0].Rate }
		if got := look("q", 100); got != 0 {
			t.Errorf("first look: %v", got)
		}
		time.Sleep(4 * time.Second)
		if got := look("q", 200); got != 0 {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(4 * time.Second)
		if got := look("q", 110); got != 1.3 {
			t.Errorf("10 in 8 s: %v", got)
		}
		if got := look("q", 500); got != 1.3 {
			t.Errorf("again at once: %v", got)
		}
		time.Sleep(10 * time.Second)
		if got := look("q", 0); got != -11 {
			t.Errorf("fewer: %v", got)
		}
		time.Sleep(forgetAfter)
		look("other", 1)
		if len(r.seen) != 1 {
			t.Errorf("%d are remembered", len(r.seen))
		}
	})
}

// If a counter decreases, the queue is a new one of this name, and its rates are 0.
func TestStatsOfAnotherQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := (&Rates{}).LookOf("")
		r.Stats("q", management.Counts{Publish: 100, Ack: 1})
		time.Sleep(sampleEvery)
		if s := r.Stats("q", management.Counts{Publish: 5, Ack: 11}); s.PublishRate.Rate != 0 || s.AckRate.Rate != 0 || s.Publish != 5 {
			t.Errorf("%+v", s)
		}
	})
}
