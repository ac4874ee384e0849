package cluster_test

import (
	"strings"
	"testing"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/wire"

	"github.com/rs/zerolog"
)

// level waits until all nodes that run have a level.
func (g *trio) level(want int) {
	g.Helper()
	for name, n := range g.nodes {
		g.until(func() bool { return n.Status().Level == want })
		if got := n.Status().Level; got != want {
			g.Errorf("%s: level %d, want %d", name, got, want)
		}
	}
}

// TestLevel_CLU35: with nodes of two versions the level is the older one; it is raised when the last node has the new program, and an older program is
// refused from then on, by its own folder and by the others.
func TestLevel_CLU35(t *testing.T) {
	const before, after = wire.Newest, wire.Newest + 1
	says := make(chan string, 1000)
	g := newTrio(t, func(name string, c *cluster.Config) {
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case says <- s:
			default:
			}
		}))
	})
	g.lead().fill(1, 1, 3)
	g.level(before)
	for i, name := range []string{"n1", "n2", "n3"} { // a rolling upgrade
		g.level(before)
		g.stop(name)
		c := g.cfg[name]
		c.Newest = after
		g.cfg[name] = c
		g.start(name)
		if i == 0 { // may go back as long as not all are new
			g.stop(name)
			c.Newest = before
			g.cfg[name] = c
			g.start(name)
			g.level(before)
			g.stop(name)
			c.Newest = after
			g.cfg[name] = c
			g.start(name)
		}
	}
	w := g.lead()
	w.fill(1, 4, 3)
	g.level(after)
	old := others(w.name)[0]
	g.stop(old)
	c := g.cfg[old]
	c.Newest = before
	if n, err := cluster.Open(c); err == nil || !strings.Contains(err.Error(), "too old for this data folder") {
		t.Errorf("its own folder: %v", err)
		if n != nil {
			_ = n.Close()
		}
	}
	c.Dir = t.TempDir() // a new life, which has not heard of the level
	n, err := cluster.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, says, "one of the two programs is too old")
	if n.Votes() {
		t.Error("it is a member")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	w.fill(1, 7, 3)
}
