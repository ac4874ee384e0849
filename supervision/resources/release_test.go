package resources

import (
	"testing"
	"time"

	"candlemark/internal/transport/budget"
)

// nothing is a Meter whose Collect does nothing.
type nothing struct{ Meter }

func (nothing) Collect() {}

// Memory released by queues is returned to the OS within 10 s, even if it stays uncollected for a while, if only the
// entries of messages were in memory, and however long nothing happened before.
func TestRelease_AfterDelete(t *testing.T) {
	const messages, unused = 2_000_000, 40 << 20
	for _, c := range []struct {
		name   string
		each   int64 // bytes of a message in memory, besides its entry
		before time.Duration
		lives  time.Duration // how long released memory stays uncollected
		parts  int64         // number of parts in which it is released, one per second
	}{
		{"at once", 200, 10 * time.Second, 0, 1},
		{"after an hour", 200, time.Hour, 0, 1},
		{"garbage lives", 200, 10 * time.Second, 3 * time.Second, 1},
		{"garbage lives, after an hour", 200, time.Hour, 5 * time.Second, 1},
		{"paged out, after an hour", 5, time.Hour, 0, 1},
		{"paged out, garbage lives, after an hour", 5, time.Hour, 5 * time.Second, 1},
		{"in parts", 200, time.Hour, 0, 4},
		{"in parts, garbage lives", 200, time.Hour, 2 * time.Second, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := messages * (c.each + budget.EntryBytes)
			var g release
			memory, left, releases := unused+full, int64(0), 0 // left: memory once the collected garbage has been returned
			for at := pace; at <= c.before+10*time.Second; at += pace {
				held, alive := full, full
				if since := at - c.before; since >= 0 {
					gone := min(int64(since/pace)+1, c.parts)
					held -= full * gone / c.parts
				}
				if since := at - c.before - c.lives; since >= 0 {
					gone := min(int64(since/pace)+1, c.parts)
					alive -= full * gone / c.parts
				}
				if b := g.began; b != nil && at-b.at >= settling {
					memory = left
				}
				r := reading{at: at, memory: memory}
				if g.settle(r, 0); g.due(r, false, 0, held) {
					left, releases = unused+alive, releases+1
					g.give(nothing{}, r, false, held)
				}
			}
			if memory != unused {
				t.Errorf("%d MB are left after ten seconds", memory>>20)
			}
			if most := 25 + int(c.before/longPause); releases > most {
				t.Errorf("%d releases", releases)
			}
		})
	}
}
