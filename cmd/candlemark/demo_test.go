package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// verdicts returns a column in which the lines with these numbers failed.
func verdicts(failed ...int) column {
	var c column
	for _, a := range acts {
		for range a.lines {
			c = append(c, judged(!slices.Contains(failed, len(c)), "seen"))
		}
	}
	return c
}

func TestDemoTable(t *testing.T) {
	for name, c := range map[string]struct {
		ours, theirs column
		passed       bool
		summary      string
	}{
		"alone":          {verdicts(), nil, true, "Candlemark: as expected.\n"},
		"we fail":        {verdicts(3), nil, false, "Candlemark: 1 of "},
		"the other does": {verdicts(), verdicts(0, 1), true, "Candlemark: as expected; Other: 2 of "},
		"a busy machine": {append(column{timed(busy, true, "seen")}, verdicts()[1:]...), nil, true, "Candlemark: as expected, machine too busy for 1 of "},
	} {
		t.Run(name, func(t *testing.T) {
			show := timetable{brokers: []string{"Candlemark"}, columns: []column{c.ours}}
			if c.theirs != nil {
				show.brokers, show.columns = append(show.brokers, "Other"), append(show.columns, c.theirs)
			}
			var out bytes.Buffer
			show.print(&out)
			if show.passed() != c.passed || !strings.Contains(out.String(), c.summary) {
				t.Errorf("passed %v\n%s", show.passed(), out.String())
			}
			lines := strings.Split(out.String(), "\n")
			at := strings.Index(lines[1], "Candlemark")
			for _, l := range lines[2 : 2+len(c.ours)] {
				if !strings.HasPrefix(l[at:], "seen") {
					t.Errorf("not aligned: %s", l)
				}
			}
		})
	}
}

func TestDemoLateness(t *testing.T) {
	var all []arrival
	for i := range 200 { // -1..198 ms late
		all = append(all, arrival{
			amqp.Delivery{Headers: amqp.Table{dueHeader: int64(time.Second)}}, time.Second + time.Duration(i-1)*time.Millisecond,
		})
	}
	if got, want := lateness(all), (spread{1, 99 * time.Millisecond, 197 * time.Millisecond, 198 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := lateness(nil); got.p50 < demoLimit {
		t.Errorf("nothing came, and that is %+v", got)
	}
}

// A stall counts as much in the percentiles as the wakeups missed during it.
func TestDemoMetronome(t *testing.T) {
	var m metronome
	for range 900 {
		m.note(0)
	}
	m.note(100 * beat)
	p99, worst := m.soFar()
	if p99 < 80*beat || worst != 100*beat {
		t.Errorf("p99 %v, worst %v", p99, worst)
	}
	for wait, want := range map[time.Duration]verdict{time.Second: pass, wakings*worst + time.Second: busy, wakings*worst + 2*time.Second: fail} {
		if got := m.once(wait, time.Second); got != want {
			t.Errorf("%v: %s", wait, got)
		}
	}
	if f := timed(busy, false, ""); f.verdict != fail {
		t.Error("a busy machine excuses a loss")
	}
}

func TestDemoTTLs(t *testing.T) {
	ttls := shuffledTTLs()
	if len(ttls) != shuffledCount || slices.Min(ttls) != shuffledFirst || slices.Max(ttls) != shuffledLast || slices.IsSorted(ttls) {
		t.Errorf("%d from %v to %v", len(ttls), slices.Min(ttls), slices.Max(ttls))
	}
}

func TestDemoUsage(t *testing.T) {
	for _, args := range [][]string{{"now"}, {"--nope"}, {"--against-http", "http://127.0.0.1:1"}} {
		if got := demo(args); got != 64 {
			t.Errorf("%q: exit code %d", args, got)
		}
	}
}
