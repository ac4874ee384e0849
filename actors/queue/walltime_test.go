package queue

import (
	"testing"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// TestWrittenByTheWall_TTL35: what is written down goes by the wall clock, which
// was set while the broker ran.
func TestWrittenByTheWall_TTL35(t *testing.T) {
	const hour = 3_600_000
	q := &queue{}
	q.state.skew = -hour
	c := &commit{records: []store.Record{
		{Kind: store.Put, Time: start, Deadline: start + 5},
		{Kind: store.Put, Time: start, Deadline: store.Never},
		{Kind: store.Put, Time: start, Deadline: start + 315_360_000_000},
		{Kind: store.Remove, Time: start},
	}}
	q.toWall(c, nil)
	for i, want := range []int64{start + 5 - hour, store.Never, start + 315_360_000_000 - hour, 0} {
		if r := c.records[i]; r.Time != start-hour || r.Deadline != want {
			t.Errorf("record %d: time %d, deadline %d, want %d", i, r.Time, r.Deadline, want)
		}
	}
	marks := []store.Record{{Kind: store.Remove, Time: start}}
	if q.toWall(nil, marks); marks[0].Time != start-hour {
		t.Errorf("mark: time %d", marks[0].Time)
	}
	if got := q.state.date(clock.Instant(start * int64(time.Millisecond))); got != (start-hour)/1000 {
		t.Errorf("date %d", got)
	}
}

// TestReadByTheWall_TTL35: what the journal has goes by the wall clock as it was
// then. A clock that was set back meanwhile holds nothing for longer than its TTL.
func TestReadByTheWall_TTL35(t *testing.T) {
	for _, row := range []struct {
		name                     string
		skew                     int64
		time, deadline           int64 // ms from the start
		wantTime, wantedDeadline int64
	}{
		{"as it was", 0, -500, 100, -500, 100},
		{"set forwards while it was down", 0, -500_000, -400_000, -500_000, -400_000},
		{"set back by an hour while it was down", 0, 3_600_000, 3_660_000, 0, 60_000},
		{"set back by years", 0, 1e12, 1e12 + 5, 0, 5},
		{"set while it runs, then recalled", 7000, 6500, 7100, -500, 100},
		{"set, and recalled from before", -7000, -500, 100, 0, 600},
	} {
		list := []store.Recovered{
			{Seq: 1, Time: start + row.time, Deadline: start + row.deadline},
			{Seq: 2, Time: start + row.time, Deadline: store.Never},
		}
		got := fromWall(list, row.skew, clock.Instant(start*int64(time.Millisecond)))
		if at, due := got[0].Time-start, got[0].Deadline-start; at != row.wantTime || due != row.wantedDeadline || got[1].Deadline != store.Never {
			t.Errorf("%s: enqueued at %d, due at %d, never at %d", row.name, at, due, got[1].Deadline)
		}
		if list[0].Time != start+row.time {
			t.Errorf("%s: what may be needed again has changed", row.name)
		}
	}
}

// TestSleep_TTL35: what has a deadline is overdue after the machine's sleep; leases
// begin anew, and unacknowledged deliveries have the time that they had left.
func TestSleep_TTL35(t *testing.T) {
	const hour = 3_600_000
	sleep := func(c *core) {
		c.now += clock.Instant(hour * time.Millisecond)
		c.machineSlept(hour*time.Millisecond, c.now)
		c.feed(timerFired{})
	}
	t.Run("messages", func(t *testing.T) {
		c := newCore(t, dlx)
		c.publish(msg("a", 2*hour), msg("b", hour), msg("c", 10), msg("d", -1))
		sleep(c)
		c.want("dead", c.seenOff(), "expired c", "expired b")
		c.at(2 * hour)
		c.want("dead", c.seenOff(), "expired a")
	})
	t.Run("lease", func(t *testing.T) {
		c := newCore(t, expires(1000))
		c.at(900)
		sleep(c)
		c.at(hour + 900 + 999)
		if c.phase != live {
			t.Fatal("the lease ended in the machine's sleep")
		}
		c.at(hour + 900 + 1000)
		if c.phase != retiring {
			t.Fatal("the lease has not ended")
		}
	})
	t.Run("deliveries", func(t *testing.T) {
		c := newCore(t, timeout(1000))
		c.consume(ch1, "x", 0)
		c.put("a", "b")
		c.at(400)
		sleep(c)
		c.settle(ch1, mail.Ack, 1, 1)
		c.at(hour + 999)
		if n := len(all[*mail.DeliveriesReturned](c)); n != 0 || c.consumers.Unacked() != 1 {
			t.Fatalf("%d were taken back, %d unacknowledged", n, c.consumers.Unacked())
		}
		c.at(hour + 1000)
		if n := len(all[*mail.DeliveriesReturned](c)); n != 1 {
			t.Fatalf("%d were taken back", n)
		}
	})
}
