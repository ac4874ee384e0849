package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/store/memory"
	"candlemark/protocol"
	"candlemark/supervision"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestScriptsHaveNames(t *testing.T) {
	known := map[string]bool{}
	for _, sc := range scripts() {
		if known[sc.id] || len(sc.steps) == 0 {
			t.Errorf("%s: twice, or empty", sc.id)
		}
		known[sc.id] = true
	}
	for _, e := range explanations {
		if !known[e.id] || e.reason == "" || len(e.theirs)+len(e.ours) == 0 {
			t.Errorf("explanation of %s: no such script, or nothing in it", e.id)
		}
	}
}

// TestCompatibilityDocument checks that docs/compatibility.md equals the table; CANDLEMARK_REWRITE=1 rewrites it.
func TestCompatibilityDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "compatibility.md")
	if os.Getenv("CANDLEMARK_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(compatibility()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != compatibility() {
		t.Errorf("docs/compatibility.md is not what the table says (%v): write it with --doc", err)
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		name        string
		list, lines []string
		want        bool
	}{
		{"nothing", nil, nil, true},
		{"a text", texts("b"), texts("abc"), true},
		{"parts in order", texts("a … c"), texts("abc"), true},
		{"parts out of order", texts("c … a"), texts("abc"), false},
		{"a line without text", texts("b"), texts("abc", "x"), false},
		{"a text without line", texts("b", "y"), texts("abc"), false},
		{"ends follow from others", texts("b"), texts("abc", endOfConnection, noAnswer), true},
	}
	for _, test := range tests {
		if got := covers(test.list, test.lines); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestDiffer(t *testing.T) {
	a, b := newTranscript(), newTranscript()
	for _, side := range []*transcript{a, b} {
		side.said(1, 1, "ask")
		side.saw(1, 1, "same")
	}
	if differ(a, b) != nil {
		t.Error("equal transcripts differ")
	}
	a.saw(1, 1, "only a")
	b.saw(1, 1, "only b")
	b.said(1, 1, "bye")
	a.said(1, 1, "bye")
	d := differ(a, b)
	want := "  connection 1 channel 1|      > ask|      < same|    A < only a|    B < only b|      > bye"
	if got := strings.Join(d.shown, "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestNormalise(t *testing.T) {
	tests := [][2]string{
		{"no queue 'ztok1q'", "no queue '~q'"},
		{"amq.gen-0123456789-_ABCDEFabcd", "amq.gen-*"},
		{"amq.ctag-0123456789-_ABCDEFabcd", "amq.ctag-*"},
		{"{noproc,<0.12.0>}", "{noproc,<pid>}"},
	}
	for _, test := range tests {
		if got := normalise(test[0], "ztok1"); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
	deaths := protocol.Table{{Key: "time", Value: protocol.Timestamp(5)}, {Key: "a", Value: int8(1)}}
	if got := describeValue(deaths); got != "{a:byte(1) time:timestamp(now)}" {
		t.Error(got)
	}
}

func startBroker(t *testing.T) string {
	t.Helper()
	journal := memory.New(memory.Options{})
	n, err := supervision.Start(supervision.Config{Users: auth.NewGuest(), Journal: journal, ProductVersion: "test", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	at, err := n.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return at.String()
}

// TestWithItself runs scripts of all areas against two Candlemark brokers: their answers must not differ, and every request must
// be answered.
func TestWithItself(t *testing.T) {
	chosen, err := choose(scripts(), "^(connection/frame|channel|exchange/redeclare|queue/exclusive|bind|ack|tx|cancel|dead/again|copy|reply-to)/")
	if err != nil {
		t.Fatal(err)
	}
	n := &bench{
		a: startBroker(t), b: startBroker(t), quiet: 20 * time.Millisecond, patient: 10 * time.Second,
		tries: 8, workers: 16, epoch: time.Now().Unix(),
	}
	var seen strings.Builder
	if verdicts := n.run(chosen); report(&seen, verdicts, false) {
		t.Error(seen.String())
	}
}
