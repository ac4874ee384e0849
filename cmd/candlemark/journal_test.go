package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/auth"
	"candlemark/internal/meta"
	"candlemark/internal/store"
	"candlemark/internal/store/segment"
	"candlemark/internal/store/vfs"
)

// stored makes a data folder with three messages in its journal.
func stored(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	definitions, err := meta.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, journalFolder), segment.Options{SegmentSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for seq := range uint64(3) {
		records = append(records, store.Record{
			Kind: store.Put, First: seq, Last: seq, Deadline: store.Never, RoutingKey: []byte("orders"), Body: []byte("a body to be found"),
		})
	}
	j.Append(9, records, nil)
	j.Append(9, []store.Record{{Kind: store.Remove, First: 1, Last: 1}}, nil)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := definitions.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func journalVerb(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = inspectJournal(args, func(string) string { return "" }, &out, &errs)
	return code, out.String(), errs.String()
}

func TestJournalVerb(t *testing.T) {
	dir := stored(t)
	code, out, _ := journalVerb("check", "--data-dir", dir)
	if code != 0 || !strings.Contains(out, "1 segments, 2 messages with 36 bytes") || !strings.Contains(out, "nothing is damaged") {
		t.Fatalf("check: %d %s", code, out)
	}
	code, out, _ = journalVerb("dump", "--data-dir", dir)
	if code != 0 || strings.Count(out, "live, exchange") != 2 || strings.Count(out, "gone, exchange") != 1 || !strings.Contains(out, "remove    queue 9, 1 to 1") {
		t.Fatalf("dump: %d %s", code, out)
	}

	path := filepath.Join(dir, journalFolder, "0000000001.segment")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), "body to be found")] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"check", "repair"} {
		code, out, _ = journalVerb(verb, "--data-dir", dir)
		if code != 1 || !strings.Contains(out, "lost: message 0 of queue 9") {
			t.Fatalf("%s: %d %s", verb, code, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "quarantine", "0000000001.segment")); err != nil {
		t.Fatal(err)
	}
	code, out, _ = journalVerb("dump", "--data-dir", dir)
	if code != 0 || strings.Count(out, "live, exchange") != 1 || strings.Contains(out, "damage") {
		t.Fatalf("dump: %d %s", code, out)
	}
}

func TestJournalVerbRefuses(t *testing.T) {
	dir := stored(t)
	definitions, err := meta.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	code, _, errs := journalVerb("check", "--data-dir", dir)
	if code != exitUnavailable || !strings.Contains(errs, "in use") {
		t.Fatalf("%d %s", code, errs)
	}
	if err := definitions.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"eat", "--data-dir", dir}, {"check", "--data-dir", dir, "more"}, {"check", "--colour"}} {
		if code, _, errs := journalVerb(args...); code != exitUsage || errs == "" {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, _ := journalVerb("check", "--data-dir", t.TempDir()); code != exitSoftware {
		t.Fatalf("no journal: %d", code)
	}
}

// TestJournalDrop: messages are dropped by the number of a queue that nobody knows, or by one of the broker's own names; nothing else is.
func TestJournalDrop(t *testing.T) {
	dir := stored(t)
	definitions, err := meta.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := []any{
		auth.VHost{Name: "/"},
		meta.Queue{VHost: "/", Name: "orders", Type: "classic", Incarnation: 4},
		meta.Queue{VHost: "/", Name: "candlemark.admin", Type: "classic", Incarnation: 5},
	}
	if _, err := meta.Wait(definitions, meta.Change{Put: put}); err != nil {
		t.Fatal(err)
	}
	if err := definitions.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		want string
		code int
		args []string
	}{
		{"journal drop", exitUsage, nil},
		{"'orders' in vhost '/' is defined", exitSoftware, []string{"9", "orders"}},
		{"'orders' in vhost '/' is defined", exitSoftware, []string{"4"}},
		{`no messages of a queue "8"`, exitSoftware, []string{"9", "8"}},
		{`no messages of a queue "9x"`, exitSoftware, []string{"9x"}},
		{"queue 9: 2 messages dropped\nqueue 5: 0 messages dropped\n", 0, []string{"9", "candlemark.admin"}},
		{`no messages of a queue "9"`, exitSoftware, []string{"9"}},
		{`no messages of a queue "candlemark.admin"`, exitSoftware, []string{"candlemark.admin"}},
	} {
		code, out, errs := journalVerb(append([]string{"drop", "--data-dir", dir}, tc.args...)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("drop %v: %d, %s%s", tc.args, code, out, errs)
		}
	}
}
