package main

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/internal/admin/config"
)

// The most recent lines of the log are kept, bounded in number and in bytes.
func TestRecentLines(t *testing.T) {
	r := &recentLines{}
	for i := range 2 * maxRecentLines {
		fmt.Fprintf(r, "line %d\n", i+1)
	}
	all := r.after(0)
	if len(all) != maxRecentLines || all[0].Text != "line 501" || all[0].ID != 501 || all[maxRecentLines-1].ID != 1000 {
		t.Errorf("%d lines, the first is %v", len(all), all[0])
	}
	if some := r.after(998); len(some) != 2 || some[0].Text != "line 999" {
		t.Error(some)
	}
	if none := r.after(1000); none != nil {
		t.Error(none)
	}
	for range 10 {
		_, _ = r.Write([]byte(strings.Repeat("x", maxRecentBytes/4)))
	}
	if all = r.after(0); len(all) != 4 || all[3].ID != 1010 || r.bytes > maxRecentBytes {
		t.Errorf("%d lines, %d bytes", len(all), r.bytes)
	}
	if n, err := r.Write([]byte(strings.Repeat("y", 3*maxRecentBytes))); n != 3*maxRecentBytes || err != nil {
		t.Error(n, err)
	}
	if all = r.after(0); len(all) != 1 || len(all[0].Text) != maxRecentBytes {
		t.Errorf("%d lines", len(all))
	}
}

// Recent lines are kept in every log format.
func TestLogIsKept(t *testing.T) {
	for _, format := range []string{"console", "json"} {
		before := processLog.after(0)
		last := uint64(0)
		if len(before) > 0 {
			last = before[len(before)-1].ID
		}
		log, _, err := logger(&strings.Builder{}, config.Config{LogFormat: format, LogLevel: "info"})
		if err != nil {
			t.Fatal(err)
		}
		log.Info().Str("name", "a\u202eb").Msg("for " + format)
		log.Debug().Msg("not this")
		found := processLog.after(last)
		if len(found) != 1 || !strings.HasPrefix(found[0].Text, `{"level":"info",`) || !strings.Contains(found[0].Text, `"message":"for `+format+`"}`) {
			t.Errorf("%s: %v", format, found)
		}
	}
}
