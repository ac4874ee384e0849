package cluster_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/forced"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/vfs"
)

// TestForget_CLU31: when a majority is lost for ever, the node that is left forgets it and goes on with all that it has. The others, if they come back, are another cluster;
// an emptied one joins.
func TestForget_CLU31(t *testing.T) {
	said := make(chan string, 1000)
	g := newTrio(t, func(name string, c *cluster.Config) {
		shortLog(name, c)
		c.Log = logged(said)
	})
	w := g.lead()
	w.fill(1, 1, 40)
	g.settled(w)
	want := g.contents("n1")
	dir := g.cfg["n1"].Dir
	if _, err := forced.Forget(vfs.OS, dir, "n2"); !errors.Is(err, definitions.ErrInUse) {
		t.Errorf("a node that runs: %v", err)
	}
	for name := range maps.Clone(g.nodes) {
		g.stop(name)
	}
	for _, name := range []string{"n1", "n4", ""} {
		if _, err := forced.Forget(vfs.OS, dir, name); err == nil {
			t.Errorf("%q can be forgotten", name)
		}
	}
	f, err := forced.Forget(vfs.OS, dir, "rabbit@n2")
	if err != nil || f.Node != "n1" || !slices.Equal(f.Left, []string{"n1", "n3"}) || f.Last == 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := forced.Forget(vfs.OS, dir, "n3"); err != nil {
		t.Fatal(err)
	}
	g.start("n1")
	alone := g.lead()
	if got := g.contents("n1"); got != want {
		t.Errorf("it has\n%s\nwant\n%s", got, want)
	}
	alone.fill(1, 100, 3)
	g.start("n2")
	g.start("n3")
	if other := g.lead(g.nodes["n1"]); other.name == "n1" {
		t.Error("the others have elected n1")
	}
	waitFor(t, said, "no member of the cluster any more")
	g.stop("n2")
	g.stop("n3")
	if err := forced.Reset(vfs.OS, g.cfg["n2"].Dir); err != nil {
		t.Fatal(err)
	}
	g.start("n2")
	g.until(func() bool { return g.nodes["n2"].Votes() })
	alone.fill(1, 103, 3)
	g.settled(alone)
}

// TestForgetOnSeveral_CLU31: several nodes that forget the same one stay together, and the one with most leads.
func TestForgetOnSeveral_CLU31(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	w.fill(1, 1, 5)
	g.settled(w)
	two := others(w.name)
	g.stop(two[0])
	w.fill(1, 6, 5)
	g.settled(w)
	want := g.contents(w.name)
	g.stop(two[1])
	g.stop(w.name)
	for _, name := range []string{w.name, two[0]} {
		if _, err := forced.Forget(vfs.OS, g.cfg[name].Dir, two[1]); err != nil {
			t.Fatal(err)
		}
	}
	g.start(w.name)
	g.start(two[0])
	again := g.lead()
	if got := g.settled(again)[two[0]]; again.name != w.name || got != want {
		t.Errorf("%s leads with\n%s\nwant\n%s", again.name, got, want)
	}
	again.fill(1, 11, 3)
	g.settled(again)
}

// TestRefusals_CLU31: only folders of nodes of a cluster are changed.
func TestRefusals_CLU31(t *testing.T) {
	dir := t.TempDir()
	_, err := forced.Forget(vfs.OS, dir, "n2")
	if none := forced.Reset(vfs.OS, dir); !errors.Is(err, forced.ErrNoNode) || !errors.Is(none, forced.ErrNoNode) {
		t.Errorf("an empty folder: %v, %v", err, none)
	}
	single(t, dir, 3)
	_, err = forced.Forget(vfs.OS, dir, "n2")
	if own := forced.Reset(vfs.OS, dir); !errors.Is(err, forced.ErrNoNode) || !errors.Is(own, definitions.ErrSingle) {
		t.Errorf("a broker alone: %v, %v", err, own)
	}
}
