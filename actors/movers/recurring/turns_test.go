package recurring

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/parameters"
)

// TestMissedInTurns_REC9_REC15: many schedules with many missed runs each take many turns, and all of them are decided. Each has one event.
func TestMissedInTurns_REC9_REC15(t *testing.T) {
	var s state
	hub := events.NewHub(events.Config{Now: func() int64 { return 0 }})
	heard := hub.Listen(1000, nil, nil)
	defer heard.Close()
	s.init(&Config{Stats: &Stats{}, Alarm: func() bool { return false }, Events: hub}, 1)
	s.at = clock.Instant(2000 * time.Hour)
	const count = 50
	for n := range count {
		spec, err := parameters.ParseSchedule("/", fmt.Sprint(n), json.RawMessage(fmt.Sprintf(
			`{"cron":"* * * * * *","queue":"q","missed":"skip","created":1,"since":1,"incarnation":%d}`, n+1)))
		if err != nil {
			t.Fatal(err)
		}
		s.set(spec)
		s.loaded(spec.Incarnation, nil)
	}
	turns := 0
	for ; turns == 0 || s.more; turns++ {
		before := s.cfg.Stats.Counts()["missed"]
		if s.run(); s.cfg.Stats.Counts()["missed"]-before > 2*maxCounted {
			t.Fatalf("%d runs were counted in a turn", s.cfg.Stats.Counts()["missed"]-before)
		}
	}
	if missed := s.cfg.Stats.Counts()["missed"]; missed != count*maxCounted || s.due[0].due <= s.now() {
		t.Errorf("%d runs in %d turns, the next at %d", missed, turns, s.due[0].due)
	}
	if len(heard.C) != count {
		t.Errorf("%d events of %d schedules", len(heard.C), count)
	}
	if e := <-heard.C; e.Name != "schedule.run.missed" || e.VHost != "/" || fmt.Sprint(e.Fields[2:]) != "[{runs 10000} {until_ms 7200000000}]" {
		t.Errorf("%+v", e.Event)
	}
}
