package cluster_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/storetest"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the longest time that an election may take on a busy machine.
const patience = 60 * time.Second

// trio is a cluster of three nodes in this process.
type trio struct {
	*testing.T
	cfg    map[string]cluster.Config
	nodes  map[string]*cluster.Node // that run
	events chan event
}

type event struct {
	of    *cluster.Node
	name  string
	leads bool
}

// term is the stores of the broker of one term.
type term struct {
	name string
	*cluster.Journal
	definitions *cluster.Definitions
	trio        *trio
}

func newTrio(t *testing.T, change func(name string, c *cluster.Config)) *trio {
	t.Helper()
	g := &trio{T: t, cfg: map[string]cluster.Config{}, nodes: map[string]*cluster.Node{}, events: make(chan event, 1000)}
	dir, members := t.TempDir(), map[string]string{}
	for _, name := range []string{"n1", "n2", "n3"} {
		members[name] = testkit.FreeAddress(t)
	}
	for _, name := range []string{"n3", "n2", "n1"} {
		c := cluster.Config{
			Dir: filepath.Join(dir, name), Name: name, Members: members, Secret: []byte("secret"), SegmentSize: 1 << 20, Hang: time.Minute, Log: zerolog.Nop(),
			OnFailure: func(err error) {
				if !errors.Is(err, cluster.ErrHung) { // a failed transfer of leadership
					t.Errorf("%s: %v", name, err)
				}
			},
		}
		if change != nil {
			change(name, &c)
		}
		g.cfg[name] = c
		g.start(name)
	}
	t.Cleanup(func() {
		for name := range maps.Clone(g.nodes) {
			g.stop(name)
		}
	})
	return g
}

func (g *trio) start(name string) {
	g.Helper()
	n, err := cluster.Open(g.cfg[name])
	if err != nil {
		g.Fatal(err)
	}
	g.nodes[name] = n
	go func() {
		for leads := range n.Leads() {
			g.events <- event{n, name, leads}
		}
	}()
}

func (g *trio) stop(name string) {
	g.Helper()
	n := g.nodes[name]
	delete(g.nodes, name)
	if err := n.Close(); err != nil {
		g.Errorf("%s: %v", name, err)
	}
}

// lead waits for a leader other than the nodes in not.
func (g *trio) lead(not ...*cluster.Node) *term {
	g.Helper()
	limit := time.After(patience)
	for {
		select {
		case e := <-g.events:
			if !e.leads || g.nodes[e.name] != e.of || slices.Contains(not, e.of) {
				continue
			}
			j, d, err := e.of.Lead()
			if err != nil {
				continue // it does not lead any more
			}
			return &term{e.name, j, d, g}
		case <-limit:
			g.Fatal("no leader")
		}
	}
}

// put stores a message, instead of an earlier try, and waits until it is confirmed.
func (w *term) put(q store.QueueID, seq uint64, body []byte) error {
	done := make(chan error, 1)
	w.Append(q, []store.Record{{Kind: store.Remove, First: seq, Last: seq, Why: store.Purged}, message(seq, body)}, func(err error) { done <- err })
	return <-done
}

func message(seq uint64, body []byte) store.Record {
	return store.Record{Kind: store.Put, First: seq, Last: seq, Time: 1, Deadline: store.Never, TTL: -1, RoutingKey: []byte("k"), Body: body}
}

// settled waits until all running nodes have what a term has stored, and returns the messages of each.
func (g *trio) settled(w *term) map[string]string {
	g.Helper()
	got, want := map[string]string{}, w.trio.contents(w.name)
	limit := time.After(patience)
	for name := range g.nodes {
		for got[name] = g.contents(name); got[name] != want; got[name] = g.contents(name) {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-limit:
				g.Fatalf("%s has\n%s\n%s has\n%s", name, got[name], w.name, want)
			}
		}
	}
	return got
}

// contents describes the replica of a node.
func (g *trio) contents(name string) string {
	g.Helper()
	text, err := g.nodes[name].Describe()
	if err != nil {
		g.Fatal(err)
	}
	return text
}

// Reopen implements storetest.Reopener: another node leads.
func (w *term) Reopen(t *testing.T) storetest.Reopener {
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g := w.trio
	g.T = t
	old := g.nodes[w.name]
	if err := old.Resign(); err != nil {
		t.Logf("%s did not resign (%v): it is stopped", w.name, err)
		g.stop(w.name)
		g.start(w.name)
	}
	return g.lead(old)
}

// TestFailoverIsARestart_CLU1: for a broker, another leader's journal is its own after a restart.
func TestFailoverIsARestart_CLU1(t *testing.T) {
	patient := func(_ string, c *cluster.Config) { c.Timeout = 10 * time.Second } // no other elections, on a busy machine
	storetest.Exercise(t, func(t *testing.T) storetest.Reopener { return newTrio(t, patient).lead() })
}

