package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
)

// stored makes a data folder with three messages in its journal.
func stored(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	defs, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, segment.Folder), segment.Options{SegmentSize: 1 << 20})
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
	if err := defs.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func journalVerb(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	tool := Tool{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &errs, Founders: func(string) (*auth.Users, error) { return auth.NewGuest(), nil }}
	code = tool.Journal(args)
	return code, out.String(), errs.String()
}

func TestJournalVerb(t *testing.T) {
	dir := stored(t)
	code, out, _ := journalVerb("check", "--data-dir", dir)
	if code != 0 || !strings.Contains(out, "1 segments, 2 messages with 36 bytes") || !strings.Contains(out, "no damage found") {
		t.Fatalf("check: %d %s", code, out)
	}
	code, out, _ = journalVerb("dump", "--data-dir", dir)
	if code != 0 || strings.Count(out, "live, exchange") != 2 || strings.Count(out, "gone, exchange") != 1 || !strings.Contains(out, "remove    queue 9, 1 to 1") {
		t.Fatalf("dump: %d %s", code, out)
	}

	path := filepath.Join(dir, segment.Folder, "0000000001.segment")
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
		if code != 1 || !strings.Contains(out, "lost: message 0 of queue number 9 (name not recorded)") {
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
	defs, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"check", "adopt"} {
		code, _, errs := journalVerb(verb, "--data-dir", dir)
		if code != commandline.ExitUnavailable || !strings.HasSuffix(errs, "in use by another broker: stop it first, or look at another folder with --data-dir\n") {
			t.Fatalf("%d %s", code, errs)
		}
	}
	if code, _, errs := journalVerb("chek", "--data-dir", dir); code != commandline.ExitUsage || errs != JournalUsage+"\n" {
		t.Fatalf("%d %s", code, errs)
	}
	if err := defs.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"eat", "--data-dir", dir}, {"check", "--data-dir", dir, "more"}, {"check", "--colour"}} {
		if code, _, errs := journalVerb(args...); code != commandline.ExitUsage || errs == "" {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, _ := journalVerb("check", "--data-dir", t.TempDir()); code != commandline.ExitSoftware {
		t.Fatalf("no journal: %d", code)
	}
}

// TestJournalDrop: messages are dropped only of queues without a definition, given by number, and of the broker's
// internal queues, given by name.
func TestJournalDrop(t *testing.T) {
	dir := stored(t)
	defs, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := []any{
		auth.VHost{Name: "/"},
		definitions.Queue{VHost: "/", Name: "orders", Type: "classic", Incarnation: 4},
		definitions.Queue{VHost: "/", Name: "candlemark.admin", Type: "classic", Incarnation: 5},
	}
	if _, err := definitions.Wait(defs, definitions.Change{Put: put}); err != nil {
		t.Fatal(err)
	}
	if err := defs.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		want string
		code int
		args []string
	}{
		{"journal drop", commandline.ExitUsage, nil},
		{"'orders' in vhost '/' is in the definitions", commandline.ExitSoftware, []string{"9", "orders"}},
		{"'orders' in vhost '/' is in the definitions", commandline.ExitSoftware, []string{"4"}},
		{`no messages of a queue "8"`, commandline.ExitSoftware, []string{"9", "8"}},
		{`no messages of a queue "9x"`, commandline.ExitSoftware, []string{"9x"}},
		{"queue number 9 (name not recorded): 2 messages dropped\nqueue 'candlemark.admin' in vhost '/' (number 5): 0 messages dropped\n", 0, []string{"9", "candlemark.admin"}},
		{`no messages of a queue "9"`, commandline.ExitSoftware, []string{"9"}},
		{`no messages of a queue "candlemark.admin"`, commandline.ExitSoftware, []string{"candlemark.admin"}},
	} {
		code, out, errs := journalVerb(append([]string{"drop", "--data-dir", dir}, tc.args...)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("drop %v: %d, %s%s", tc.args, code, out, errs)
		}
	}
}

// TestJournalDropByName: messages of a queue are dropped by the name recorded in the journal, even if a queue of this name is defined.
func TestJournalDropByName(t *testing.T) {
	dir := stored(t)
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, segment.Folder), segment.Options{SegmentSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[store.QueueID]store.Name{
		9: {VHost: "/", Queue: "orders"}, 10: {VHost: "a", Queue: "b/c"}, 11: {VHost: "a/b", Queue: "c"}, 12: {VHost: "/", Queue: "orders"}, 13: {VHost: "a", Queue: "none"},
	} {
		records := []store.Record{store.Naming(name), {Kind: store.Put, First: 1, Last: 1, Deadline: store.Never}}
		if id == 13 {
			records = records[:1]
		}
		j.Append(id, records, nil)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	defs, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Wait(defs, definitions.Change{Put: []any{auth.VHost{Name: "/"}, definitions.Queue{VHost: "/", Name: "orders", Type: "classic", Incarnation: 4}}}); err != nil {
		t.Fatal(err)
	}
	if err := defs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := journalVerb("dump", "--data-dir", dir); !strings.Contains(out, "queue 9 is the queue 'orders' in vhost '/'\n") {
		t.Errorf("dump: %s", out)
	}
	for _, tc := range []struct {
		want string
		code int
		args []string
	}{
		{"'orders' in vhost '/' is in the definitions", commandline.ExitSoftware, []string{"orders"}},
		{`"a/b/c" is the name of the queue 'b/c' in vhost 'a' (number 10) and of the queue 'c' in vhost 'a/b' (number 11)`, commandline.ExitSoftware, []string{"//orders", "a/b/c"}},
		{`no messages of a queue "a/none"`, commandline.ExitSoftware, []string{"//orders", "a/none"}},
		{"queue 'b/c' in vhost 'a' (number 10): 1 messages dropped\n", 0, []string{"10"}},
		{"queue 'orders' in vhost '/' (number 9): 3 messages dropped\nqueue 'orders' in vhost '/' (number 12): 1 messages dropped\n", 0, []string{"//orders", "12"}},
		{"'orders' in vhost '/' is in the definitions", commandline.ExitSoftware, []string{"//orders"}},
		{"queue 'c' in vhost 'a/b' (number 11): 1 messages dropped\n", 0, []string{"a/b/c"}},
	} {
		code, out, errs := journalVerb(append([]string{"drop", "--data-dir", dir}, tc.args...)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("drop %v: %d, %s%s", tc.args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"drop", "--help"}, {"--help"}} {
		if code, out, errs := journalVerb(args...); code != 0 || !strings.Contains(out+errs, "//orders is the queue") {
			t.Errorf("%v: %d, %s%s", args, code, out, errs)
		}
	}
}
