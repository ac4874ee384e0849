package cluster_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

// hourly gives the nodes wall clocks two hours apart.
func hourly(name string, c *cluster.Config) {
	by := map[string]time.Duration{"n1": -time.Hour, "n2": 0, "n3": time.Hour}[name]
	c.Machine = clock.WithWall(clock.System(), by)
}

// TestTimeGoesOn_CLU9: the time of the cluster goes on over failovers and over the end of all nodes, whatever their wall clocks show.
func TestTimeGoesOn_CLU9(t *testing.T) {
	g := newTrio(t, hourly)
	system := clock.System()
	elapsed := func() int64 { at, _ := system.Boottime(); return at }
	w := g.lead()
	first, began := g.nodes[w.name].Clock().Now(), elapsed()
	ahead := func(when string) {
		t.Helper()
		c := g.nodes[w.name].Clock()
		before := elapsed()
		by := time.Duration(int64(c.Now()-first) - (before - began))
		if by > 5*time.Millisecond || by < -time.Minute { // it is behind by what calls and answers take on a busy machine
			t.Errorf("%s, %s leads: %v ahead", when, w.name, by)
		}
	}
	for range 2 {
		old := w.name
		g.stop(old)
		w = g.lead()
		ahead("after a failover")
		g.start(old)
		w.fill(1, 1, 3)
		g.settled(w)
	}
	for name := range maps.Clone(g.nodes) {
		g.stop(name)
	}
	for name := range g.cfg {
		g.start(name)
	}
	w = g.lead()
	ahead("after the end of all nodes")
	for limit := time.After(patience); len(g.nodes[w.name].ApartClocks()) < 2; {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatal("the other nodes do not answer")
		}
	}
	if by := time.Duration(g.nodes[w.name].Clock().Wall()*int64(time.Millisecond) - time.Now().UnixNano()).Abs(); by > 30*time.Second {
		t.Errorf("dates are %v away from those of the clock in the middle", by)
	}
}

// TestClocksApart_CLU10: a leader warns of clocks far apart, and a node with such a clock cannot join.
func TestClocksApart_CLU10(t *testing.T) {
	said := make(chan string, 1000)
	g := newTrio(t, func(name string, c *cluster.Config) {
		if name == "n2" {
			c.Machine = clock.WithWall(clock.System(), 3*time.Second)
		}
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case said <- s:
			default:
			}
		}))
	})
	w := g.lead()
	waitFor(t, said, "clocks of two nodes of the cluster are apart")
	for name, by := range g.nodes[w.name].ApartClocks() {
		if far := by.Abs() > time.Second; far != (name == "n2" || w.name == "n2") {
			t.Errorf("%s leads, the clock of %s is %v ahead", w.name, name, by)
		}
	}
	away := "n1"
	if w.name == away {
		away = "n3"
	}
	g.stop(away)
	c := g.cfg[away]
	if err := os.RemoveAll(c.Dir); err != nil {
		t.Fatal(err)
	}
	c.Machine = clock.WithWall(clock.System(), -time.Minute)
	g.cfg[away] = c
	g.start(away)
	waitFor(t, said, "behind that of")
	if g.nodes[away].Votes() {
		t.Error("it has joined")
	}
	g.stop(away)
	c.Machine = nil
	g.cfg[away] = c
	g.start(away)
	w.fill(store.QueueID(1), 1, 1)
	g.settled(w)
}

// TestTimeOfANewLeader_CLU9: the time of a new leader is on the disks of all nodes at once, not with what is stored each second: if all nodes ended before
// that, they would go on with the time of the leader before, which may be ahead.
func TestTimeOfANewLeader_CLU9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks, dirs := map[string]vfs.FS{}, map[string]string{}
		c := trios.New(t, 800*time.Millisecond, func(c *cluster.Config) { disks[c.Name], dirs[c.Name] = c.FS, c.Dir })
		defer c.Close()
		time.Sleep(10 * time.Second)
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1100 * time.Millisecond))) // 0.9 s before it is stored
		c.Resign()
		c.Lead()
		term := c.Node(c.Leader).Term()
		time.Sleep(400 * time.Millisecond)
		for name, disk := range disks {
			path := filepath.Join(dirs[name], "raft", "time.json")
			size, err := disk.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := disk.OpenRead(path)
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, size)
			_, _ = f.ReadAt(b, 0)
			_ = f.Close()
			if want := fmt.Sprintf(`"term":%d`, term); !strings.Contains(string(b), want) {
				t.Errorf("%s has stored %s, not yet %s", name, b, want)
			}
		}
	})
}