// TestSameOnAllNodes_CLU1: records and definitions are the same on all nodes, whoever led and whoever was away.
func TestSameOnAllNodes_CLU1(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	w.define(definitions.Change{Put: []any{auth.VHost{Name: "/"}, definitions.Incarnation(7)}})
	confirmed := map[uint64]bool{}
	for round := range 6 {
		for i := range uint64(20) {
			if seq := uint64(round)*100 + i + 1; w.put(store.QueueID(1+i%3), seq, fmt.Appendf(nil, "message %d", seq)) == nil {
				confirmed[seq] = true
			}
		}
		w.define(definitions.Change{Put: []any{definitions.Exchange{VHost: "/", Name: fmt.Sprint("x", round), Type: "direct"}}})
		w.Append(1, []store.Record{{Kind: store.Remove, First: uint64(round)*100 + 1, Last: uint64(round)*100 + 4, Why: store.Acked}}, nil)
		old := w.name
		g.stop(old)
		w = g.lead()
		g.start(old)
	}
	g.settled(w)
	d, err := w.definitions.Load()
	if err != nil || len(d.Exchanges) != 6 || d.Incarnation != 7 {
		t.Errorf("%d exchanges, incarnation %d, %v", len(d.Exchanges), d.Incarnation, err)
	}
	found := map[uint64]bool{}
	for _, q := range w.Queues() {
		for _, m := range w.Take(q) {
			found[m.Seq] = true
		}
	}
	for seq := range confirmed {
		if removed := seq%100 >= 1 && seq%100 <= 4 && (seq%100-1)%3 == 0; !found[seq] && !removed {
			t.Errorf("message %d is lost", seq)
		}
	}
}

// slow is a disk whose syncs take a while.
type slow struct{ vfs.FS }

type slowFile struct{ vfs.File }

func (s slow) Open(name string) (vfs.File, error) {
	f, err := s.FS.Open(name)
	return slowFile{f}, err
}

func (s slow) Create(name string, size int64) (vfs.File, error) {
	f, err := s.FS.Create(name, size)
	return slowFile{f}, err
}

func (f slowFile) Sync() error {
	<-time.After(15 * time.Millisecond)
	return f.File.Sync()
}

// TestLeaderFollowerLeader_SlowDisk: a node that leads, follows and leads again with writes under way loses nothing that was confirmed,
// and refuses what comes after its term.
func TestLeaderFollowerLeader_SlowDisk(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		if name == "n1" {
			c.FS = slow{vfs.OS}
		}
	})
	var confirmed []uint64
	var results [](chan error)
	var terms []*term
	w := g.lead()
	for round := range 8 {
		terms = append(terms, w)
		for i := range uint64(50) {
			seq, done := uint64(round)*1000+i+1, make(chan error, 1)
			w.Append(1, []store.Record{message(seq, make([]byte, 2000))}, func(err error) { done <- err })
			results = append(results, done)
		}
		old := g.nodes[w.name]
		_ = old.Resign() // with writes under way; a failed transfer leaves the leader, which stays it
		if g.nodes[w.name].Leader() == w.name {
			g.stop(w.name)
			g.start(w.name)
		}
		w = g.lead(old)
	}
	for n, done := range results {
		if <-done == nil {
			confirmed = append(confirmed, uint64(n/50)*1000+uint64(n%50)+1)
		}
	}
	for _, old := range terms {
		if err := old.put(1, 99_999, nil); err == nil {
			t.Error("a deposed leader's journal has accepted a record")
		}
	}
	g.settled(w)
	found := map[uint64]bool{}
	for _, m := range w.Take(1) {
		found[m.Seq] = true
	}
	for _, seq := range confirmed {
		if !found[seq] {
			t.Errorf("message %d is lost", seq)
		}
	}
	if found[99_999] {
		t.Error("a record came after the end of its term")
	}
}

// TestEndOfTheLeader_CLU7: the others elect a leader when the process of the leader has ended, even if they would wait for a silent one
// for ever.
func TestEndOfTheLeader_CLU7(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	w.fill(1, 1, 3)
	g.settled(w)
	for _, n := range g.nodes {
		n.SetTimeout(24 * time.Hour)
		n.AwaitVote()
	}
	g.stop(w.name)
	w = g.lead()
	w.fill(1, 4, 3)
}

// steady makes nodes patient enough that a busy machine elects no other leader by itself: for tests that are not about elections.
func steady(_ string, c *cluster.Config) { c.Timeout = 4 * time.Second }

// shortLog makes snapshots frequent.
func shortLog(_ string, c *cluster.Config) {
	c.SnapshotEvery, c.Kept, c.Retention = 200<<10, 100<<10, 100<<10
}

