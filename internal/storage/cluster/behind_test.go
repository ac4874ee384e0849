package cluster_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/store/vfs"
)

// TestLaggingNode_CLU13: a node that was away gets what it lacks from the log, even after snapshots.
func TestLaggingNode_CLU13(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		shortLog(name, c)
		steady(name, c)
		c.Retention = 64 << 20
	})
	w := g.lead()
	w.fill(1, 1, 5)
	g.settled(w)
	away := others(w.name)[0]
	g.stop(away)
	w.fill(1, 6, 60)
	g.start(away)
	g.settled(w)
	if _, err := os.Stat(filepath.Join(g.cfg[away].Dir, "replica-1")); err != nil {
		t.Errorf("it has got a copy of all data: %v", err)
	}
}

// full is a disk without room for more files of the log while it is told to; measured is what it says of itself.
type full struct {
	vfs.FS
	full *atomic.Bool
}

func (f full) Create(name string, size int64) (vfs.File, error) {
	if f.full.Load() {
		return nil, vfs.ErrFull
	}
	return f.FS.Create(name, size)
}

func (f full) Free(dir string) (uint64, error) {
	if f.full.Load() {
		return 1000, nil
	}
	return f.FS.Free(dir)
}

// TestFullFollower_CLU14: a follower whose disk is full stays a member, and goes on when there is room; a leader learns how much room a
// majority has.
func TestFullFollower_CLU14(t *testing.T) {
	disks := map[string]full{}
	g := newTrio(t, func(name string, c *cluster.Config) {
		shortLog(name, c)
		steady(name, c)
		disks[name] = full{vfs.OS, &atomic.Bool{}}
		c.FS = disks[name]
	})
	w := g.lead()
	w.fill(1, 1, 2)
	two := others(w.name)
	disks[two[0]].full.Store(true)
	w.fill(1, 3, 5)
	if n := g.nodes[w.name].FreeDisk(); n < 1<<20 {
		t.Errorf("one of three is full: %d bytes are free", n)
	}
	disks[two[1]].full.Store(true)
	g.until(func() bool { return g.nodes[w.name].FreeDisk() == 1000 })
	for _, name := range two {
		disks[name].full.Store(false)
	}
	g.until(func() bool { return g.nodes[w.name].FreeDisk() > 1<<20 })
	w.fill(1, 8, 5)
	g.settled(w)
}

// TestReports_CLU33: a leader knows what the other nodes say of themselves; a follower asks nobody.
func TestReports_CLU33(t *testing.T) {
	g := newTrio(t, func(name string, c *cluster.Config) {
		steady(name, c)
		c.Report = func() json.RawMessage { return json.RawMessage(`{"name":"` + name + `"}`) }
	})
	w := g.lead()
	g.until(func() bool {
		for _, m := range g.nodes[w.name].Status().Members {
			if want := `{"name":"` + m.Name + `"}`; !m.Self && string(m.Report) != want {
				return false
			}
		}
		return true
	})
	for _, name := range others(w.name) {
		for _, m := range g.nodes[name].Status().Members {
			if m.Report != nil {
				t.Errorf("%s has asked %s", name, m.Name)
			}
		}
	}
}

// stops is a disk that stores, of the second copy of the data, only the first 2 MiB until it is mended.
type stops struct {
	vfs.FS
	stored *atomic.Int64
	failed chan struct{}
	mended *atomic.Bool
}

func (s stops) Create(name string, size int64) (vfs.File, error) {
	f, err := s.FS.Create(name, size)
	if err == nil && strings.Contains(name, "replica-2") {
		f = stopsFile{f, s}
	}
	return f, err
}

type stopsFile struct {
	vfs.File
	disk stops
}

func (f stopsFile) WriteAt(b []byte, at int64) (int, error) {
	if f.disk.stored.Add(int64(len(b))) > 2<<20 && !f.disk.mended.Load() {
		select {
		case f.disk.failed <- struct{}{}:
		default:
		}
		return 0, vfs.ErrFull
	}
	return f.File.WriteAt(b, at)
}

// TestCopyGoesOn_CLU28: a node that ends while it gets a copy goes on with it after its start; what it has is not sent again.
func TestCopyGoesOn_CLU28(t *testing.T) {
	disks := map[string]stops{}
	g := newTrio(t, func(name string, c *cluster.Config) {
		shortLog(name, c)
		disks[name] = stops{vfs.OS, &atomic.Int64{}, make(chan struct{}, 1), &atomic.Bool{}}
		disks[name].mended.Store(true) // on a busy machine another node may need a copy, too
		c.FS, c.CopyRate = disks[name], 64<<20
	})
	w := g.lead()
	w.fill(1, 1, 5)
	away := others(w.name)[0]
	g.stop(away)
	disks[away].mended.Store(false)
	w.fill(1, 6, 250)
	g.start(away)
	select {
	case <-disks[away].failed:
	case <-time.After(patience):
		t.Fatal("no copy was sent")
	}
	g.stop(away)
	disks[away].mended.Store(true)
	before := g.nodes[w.name].Status().Copies
	g.start(away)
	g.settled(w)
	g.until(func() bool { return g.nodes[w.name].Status().Copies.Now == 0 })
	if c := g.nodes[w.name].Status().Copies; c.Spared-before.Spared < 1<<20 {
		t.Errorf("before the restart %+v, then %+v", before, c)
	}
	w.fill(1, 256, 5)
	g.settled(w)
}

// TestShortLives_CLU13: the log is shortened by what is behind the last snapshot, also when no process of a node has stored so much.
func TestShortLives_CLU13(t *testing.T) {
	g := newTrio(t, func(_ string, c *cluster.Config) { c.SnapshotEvery = 1 << 20 })
	w := g.lead()
	for life := range uint64(3) {
		w.fill(1, life*30+1, 30)
		g.settled(w)
		for name := range maps.Clone(g.nodes) {
			g.stop(name)
		}
		for name := range g.cfg {
			g.start(name)
		}
		w = g.lead()
	}
	for name, c := range g.cfg {
		g.until(func() bool {
			_, err := os.Stat(filepath.Join(c.Dir, "raft", "snapshot.json"))
			return err == nil
		})
		t.Log(name, "has a snapshot")
	}
}
