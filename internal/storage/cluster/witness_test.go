package cluster_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"

	"github.com/rs/zerolog"
)

// rolledBack starts a cluster whose nodes old have five messages, while the others know that they had ten. They are stopped.
func rolledBack(t *testing.T, timeout time.Duration, old func(leader string) []string) (g *trio, leader string, said chan string) {
	said = make(chan string, 10_000)
	g = newTrio(t, func(_ string, c *cluster.Config) {
		c.Timeout = timeout
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case said <- s:
			default:
			}
		}))
	})
	w := g.lead()
	w.fill(1, 1, 5)
	g.settled(w)
	list := old(w.name)
	for _, name := range list {
		g.stop(name)
		if name == w.name {
			w = g.lead()
		}
		if err := os.CopyFS(g.cfg[name].Dir+".old", os.DirFS(g.cfg[name].Dir)); err != nil {
			t.Fatal(err)
		}
		g.start(name)
	}
	w.fill(1, 6, 5)
	g.settled(w)
	for _, n := range g.nodes {
		g.until(func() bool { return n.Knows("n1", "n2", "n3") })
	}
	for name := range g.cfg {
		g.stop(name)
	}
	for _, name := range list {
		dir := g.cfg[name].Dir
		if err := os.RemoveAll(filepath.Join(dir+".old", "raft", "peers.json")); err != nil {
			t.Fatal(err)
		}
		for _, move := range [][2]string{{dir, dir + ".new"}, {dir + ".old", dir}, {filepath.Join(dir+".new", "raft", "peers.json"), filepath.Join(dir, "raft", "peers.json")}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g, w.name, said
}

// until waits for a condition.
func (g *trio) until(ok func() bool) {
	g.Helper()
	for limit := time.After(patience); !ok(); {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			g.Fatal("it takes too long")
		}
	}
}

// others returns the nodes other than one.
func others(name string) (list []string) {
	for _, other := range []string{"n1", "n2", "n3"} {
		if other != name {
			list = append(list, other)
		}
	}
	return list
}

// TestOldCopies_CLU11: two nodes that start from older copies of their folders, a majority, elect nobody: they have acknowledged what they lack.
// They get it from the third node.
func TestOldCopies_CLU11(t *testing.T) {
	g, whole, said := rolledBack(t, 0, others)
	for _, name := range others(whole) {
		g.start(name)
	}
	waitFor(t, said, "has lost entries that it has acknowledged")
	for _, name := range others(whole) {
		if leader := g.nodes[name].Leader(); leader != "" {
			t.Errorf("%s leads", leader)
		}
	}
	g.start(whole)
	w := g.lead()
	if n := len(w.Take(1)); n != 10 {
		t.Errorf("%d messages, want 10", n)
	}
	g.settled(w)
}

// TestOldCopiesOfAll_CLU11: when all nodes have lost entries, none is waited for, for ever.
func TestOldCopiesOfAll_CLU11(t *testing.T) {
	g, _, said := rolledBack(t, 40*time.Millisecond, func(string) []string { return []string{"n1", "n2", "n3"} })
	for name := range g.cfg {
		g.start(name)
	}
	waitFor(t, said, "has lost entries that it has acknowledged")
	w := g.lead()
	if n := len(w.Take(1)); n < 5 {
		t.Errorf("%d messages, want 5", n)
	}
}
