package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The test checks the pulses of both protocols, check by check.
func TestPulse(t *testing.T) {
	const s = time.Second
	heartbeats := Pulse{Every: 5 * s, Limit: 20 * s, Sends: true} // of 0-9-1, every 10 s
	tests := map[string]struct {
		pulse    Pulse
		readings []Readings // not counting written heartbeats
		want     string     // result of each check: b for send a heartbeat, d for dead, - for neither
	}{
		"0-9-1, silence":         {heartbeats, make([]Readings, 4), "bbbd"},
		"0-9-1, input":           {heartbeats, []Readings{{}, {}, {}, {Read: 1}, {Read: 1}, {Read: 1}, {Read: 1}, {Read: 1}}, "bbbbbbbd"},
		"0-9-1, output":          {heartbeats, []Readings{{Read: 1, Written: 1}, {Read: 2, Written: 2}, {Read: 3, Written: 2}}, "--b"},
		"0-9-1, waiting":         {heartbeats, []Readings{{}, {}, {}, {Waiting: true}, {}, {}, {}, {}}, "bbbbbbbd"},
		"0-9-1, pause":           {heartbeats, []Readings{{}, {}, {}, {Paused: s}, {Paused: s}, {Paused: s}, {Paused: s}}, "bbbbbbd"},
		"1.0, silence allowed":   {Pulse{Every: 3 * s, Sends: true}, make([]Readings, 4), "bbbb"},
		"1.0, no idle time-out":  {Pulse{Every: 15 * s, Limit: 60 * s}, make([]Readings, 4), "---d"},
		"1.0, limit between two": {Pulse{Every: 4 * s, Limit: 10 * s, Sends: true}, make([]Readings, 3), "bbd"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.pulse
			p.Start(Readings{})
			got := ""
			for _, now := range test.readings {
				now.Written += uint32(strings.Count(got, "b"))
				beat, dead := p.Check(now)
				got += map[string]string{"true false": "b", "false true": "d", "false false": "-"}[fmt.Sprint(beat, dead)]
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
