package records

import (
	"testing"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

// TestWrittenByTheWall_TTL35: times in the journal are of the wall clock, even if that was set while the broker ran.
func TestWrittenByTheWall_TTL35(t *testing.T) {
	const hour = 3_600_000
	list := []store.Record{
		{Kind: store.Put, Time: start, Deadline: start + 5},
		{Kind: store.Put, Time: start, Deadline: store.Never},
		{Kind: store.Put, Time: start, Deadline: start + 315_360_000_000},
		{Kind: store.Remove, Time: start},
		{Kind: store.Postponed, Time: start, Until: start + 7},
	}
	ToWall(list, -hour)
	for i, want := range []int64{start + 5 - hour, store.Never, start + 315_360_000_000 - hour, 0, 0} {
		if r := list[i]; r.Time != start-hour || r.Deadline != want {
			t.Errorf("record %d: time %d, deadline %d, want %d", i, r.Time, r.Deadline, want)
		}
	}
	if r := list[4]; r.Until != start+7-hour {
		t.Errorf("postponed until %d", r.Until)
	}
}

// TestReadByTheWall_TTL35: times in the journal are of the wall clock when they were written. If it was set back since, no
// message is kept for longer than its TTL.
func TestReadByTheWall_TTL35(t *testing.T) {
	for _, row := range []struct {
		name                     string
		skew                     int64
		time, deadline           int64 // ms after the start
		wantTime, wantedDeadline int64
	}{
		{"as it was", 0, -500, 100, -500, 100},
		{"set forwards while it was down", 0, -500_000, -400_000, -500_000, -400_000},
		{"set back by an hour while it was down", 0, 3_600_000, 3_660_000, 0, 60_000},
		{"set back by years", 0, 1e12, 1e12 + 5, 0, 5},
		{"set while it runs, then recalled", 7000, 6500, 7100, -500, 100},
		{"set, and recalled from before", -7000, -500, 100, 0, 600},
		{"set, and recalled from the future", -7000, 0, 600, 0, 600},
	} {
		list := []store.Recovered{
			{Seq: 1, Time: start + row.time, Deadline: start + row.deadline},
			{Seq: 2, Time: start + row.time, Deadline: store.Never},
			{Seq: 3, Time: start + row.time, Deadline: store.Never, Due: start + 9000, Until: start + 9000}, // dates
		}
		got := FromWall(list, row.skew, clock.Instant(start*int64(time.Millisecond)))
		if at, due := got[0].Time-start, got[0].Deadline-start; at != row.wantTime || due != row.wantedDeadline || got[1].Deadline != store.Never {
			t.Errorf("%s: enqueued at %d, due at %d, never at %d", row.name, at, due, got[1].Deadline)
		}
		if want := start + 9000 - row.skew; got[2].Due != want || got[2].Until != want {
			t.Errorf("%s: a date of %d is due at %d and %d", row.name, want, got[2].Due, got[2].Until)
		}
		if list[0].Time != start+row.time {
			t.Errorf("%s: what may be needed again has changed", row.name)
		}
	}
}
