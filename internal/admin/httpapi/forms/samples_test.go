package forms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
)

var someSamples = config.Samples{
	Overview: []config.Span{{Length: time.Minute, Every: 5 * time.Second}, {Length: time.Hour, Every: time.Minute}},
	Objects:  []config.Span{{Length: time.Minute, Every: 5 * time.Second}},
}

func times(r *Range) (text string) {
	if r == nil {
		return "none"
	}
	for _, s := range r.Samples {
		text += fmt.Sprintf("%v@%d ", s.Value, s.At/1000-r.Samples[0].At/1000)
	}
	return text
}

// A request for samples returns the samples since the first such request, at the requested steps and age.
func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Rates{Samples: someSamples}
		look := func(query string, value float64) Rate { return r.LookOf(query).Lengths("q", value)[0] }
		const query = "lengths_age=20&lengths_incr=5"
		if look("", 1); len(r.series) != 0 {
			t.Error("samples for nobody")
		}
		for _, odd := range []string{"lengths_age=20", "lengths_age=x&lengths_incr=5", "lengths_age=0&lengths_incr=5", "lengths_age=-1&lengths_incr=5", "msg_rates_age=20&msg_rates_incr=5", "%"} {
			if got := look(odd, 1); got.Range != nil {
				t.Errorf("%s: %s", odd, times(got.Range))
			}
		}
		if got := look(query, 1); times(got.Range) != "1@0 " || got.Avg != 1 || got.AvgRate != 0 {
			t.Errorf("first: %+v", got.Range)
		}
		for n := range 5 { // requests without samples
			time.Sleep(5 * time.Second)
			look("", float64(n+2))
		}
		if got := look(query, 9); times(got.Range) != "6@0 5@-5 4@-10 3@-15 2@-20 " || got.Avg != 4 || got.AvgRate != 0.2 {
			t.Errorf("later: %s, %+v", times(got.Range), got.Range)
		}
		if got := look("lengths_age=60&lengths_incr=10", 9); times(got.Range) != "6@0 4@-10 2@-20 " {
			t.Errorf("in longer steps: %s", times(got.Range))
		}
		if got := look("lengths_age=60&lengths_incr=1", 9); len(got.Samples) != 6 {
			t.Errorf("in steps that are too short: %s", times(got.Range))
		}
		time.Sleep(12 * time.Second) // no request in between
		if got := look(query, 0); times(got.Range)[:4] != "0@0 " {
			t.Errorf("after a gap: %s", times(got.Range))
		}
		for range 100 {
			time.Sleep(5 * time.Second)
			look(query, 1)
		}
		if n := len(r.series["q"].tiers[0].points); n != 13 {
			t.Errorf("a minute has %d samples", n)
		}
		time.Sleep(2 * time.Minute)
		r.LookOf("lengths_age=5&lengths_incr=5").Lengths("other", 1)
		if r.series["q"] != nil || r.kept.Load() != 1 {
			t.Error("nobody asks, but the samples are still there")
		}
	})
}

// Samples of the whole broker are kept longer, at longer intervals.
func TestSamplesOfTheOverview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Rates{Samples: someSamples}
		for n := range 3 * 720 {
			r.LookOf("lengths_age=60&lengths_incr=5").Lengths(Overview, float64(n))
			time.Sleep(5 * time.Second)
		}
		l := r.LookOf("lengths_age=3600&lengths_incr=60")
		if got := l.Lengths(Overview, 2160)[0]; len(got.Samples) != 61 || got.Samples[0].Value-got.Samples[1].Value != 12 {
			t.Errorf("%d samples, %s", len(got.Samples), times(got.Range)[:40])
		}
		if got := r.LookOf("lengths_age=60&lengths_incr=5").Lengths(Overview, 0)[0]; len(got.Samples) != 13 {
			t.Errorf("%d samples", len(got.Samples))
		}
	})
}

// If a count decreases, it belongs to a new object, and earlier samples are dropped.
func TestSamplesOfCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Rates{Samples: someSamples}
		look := func(publish uint64) Stats {
			return r.LookOf("msg_rates_age=60&msg_rates_incr=5").Stats("q", management.Counts{Publish: publish})
		}
		look(10)
		time.Sleep(5 * time.Second)
		if s := look(20); times(s.PublishRate.Range) != "20@0 10@-5 " || s.PublishRate.AvgRate != 2 || s.PublishRate.Rate != 2 {
			t.Errorf("%+v", s.PublishRate)
		}
		time.Sleep(5 * time.Second)
		s := look(1)
		text, err := json.Marshal(s.PublishRate)
		want := fmt.Sprintf(`{"rate":0,"samples":[{"sample":1,"timestamp":%d}],"avg_rate":0,"avg":1}`, time.Now().Unix()/5*5000)
		if err != nil || string(text) != want {
			t.Errorf("%s, not %s", text, want)
		}
		if text, err := json.Marshal(Rate{Rate: 1.5}); err != nil || string(text) != `{"rate":1.5}` {
			t.Errorf("%s", text)
		}
	})
}

// The number of objects with samples, and of samples in an answer, is bounded.
func TestSamplesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Rates{Samples: someSamples}
		for range 13 {
			l := r.LookOf("lengths_age=60&lengths_incr=5")
			for n := range 2 * maxSeries {
				l.Lengths(fmt.Sprint(n), 1, 2, 3)
			}
			time.Sleep(5 * time.Second)
		}
		if len(r.series) != maxSeries {
			t.Errorf("%d have samples", len(r.series))
		}
		l, samples := r.LookOf("lengths_age=60&lengths_incr=5"), 0
		for n := range maxSamples {
			for _, rate := range l.Lengths(fmt.Sprint(n%maxSeries), 1, 2, 3) {
				if rate.Range != nil {
					samples += len(rate.Samples)
				}
			}
		}
		if samples < maxSamples || samples > maxSamples+3*13 {
			t.Errorf("%d samples are samples", samples)
		}
		for n := range 2 * maxRefreshed {
			l.Refresh(fmt.Sprint(n), func(context.Context, *Look) error { return errors.New("gone") })
		}
		refreshed := func() (int, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.refreshed), r.timer != nil
		}
		if n, _ := refreshed(); n != maxRefreshed {
			t.Errorf("%d are refreshed", n)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n, armed := refreshed(); n != 0 || armed {
			t.Errorf("%d that are gone are refreshed", n)
		}
	})
}

// An object is sampled every 5 s as long as its samples are requested, and no longer; after Close none is.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, looks := &Rates{Samples: someSamples}, 0
		ask := func() Rate {
			l := r.LookOf("lengths_age=60&lengths_incr=5")
			l.Refresh("q", func(_ context.Context, l *Look) error {
				looks++
				l.Lengths("q", float64(looks))
				return nil
			})
			return l.Lengths("q", float64(looks))[0]
		}
		r.LookOf("").Refresh("q", nil)
		if r.timer != nil {
			t.Error("it is refreshed for nobody")
		}
		ask()
		time.Sleep(21 * time.Second)
		if got := times(ask().Range); got != "4@0 3@-5 2@-10 1@-15 0@-20 " {
			t.Error(got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if looks > 20 || r.timer != nil {
			t.Errorf("%d looks for nobody", looks)
		}
		before := looks
		ask()
		r.Close()
		ask()
		time.Sleep(time.Minute)
		if looks != before {
			t.Error("a look behind the end")
		}
	})
}
