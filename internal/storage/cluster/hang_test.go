package cluster_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// stuck is a disk that hangs while it is told to.
type stuck struct {
	vfs.FS
	hangs *atomic.Bool
	over  chan struct{} // closed when it works again
}

type stuckFile struct {
	vfs.File
	of stuck
}

func (s stuck) Open(name string) (vfs.File, error) {
	f, err := s.FS.Open(name)
	return stuckFile{f, s}, err
}

func (s stuck) Create(name string, size int64) (vfs.File, error) {
	f, err := s.FS.Create(name, size)
	return stuckFile{f, s}, err
}

func (f stuckFile) Sync() error {
	if f.of.hangs.Load() {
		<-f.of.over
	}
	return f.File.Sync()
}

// TestHungDisk_CLU12: a leader whose disk hangs, with heartbeats that need no disk, is followed by another one, which has all that was confirmed.
func TestHungDisk_CLU12(t *testing.T) {
	disks, failed := map[string]stuck{}, make(chan error, 10)
	g := newTrio(t, func(name string, c *cluster.Config) {
		disks[name] = stuck{vfs.OS, &atomic.Bool{}, make(chan struct{})}
		c.FS, c.Hang = disks[name], time.Second
		c.OnFailure = func(err error) { failed <- err }
	})
	w := g.lead()
	w.fill(1, 1, 3)
	old := w.name
	disks[old].hangs.Store(true)
	late := make(chan error, 1)
	w.Append(1, []store.Record{message(99, nil)}, func(err error) { late <- err })
	if err := <-failed; !errors.Is(err, cluster.ErrHung) {
		t.Error(err)
	}
	hung := g.nodes[old]
	delete(g.nodes, old)
	w = g.lead()
	close(disks[old].over)
	if err := hung.Close(); err != nil {
		t.Error(err)
	}
	if n := len(w.Take(1)); n != 3 {
		t.Errorf("%d messages", n)
	}
	w.fill(2, 1, 3)
	if err := <-late; err == nil {
		t.Error("what the hung leader could not store was confirmed")
	}
}

// TestRefrain_CLU12: a node on which the broker cannot start leaves the lead to others for a while.
func TestRefrain_CLU12(t *testing.T) {
	g := newTrio(t, nil)
	w := g.lead()
	n := g.nodes[w.name]
	usual := n.Wait()
	n.Refrain(100 * time.Millisecond)
	if got := n.Wait(); got != 4*usual {
		t.Errorf("it waits for %v", got)
	}
	g.until(func() bool { return n.Wait() == usual })
}
