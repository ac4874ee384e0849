package recurrence

import (
	"math/rand/v2"
	"testing"
	"time"
)

func cronIn(t *testing.T, text, zone string) Times {
	t.Helper()
	c, err := ParseCron(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return Times{Cron: c, Zone: z}
}

// TestTimes_REC2: intervals count from their base, also for times before it; lists and limits include both ends.
func TestTimes_REC2(t *testing.T) {
	for name, c := range map[string]struct {
		of    Times
		after int64
		want  int64 // 0 for none
	}{
		"interval from its base":       {Times{Every: 1000, Base: 5000}, 100, 5000},
		"interval after its base":      {Times{Every: 1000, Base: 5000}, 5000, 6000},
		"interval between":             {Times{Every: 1000, Base: 5500}, 7600, 8500},
		"interval with a later start":  {Times{Every: 1000, Base: 5500, Start: 9000}, 7600, 9500},
		"the start itself":             {Times{Every: 1000, Base: 9000, Start: 9000}, 0, 9000},
		"the end itself":               {Times{Every: 1000, Base: 9000, End: 10_000}, 9000, 10_000},
		"after the end":                {Times{Every: 1000, Base: 9000, End: 10_000}, 10_000, 0},
		"list":                         {Times{At: []int64{3000, 9000}}, 3000, 9000},
		"list from its first":          {Times{At: []int64{3000, 9000}}, 0, 3000},
		"end of the list":              {Times{At: []int64{3000, 9000}}, 9000, 0},
		"list with a start and an end": {Times{At: []int64{3000, 9000}, Start: 4000, End: 8000}, 0, 0},
	} {
		at, _, ok := c.of.Next(c.after)
		if at != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %d %t, want %d", name, at, ok, c.want)
		}
	}
	daily := cronIn(t, "0 12 * * *", "UTC")
	daily.Start = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli()
	if at, _, _ := daily.Next(0); at != daily.Start {
		t.Errorf("the first time is %d, want the start", at)
	}
}

// TestJitter_REC4: the delay depends on name and time only, is within the jitter, and differs.
func TestJitter_REC4(t *testing.T) {
	a, b := Times{Name: "a", Jitter: 1000}, Times{Name: "b", Jitter: 1000}
	seen, same := map[int64]bool{}, 0
	for at := int64(0); at < 1000; at++ {
		d := a.Delay(at * 60_000)
		if d < 0 || d > 1000 || d != a.Delay(at*60_000) {
			t.Fatalf("delay %d", d)
		}
		if d == b.Delay(at*60_000) {
			same++
		}
		seen[d] = true
	}
	if len(seen) < 500 || same > 20 {
		t.Errorf("%d different delays of 1000, %d as another schedule's", len(seen), same)
	}
	if (&Times{Name: "a"}).Delay(5) != 0 {
		t.Error("a delay without jitter")
	}
}

// TestLast_REC9: the last time before another is the one that counting finds.
func TestLast_REC9(t *testing.T) {
	all := []Times{
		cronIn(t, "*/7 3 * * *", "Europe/Berlin"), cronIn(t, "0 0 29 2 *", "UTC"), cronIn(t, "* * * * * *", "UTC"), cronIn(t, "30 2 * * SUN", "America/New_York"),
		{Every: 3600_000, Base: 1_800_000_000_123},
		{At: []int64{1_800_000_000_000, 1_800_000_500_000}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		times := all[i%len(all)]
		after := 1_800_000_000_000 + r.Int64N(1e10)
		until := after + r.Int64N(40_000_000)
		want, found := int64(0), false
		for at, _, ok := times.Next(after); ok && at <= until; at, _, ok = times.Next(at) {
			want, found = at, true
		}
		if at, ok := times.Last(after, until); at != want || ok != found {
			t.Fatalf("%d: last after %d until %d: %d %t, want %d %t", i%len(all), after, until, at, ok, want, found)
		}
	}
	if n := all[2].Count(1_800_000_000_000, 1_800_000_060_000, 1000); n != 60 {
		t.Errorf("%d times in a minute", n)
	}
	if n := all[2].Count(1_800_000_000_000, 1_900_000_000_000, 1000); n != 1000 {
		t.Errorf("%d times, more than are to be counted", n)
	}
	if ms, ok := all[0].Shortest(1_800_000_000_000); !ok || ms != 7*60_000 {
		t.Errorf("shortest interval %d", ms)
	}
}
