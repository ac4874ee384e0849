package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// diary says what happened to a cluster, and when, so that a late message has a cause.
type diary struct {
	mu    sync.Mutex
	lines []happened
}

type happened struct {
	at   time.Time
	what string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, happened{time.Now(), fmt.Sprintf(format, args...)})
}

// pauses notes when the test itself did not run, which is so when the machine has too much to do.
func (d *diary) pauses(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for last := time.Now(); ctx.Err() == nil; last = time.Now() {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if gap := time.Since(last); gap > time.Second {
			d.note("the test did not run for %v", gap.Round(time.Millisecond))
		}
	}
}

// between returns what happened in a span of time, with what the nodes have logged about who leads.
func (c *nodes) between(from, to time.Time) string {
	c.diary.mu.Lock()
	all := slices.Clone(c.diary.lines)
	c.diary.mu.Unlock()
	for i, log := range c.logs {
		text, _ := os.ReadFile(log)
		for line := range strings.Lines(string(text)) {
			var l struct {
				Time    time.Time `json:"time"`
				Message string    `json:"message"`
				Took    int64     `json:"took_ms"`
			}
			if json.Unmarshal([]byte(line), &l) == nil && (strings.Contains(l.Message, "lead") || strings.Contains(l.Message, "this node of the cluster")) {
				all = append(all, happened{l.Time, fmt.Sprintf("n%d: %s (%d ms)", i+1, l.Message, l.Took)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b happened) int { return a.at.Compare(b.at) })
	var list strings.Builder
	for _, h := range all {
		if !h.at.Before(from) && !h.at.After(to) {
			fmt.Fprintf(&list, "\n  %s %s", h.at.UTC().Format("15:04:05.000"), h.what)
		}
	}
	return list.String()
}
