package cluster_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
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

// TestNoHandover_CLU12: a leader that was to hand over to a node that does not hear it refuses everything, ends, and another one leads.
func TestNoHandover_CLU12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 10)
		c := trios.New(t, 800*time.Millisecond, func(c *cluster.Config) { c.OnFailure = func(err error) { failed <- err } })
		time.Sleep(time.Second)
		old, target := c.Leader, ""
		for _, target = range trios.Names {
			if target != old {
				break
			}
		}
		c.Network.Cut(old, target, true)
		done := make(chan error, 1)
		go func() { done <- c.Node(old).Order(target) }()
		time.Sleep(10 * time.Millisecond)
		refused := make(chan error, 1)
		c.Journal.Append(1, []store.Record{message(1, nil)}, func(err error) { refused <- err })
		if err := <-refused; !errors.Is(err, cluster.ErrLost) {
			t.Error("not refused:", err)
		}
		if err := <-failed; !errors.Is(err, cluster.ErrHung) {
			t.Error(err)
		}
		if err := <-done; err == nil {
			t.Error("it has handed over")
		}
		if err := c.Node(old).Close(); err != nil { // as its process ends
			t.Error(err)
		}
		c.Lead(old)
		for _, name := range trios.Names {
			if name != old {
				if err := c.Node(name).Close(); err != nil {
					t.Error(err)
				}
			}
		}
		c.Network.Close()
	})
}

// TestNoVotes_CLU8: a node that cannot store a vote ends, and the others go on.
func TestNoVotes_CLU8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks, failed := map[string]*vfs.Memory{}, make(chan string, 10)
		c := trios.New(t, 800*time.Millisecond, func(c *cluster.Config) {
			disks[c.Name] = c.FS.(*vfs.Memory)
			c.OnFailure = func(err error) { failed <- c.Name + ": " + err.Error() }
		})
		var others []string
		for _, name := range trios.Names {
			if name != c.Leader {
				others = append(others, name)
			}
		}
		time.Sleep(time.Second)
		disks[others[0]].Fail(func(o vfs.Operation) *vfs.Fault {
			if strings.HasPrefix(filepath.Base(o.Name), "vote") {
				return &vfs.Fault{Err: errors.New("broken")}
			}
			return nil
		})
		if err := c.Node(c.Leader).TransferLeadership(others[1]); err != nil {
			t.Fatal(err)
		}
		if got := <-failed; !strings.HasPrefix(got, others[0]+": the votes of this node") {
			t.Error(got)
		}
		c.Lead()
		stored := make(chan error, 1)
		c.Journal.Append(1, []store.Record{message(1, nil)}, func(err error) { stored <- err })
		if err := <-stored; err != nil {
			t.Error(err)
		}
		for _, name := range trios.Names {
			if err := c.Node(name).Close(); err != nil && name != others[0] {
				t.Error(err)
			}
		}
		c.Network.Close()
	})
}
