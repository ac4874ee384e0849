package recurring

import (
	"testing"

	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/transport/budget"
)

// TestHold_REC10: a schedule whose message may not be copied waits by itself, at last 8 s, and runs that are late by that are missed; others
// go on, and so does the schedule when it gets its copies.
func TestHold_REC10(t *testing.T) {
	f := newFixture(t)
	dir := f.cfg.VHost.Directory()
	fan := &topology.Exchange{Name: "fan", Type: "fanout"}
	routes, _ := topology.NewRoutes("fanout", nil)
	for _, name := range []string{"a", "b"} {
		q := &topology.Queue{Name: name, PID: f.pid}
		dir = dir.WithQueue(q)
		routes, _ = routes.With(topology.Binding{Destination: name}, topology.Target{Queue: q})
	}
	fan.Publish(routes)
	f.cfg.VHost.Publish(dir.WithExchange(fan))
	valve := budget.NewValve(&budget.Budget{})
	f.cfg.Copies = budget.NewCopies(&budget.Budget{}, valve)
	valve.SetShut(true)
	f.cfg.Copies.Ask(1 << 62) // nobody gets copies after that
	wide := every(1, 1)
	wide.ToQueue, wide.Exchange, wide.Missed = false, "fan", parameters.MissedSkip
	f.add(wide)
	f.add(every(2, 1))
	for s := int64(1); s <= 30; s++ {
		if f.turn(s*1000) != 1 {
			t.Fatalf("at %d s", s)
		}
		f.answer(nil)
	}
	if x := f.schedules["s1"]; x.wait != holdLast || x.Missed == 0 || x.Stored != 0 {
		t.Errorf("%+v", x)
	}
	valve.SetShut(false)
	for s := int64(31); s <= 50; s++ {
		for f.turn(s * 1000); len(f.mail) > 0; {
			f.answer(nil)
		}
	}
	if x := f.schedules["s1"]; x.wait != 0 || x.Stored < 10 || f.schedules["s2"].Stored != 50 {
		t.Errorf("%+v", x)
	}
}
