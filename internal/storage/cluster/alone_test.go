package cluster_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

// single fills the folder of a broker alone.
func single(t *testing.T, dir string, messages uint64) {
	t.Helper()
	f, err := definitions.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Wait(f, definitions.Change{Put: []any{auth.VHost{Name: "/"}, definitions.Queue{VHost: "/", Name: "q", Incarnation: 1}, definitions.Incarnation(7)}}); err != nil {
		t.Fatal(err)
	}
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, segment.Folder), segment.Options{SegmentSize: 1 << 20, OnFailure: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	stored := make(chan error, messages)
	for seq := range messages {
		j.Append(1, []store.Record{message(seq+1, fmt.Appendf(make([]byte, 0, 20_000), "message %d", seq+1)[:20_000])}, func(err error) { stored <- err })
	}
	for range messages {
		if err := <-stored; err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAlone_CLU27: a broker alone that starts with the settings of a cluster is its first node, with everything that it had, and the others get that as a copy.
// A crash between the steps changes nothing.
func TestAlone_CLU27(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		if name == "n1" {
			single(t, c.Dir, 60)
			if err := vfs.OS.MakeDir(filepath.Join(c.Dir, "replica-1")); err != nil { // as left by a crash
				t.Fatal(err)
			}
		}
	})
	w := g.lead()
	for name := range g.nodes {
		g.until(func() bool { return g.nodes[name].Votes() })
	}
	w.fill(2, 1, 3)
	g.settled(w)
	old := w.name
	g.stop(old)
	w = g.lead()
	g.start(old)
	g.settled(w)
	if n := len(w.Take(1)); n != 60 {
		t.Errorf("%d messages, want 60", n)
	}
	d, err := w.definitions.Load()
	if err != nil || len(d.Queues) != 1 || d.Incarnation != 7 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := definitions.Open(g.cfg["n1"].Dir); err == nil || !errors.Is(err, definitions.ErrCluster) && !errors.Is(err, definitions.ErrInUse) {
		t.Errorf("a broker alone: %v", err)
	}
}

// TestAloneRefused_CLU27: a broker alone forms no cluster when another node of its settings belongs to one, or is not there; its folder stays as it is.
func TestAloneRefused_CLU27(t *testing.T) {
	g := newTrio(t, nil)
	g.lead()
	c := g.cfg["n1"]
	c.Dir, c.Timeout, c.Log = filepath.Join(t.TempDir(), "single"), 1, zerolog.Nop()
	single(t, c.Dir, 3)
	for text, members := range map[string]map[string]string{
		"belongs to the cluster": {"n0": testkit.FreeAddress(t), "n2": g.cfg["n2"].Members["n2"]},
		"when all nodes":         {"n0": testkit.FreeAddress(t), "n2": testkit.FreeAddress(t)},
	} {
		c.Name, c.Members = "n0", members
		if _, err := cluster.Open(c); !errors.Is(err, definitions.ErrSingle) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	f, err := definitions.Open(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}
