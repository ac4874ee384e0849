package offline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
)

// lostQueues makes a data folder as stored does, with recorded names for queues 10 to 13; queue 9 has none, and 4 is defined as //orders.
func lostQueues(t *testing.T) string {
	t.Helper()
	dir := stored(t)
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, segment.Folder), segment.Options{SegmentSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[store.QueueID]store.Name{
		10: {VHost: "/", Queue: "invoices"}, 11: {VHost: "gone", Queue: "a"}, 12: {VHost: "/", Queue: "orders"}, 13: {VHost: "/", Queue: "deleted"},
	} {
		j.Append(id, []store.Record{store.Naming(name), {Kind: store.Put, First: 1, Last: 1, Deadline: store.Never}}, nil)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, dir, definitions.Change{Put: []any{
		auth.VHost{Name: "/", DefaultQueueType: "quorum"},
		definitions.Queue{VHost: "/", Name: "orders", Type: "classic", Incarnation: 4},
		definitions.Queue{VHost: "/", Name: "deleted", Type: "classic", Incarnation: 13},
	}})
	change(t, dir, definitions.Change{Delete: []any{definitions.Queue{VHost: "/", Name: "deleted"}}})
	return dir
}

// change stores a change, if it is not empty, and returns all definitions.
func change(t *testing.T, dir string, c definitions.Change) *definitions.Definitions {
	t.Helper()
	defs, err := definitions.Open(dir)
	if err == nil && len(c.Put)+len(c.Delete) > 0 {
		_, err = definitions.Wait(defs, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := defs.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := defs.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestJournalAdopt: queues without definitions are declared under the names and numbers recorded in the journal, all of
// them or none. Queues whose name is unknown or taken are declared only under a name given with --as.
func TestJournalAdopt(t *testing.T) {
	dir := lostQueues(t)
	for _, tc := range []struct {
		want string
		code int
		args []string
	}{
		{"queue number 9 (name not recorded): give it another one", commandline.ExitSoftware, nil},
		{"queue 'orders' in vhost '/' (number 12): another queue with messages has this name", commandline.ExitSoftware, []string{"//orders", "//invoices"}},
		{`no messages of a queue "//deleted"`, commandline.ExitSoftware, []string{"//deleted"}},
		{`no messages of a queue "4"`, commandline.ExitSoftware, []string{"4"}},
		{"--as requires a single queue", commandline.ExitSoftware, []string{"--as", "x"}},
		{"--vhost requires --as", commandline.ExitSoftware, []string{"--vhost", "x", "9"}},
		{`"amq.x" cannot be the name`, commandline.ExitSoftware, []string{"--as", "amq.x", "9"}},
		{"is reserved for the broker", commandline.ExitSoftware, []string{"--as", "candlemark.admin", "9"}},
		{"another queue with messages has this name", commandline.ExitSoftware, []string{"--as", "orders", "9"}},
		{"--arguments", commandline.ExitSoftware, []string{"--arguments", "{", "//invoices"}},
		{"x-message-ttl", commandline.ExitSoftware, []string{"--arguments", `{"x-message-ttl":-1}`, "//invoices"}},
		{"queue 'invoices' in vhost '/' (number 10): declared, with 1 messages", 0, []string{"--arguments", `{"x-message-ttl":1000,"x-queue-type":"classic"}`, "//invoices"}},
		{"queue 'found' in vhost '/' (number 9): declared, with 2 messages", 0, []string{"--as", "found", "9"}},
		{"queue 'orders.old' in vhost '/' (number 12): declared, with 1 messages", 0, []string{"--as", "orders.old", "//orders"}},
		{"vhost 'gone': created, without permissions for any user\nqueue 'a' in vhost 'gone' (number 11): declared, with 1 messages\n", 0, nil},
		{"no messages of queues that are not in the definitions", commandline.ExitSoftware, nil},
	} {
		before := change(t, dir, definitions.Change{})
		code, out, errs := journalVerb(append([]string{"adopt", "--data-dir", dir}, tc.args...)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("adopt %v: %d, %s%s", tc.args, code, out, errs)
		}
		if after := change(t, dir, definitions.Change{}); code != 0 && after.Revision != before.Revision {
			t.Errorf("adopt %v changed something", tc.args)
		}
	}
	d := change(t, dir, definitions.Change{})
	var got []string
	for _, q := range d.Queues {
		got = append(got, strings.Join([]string{q.VHost, q.Name, q.Type}, " "))
	}
	if want := []string{"/ found quorum", "/ invoices classic", "/ orders classic", "/ orders.old quorum", "gone a classic"}; !slices.Equal(got, want) {
		t.Errorf("queues %q", got)
	}
	if ttl, ok := d.Queues[1].Arguments.Get("x-message-ttl"); !ok || ttl != int64(1000) || d.Queues[1].Incarnation != 10 {
		t.Errorf("%+v", d.Queues[1])
	}
	if code, _, errs := journalVerb("drop", "--as", "x", "--data-dir", dir, "9"); code != commandline.ExitUsage || errs == "" {
		t.Errorf("drop --as: %d", code)
	}
}

// TestJournalAdoptWithoutDefinitions: if the definitions file is missing, adopt creates it with the defaults of a new broker.
func TestJournalAdoptWithoutDefinitions(t *testing.T) {
	dir := stored(t)
	if err := os.Remove(filepath.Join(dir, definitions.FileName)); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := journalVerb("adopt", "--data-dir", dir, "--as", "orders", "9"); code != 0 || !strings.Contains(out, "declared, with 2 messages") {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	d := change(t, dir, definitions.Change{})
	if len(d.Accounts) != 1 || d.Accounts[0].Name != "guest" || len(d.VHosts) != 1 || d.VHosts[0].Description == "" || len(d.Queues) != 1 {
		t.Errorf("%+v", d)
	}
	if code, _, errs := journalVerb("adopt", "--data-dir", filepath.Join(dir, "nowhere")); code != commandline.ExitSoftware || errs == "" {
		t.Errorf("%d %s", code, errs)
	}
}
