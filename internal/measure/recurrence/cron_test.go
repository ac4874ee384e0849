package recurrence

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// The changes of the clocks, and what cron's manual promises (REC-2, REC-3).
func TestNext_REC3(t *testing.T) {
	for _, c := range []struct{ name, cron, zone, after, want string }{
		{"gap, daily", "30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T03:00:00+02:00 2027-03-29T02:30:00+02:00"},
		{"overlap, daily", "30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", "2027-10-31T02:30:00+02:00 2027-11-01T02:30:00+01:00"},
		{"gap, daily", "30 2 * * *", "America/New_York", "2027-03-13T12:00:00Z", "2027-03-14T03:00:00-04:00 2027-03-15T02:30:00-04:00"},
		{"overlap, daily", "30 1 * * *", "America/New_York", "2027-11-06T12:00:00Z", "2027-11-07T01:30:00-04:00 2027-11-08T01:30:00-05:00"},
		{"overlap, within an hour", "*/20 1 * * *", "America/New_York", "2027-11-06T12:00:00Z", "2027-11-07T01:00:00-04:00 2027-11-07T01:20:00-04:00 2027-11-07T01:40:00-04:00 2027-11-08T01:00:00-05:00"},
		{"overlap, every half hour", "*/30 * * * *", "America/New_York", "2027-11-07T04:59:00Z", "2027-11-07T01:00:00-04:00 2027-11-07T01:30:00-04:00 2027-11-07T01:00:00-05:00 2027-11-07T01:30:00-05:00 2027-11-07T02:00:00-05:00"},
		{"gap, every half hour", "*/30 * * * *", "America/New_York", "2027-03-14T06:29:00Z", "2027-03-14T01:30:00-05:00 2027-03-14T03:00:00-04:00 2027-03-14T03:30:00-04:00"},
		{"gap, hourly", "0 * * * *", "Europe/Berlin", "2027-03-27T23:59:59Z", "2027-03-28T01:00:00+01:00 2027-03-28T03:00:00+02:00"},
		{"overlap, hourly", "0 * * * *", "Europe/Berlin", "2027-10-30T23:59:59Z", "2027-10-31T02:00:00+02:00 2027-10-31T02:00:00+01:00 2027-10-31T03:00:00+01:00"},
		{"the whole gap is one run", "*/10 2,3 * * *", "Europe/Berlin", "2027-03-28T00:59:59Z", "2027-03-28T03:00:00+02:00 2027-03-28T03:10:00+02:00"},
		{"the end of the gap is one run", "30 2,3 * * *", "Europe/Berlin", "2027-03-28T00:59:59Z", "2027-03-28T03:00:00+02:00 2027-03-28T03:30:00+02:00"},
		{"gap at midnight", "0 0 * * *", "America/Havana", "2027-03-13T12:00:00Z", "2027-03-14T01:00:00-04:00 2027-03-15T00:00:00-04:00"},
		{"gap of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2027-10-02T12:00:00Z", "2027-10-03T02:30:00+11:00 2027-10-04T02:15:00+11:00"},
		{"gap of a day", "30 2 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-29T02:30:00-10:00 2011-12-31T00:00:00+14:00 2011-12-31T02:30:00+14:00"},
		{"seconds", "*/20 30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T03:00:00+02:00 2027-03-29T02:30:00+02:00 2027-03-29T02:30:20+02:00"},
		{"ten seconds", "*/10 30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T03:00:00+02:00 2027-03-29T02:30:00+02:00"},
		{"hourly", "@hourly", "Europe/Berlin", "2027-03-27T23:59:59Z", "2027-03-28T01:00:00+01:00 2027-03-28T03:00:00+02:00 2027-03-28T04:00:00+02:00"},
		{"day of month or day of week", "0 12 13 * 5", "Europe/Berlin", "2027-08-06T00:00:00Z", "2027-08-06T12:00:00+02:00 2027-08-13T12:00:00+02:00 2027-08-20T12:00:00+02:00"},
		{"day of month and day of week", "0 12 */2 * 1", "UTC", "2027-01-01T00:00:00Z", "2027-01-11T12:00:00Z 2027-01-25T12:00:00Z"},
		{"7 is Sunday", "0 12 * * 7", "UTC", "2027-01-01T00:00:00Z", "2027-01-03T12:00:00Z 2027-01-10T12:00:00Z"},
		{"a range that wraps", "0 12 * * FRI-MON", "UTC", "2027-01-06T00:00:00Z", "2027-01-08T12:00:00Z 2027-01-09T12:00:00Z 2027-01-10T12:00:00Z 2027-01-11T12:00:00Z 2027-01-15T12:00:00Z"},
		{"hours that wrap", "0 22-2/2 * * *", "UTC", "2027-01-01T21:00:00Z", "2027-01-01T22:00:00Z 2027-01-02T00:00:00Z 2027-01-02T02:00:00Z 2027-01-02T22:00:00Z"},
		{"Saturday to Sunday", "0 12 * * 6-7", "UTC", "2027-01-01T00:00:00Z", "2027-01-02T12:00:00Z 2027-01-03T12:00:00Z 2027-01-09T12:00:00Z"},
		{"a leap day", "0 0 29 2 *", "UTC", "2027-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"no leap day in 2100", "0 0 29 2 *", "UTC", "2097-01-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"never", "0 0 31 2,4,6,9,11 *", "Europe/Berlin", "2027-01-01T00:00:00Z", "never"},
		{"the last day of a leap year", "0 0 31 12 *", "Europe/Berlin", "2039-12-31T12:00:00Z", "2040-12-31T00:00:00+01:00 2041-12-31T00:00:00+01:00"},
		{"never", "0 0 30 2 *", "UTC", "2027-01-01T00:00:00Z", "never"},
		{"yearly", "@yearly", "UTC", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"},
		{"from a number in steps", "5/20 * * * *", "UTC", "2027-01-01T00:00:00Z", "2027-01-01T00:05:00Z 2027-01-01T00:25:00Z 2027-01-01T00:45:00Z 2027-01-01T01:05:00Z"},
		{"a question mark", "0 0 ? JAN,mar 1", "UTC", "2027-01-20T00:00:00Z", "2027-01-25T00:00:00Z 2027-03-01T00:00:00Z"},
		{"before 1970", "0 0 1 * *", "UTC", "1969-11-05T10:00:00Z", "1969-12-01T00:00:00Z 1970-01-01T00:00:00Z"},
	} {
		cron, err := ParseCron(c.cron)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		at, _ := time.Parse(time.RFC3339, c.after)
		for _, want := range strings.Fields(c.want) {
			next, _, found := cron.Next(at, zone(t, c.zone))
			got := next.Format(time.RFC3339)
			if !found {
				got = "never"
			}
			if got != want {
				t.Errorf("%s, %q in %s after %s: %s, want %s", c.name, c.cron, c.zone, at, got, want)
			}
			at = next
		}
	}
}

// Each refusal of an expression names the field.
func TestParseCronErrors_REC2(t *testing.T) {
	for text, want := range map[string]string{
		"0 12 L * *":              `day of the month: "L" is not supported`,
		"0 12 LW * *":             `day of the month: "LW" is not supported`,
		"0 12 * * 5#2":            `day of the week: "5#2" is not supported`,
		"61 * * * *":              `minute: "61" is not in 0-59`,
		"@every 90m":              `"@every 90m" is not a cron expression; @yearly, @monthly, @weekly, @daily and @hourly are`,
		"60 * * * *":              `minute: "60" is not in 0-59`,
		"* 24 * * *":              `hour: "24" is not in 0-23`,
		"* * 0 * *":               `day of the month: "0" is not in 1-31`,
		"* * * 13 *":              `month: "13" is not in 1-12`,
		"* * * * 8":               `day of the week: "8" is not in 0-7`,
		"* * * * MONDAY":          `day of the week: "MONDAY" is not in 0-7`,
		"+1 * * * *":              `minute: "+1" is not in 0-59`,
		"1- * * * *":              `minute: "" is not in 0-59`,
		"*/0 * * * *":             `minute: the step "0" is not in 1-59`,
		"*/x * * * *":             `minute: the step "x" is not in 1-59`,
		"1,,2 * * * *":            `minute: "" is not in 0-59`,
		"* * * *":                 "a cron expression has 5 fields, or 6 with the seconds first; this one has 4",
		"* * * * * * *":           "a cron expression has 5 fields, or 6 with the seconds first; this one has 7",
		"":                        "a cron expression has 5 fields, or 6 with the seconds first; this one has 0",
		"@reboot":                 `"@reboot" is not a cron expression; @yearly, @monthly, @weekly, @daily and @hourly are`,
		strings.Repeat("1,", 600): "a cron expression has at most 1024 bytes",
	} {
		if _, err := ParseCron(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Each zone is walked minute by minute through a year, with the rule applied to each minute as it is written in REC-3.
func TestNextByBruteForce_REC3(t *testing.T) {
	zones := []string{
		"Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran", "Asia/Kolkata",
		"Pacific/Chatham",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range zones {
		z := zone(t, name)
		expressions := []string{"30 2 * * *", "*/20 1-3 * * *", "15 */2 * * *", "0 0 * * *", "45 2,3 1-15 3,4,9,10,11 0"}
		for range 3 {
			expressions = append(expressions, fmt.Sprintf("%d,%d %d-%d * * %d-%d", random.IntN(60), random.IntN(60), random.IntN(24), random.IntN(24), random.IntN(7), random.IntN(8)))
		}
		for i, text := range expressions {
			cron, err := ParseCron(text)
			if err != nil {
				t.Fatal(text, err)
			}
			start := time.Date([]int{2021, 2040}[i%2], 1, 1, 0, 0, 0, 0, time.UTC) // the rule of a zone continues the table of its changes
			want := walked(cron, z, start, 400)
			at := start
			for i, w := range want {
				next, _, found := cron.Next(at, z)
				if !found || next.Unix() != w {
					t.Errorf("%q in %s, run %d: %v, want %v", text, name, i, next, time.Unix(w, 0).In(z))
					break
				}
				at = next
			}
		}
	}
}

// walked returns the times of an expression without seconds, found minute by minute.
func walked(c *Cron, z *time.Location, start time.Time, days int) (times []int64) {
	known, fits := int64(-1), false // the last day, and whether the expression names it
	matches := func(wall int64) bool {
		if wall/day != known {
			date := time.Unix(wall, 0).UTC()
			known, fits = wall/day, c.months.has(int(date.Month())) && c.matches(date)
		}
		return fits && c.hours.has(int(wall%day/3600)) && c.minutes.has(int(wall%3600/60))
	}
	_, offset := start.In(z).Zone()
	latest := start.Unix() + int64(offset) // the latest wall time that there was
	_, end := start.In(z).ZoneBounds()
	for at := start.Unix() + 60; at < start.Unix()+int64(days)*day; at += 60 {
		if !end.IsZero() && at >= end.Unix() {
			t := time.Unix(at, 0).In(z)
			_, offset = t.Zone()
			_, end = t.ZoneBounds()
		}
		wall := at + int64(offset)
		due := matches(wall) && (c.elapsed || wall > latest)
		for skipped := latest + 60; skipped < wall && !c.elapsed; skipped += 60 {
			due = due || matches(skipped)
		}
		if latest = max(latest, wall); due {
			times = append(times, at)
		}
	}
	return times
}

// Next finds each time from anywhere between it and the one before.
func FuzzNext(f *testing.F) {
	f.Add("*/7 1-3,22 */3 * MON", int64(1_800_000_000), int64(100_000))
	f.Fuzz(func(t *testing.T, text string, from, later int64) {
		c, err := ParseCron(text)
		if err != nil || from < 0 || from > 4_000_000_000 {
			return
		}
		z := zone(t, "Europe/Berlin")
		first, _, found := c.Next(time.Unix(from, 0), z)
		if !found {
			return
		}
		if later = from + mod(later, first.Unix()-from); later < first.Unix() {
			if again, _, _ := c.Next(time.Unix(later, 0), z); !again.Equal(first) {
				t.Errorf("after %d %v, after %d %v", from, first, later, again)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	c, _ := ParseCron("30 2 * * MON-FRI")
	z := zone(b, "Europe/Berlin")
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, z)
	b.ReportAllocs()
	for b.Loop() {
		at, _, _ = c.Next(at, z)
		if at.Year() > 2030 {
			at = time.Date(2027, 1, 1, 0, 0, 0, 0, z)
		}
	}
}