// fill stores n messages of 20 kB.
func (w *term) fill(q store.QueueID, first, n uint64) {
	w.trio.Helper()
	for seq := first; seq < first+n; seq++ {
		w.sure(func() error { return w.put(q, seq, make([]byte, 20_000)) })
	}
}

// sure repeats an operation that may be repeated until a leader has stored it; w becomes its term.
func (w *term) sure(do func() error) {
	w.trio.Helper()
	for err := do(); err != nil; err = do() {
		if !errors.Is(err, cluster.ErrLost) && !errors.Is(err, store.ErrClosed) {
			w.trio.Fatal(err)
		}
		*w = *w.trio.lead() // on a busy machine the leader may have changed
	}
}

// define stores a change.
func (w *term) define(c definitions.Change) {
	w.trio.Helper()
	w.sure(func() error {
		_, err := definitions.Wait(w.definitions, c)
		return err
	})
}

// TestRestartAfterTruncation: all nodes stop when their logs begin after a snapshot, and have everything when they start again.
func TestRestartAfterTruncation(t *testing.T) {
	g := newTrio(t, shortLog)
	w := g.lead()
	w.fill(1, 1, 60)
	for round := range uint64(2) {
		before := g.settled(w)["n1"]
		for name := range maps.Clone(g.nodes) {
			g.stop(name)
		}
		for name := range g.cfg {
			g.start(name)
		}
		w = g.lead()
		if after := g.settled(w)["n1"]; after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		w.fill(2, round*100+1, 20)
	}
}

// TestSnapshot_CLU5: a node that was away for longer than the log gets a snapshot, goes on behind it, and keeps it over a restart; records
// that follow apply to what was in it.
func TestSnapshot_CLU5(t *testing.T) {
	g := newTrio(t, shortLog)
	w := g.lead()
	w.fill(1, 1, 5)
	away := "n1"
	if w.name == away {
		away = "n2"
	}
	g.stop(away)
	w.fill(1, 6, 60)
	w.define(definitions.Change{Put: []any{auth.VHost{Name: "v"}}})
	g.start(away)
	w.fill(2, 1, 10) // while the snapshot is sent
	g.settled(w)
	if _, err := os.Stat(filepath.Join(g.cfg[away].Dir, "replica-2")); err != nil {
		t.Errorf("it has got no copy: %v", err)
	}
	if g.nodes[w.name].Status().Copies.Sent == 0 {
		t.Error("no copy was sent")
	}
	if !g.nodes[away].Votes() {
		t.Error("the copy does not have the members")
	}
	w.sure(func() error {
		done := make(chan error, 1)
		w.Append(1, []store.Record{{Kind: store.Remove, First: 3, Last: 20, Why: store.Acked}}, func(err error) { done <- err })
		return <-done
	})
	w.fill(2, 11, 10)
	g.settled(w)
	g.stop(away)
	g.start(away)
	g.settled(w)
	g.stop(w.name)
	w = g.lead()
	if n := len(w.Take(1)); n != 65-18 {
		t.Errorf("%d messages", n)
	}
	w.fill(3, 1, 3)
}

// TestReplaceEveryMember_CLU6: every node is emptied and comes back as a new member, one after the other; the folders of their former
// lives are refused.
func TestReplaceEveryMember_CLU6(t *testing.T) {
	g := newTrio(t, shortLog)
	w := g.lead()
	w.fill(1, 1, 20)
	for i, name := range []string{"n1", "n2", "n3"} {
		g.stop(name)
		if w.name == name {
			w = g.lead()
		}
		c := g.cfg[name]
		if err := os.Rename(c.Dir, c.Dir+".old"); err != nil {
			t.Fatal(err)
		}
		g.start(name)
		w.fill(1, uint64(i)*10+21, 10)
		limit := time.After(patience)
		for !g.nodes[name].Votes() {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-limit:
				t.Fatalf("%s is no member again", name)
			}
		}
		g.settled(w)
	}
	for name := range maps.Clone(g.nodes) { // all of them have only what the new members have told each other
		g.stop(name)
		g.start(name)
		if name == w.name {
			w = g.lead()
		}
	}
	g.settled(w)
	if n := len(w.Take(1)); n != 50 {
		t.Errorf("%d messages, want 50", n)
	}
	name := "n1"
	if w.name == name {
		name = "n2"
	}
	g.stop(name)
	c := g.cfg[name]
	c.Dir += ".old"
	refused := make(chan string, 100)
	c.Log = zerolog.New(lines(func(s string) { refused <- s }))
	n, err := cluster.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, refused, "must be emptied")
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	w.fill(4, 1, 3) // the others go on
}
