package cluster

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// TestPromise_CLU5: a snapshot promises no entry that a power cut may take back: those that come while it is taken are not in it.
func TestPromise_CLU5(t *testing.T) {
	for seed := range uint64(20) {
		disk := vfs.NewMemory(seed)
		n := &Node{cfg: Config{FS: disk, Dir: t.TempDir(), SegmentSize: 1 << 20, Log: zerolog.Nop()}, ended: make(chan struct{})}
		r, err := n.openReplica(1)
		if err != nil {
			t.Fatal(err)
		}
		n.files.Store(r)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for number := uint64(1); ; number++ {
				select {
				case <-stop:
					return
				default:
				}
				put := store.Record{Kind: store.Put, First: number, Last: number, Time: 1, Deadline: store.Never, TTL: -1, Body: make([]byte, 100)}
				written := make(chan error, 1)
				r.journal.Apply(&segment.Entry{Number: number, Begin: number == 1, Parts: []segment.Part{{
					Queue: 1, Records: []store.Record{put}, Done: func(err error) { written <- err },
				}}})
				if <-written != nil {
					return
				}
			}
		}()
		for limit := time.Now().Add(time.Minute); r.journal.Applied() == 0 && time.Now().Before(limit); {
			<-time.After(100 * time.Microsecond)
		}
		k := &sink{state: &state{}}
		if err := (promise{n}).Persist(k); err != nil {
			t.Fatal(err)
		}
		disk.CrashAfter(0)
		close(stop)
		<-stopped
		_ = r.close()
		disk.Crash()
		if r, err = n.openReplica(1); err != nil {
			t.Fatal(err)
		}
		if has := r.journal.Applied(); has < k.state.Journal {
			t.Errorf("seed %d: the snapshot promises entry %d, the journal has %d", seed, k.state.Journal, has)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// nodeWithCopy returns a node with a replica, an empty log, and a copy up to entry 5 of term 2.
func nodeWithCopy(t *testing.T, disk vfs.FS, failed func(error)) *Node {
	t.Helper()
	n := &Node{cfg: Config{FS: disk, Dir: t.TempDir(), SegmentSize: 1 << 20, Log: zerolog.Nop(), OnFailure: failed}, ended: make(chan struct{})}
	n.machine = newMachine(n)
	for generation := range uint64(2) {
		r, err := n.openReplica(generation + 1)
		if err == nil && generation == 0 {
			n.files.Store(r)
		} else if err == nil {
			err = r.close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	n.snapshots = &snapshots{node: n, path: filepath.Join(n.cfg.Dir, "snapshot.json"), received: &state{
		Generation: 2, Index: 5, Term: 2, Configuration: raft.EncodeConfiguration(raft.Configuration{}),
	}}
	var err error
	if n.log, err = raftlog.Open(disk, filepath.Join(n.cfg.Dir, raftlog.Folder), raftlog.Options{}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTail_CLU5: a node whose log is longer than the copy of the data that it gets drops the log and starts again, also if it ended in between; one with a
// shorter log goes on.
func TestTail_CLU5(t *testing.T) {
	for name, last := range map[string]uint64{"longer": 9, "shorter": 3} {
		t.Run(name, func(t *testing.T) {
			failed := make(chan error, 1)
			disk := vfs.NewMemory(1)
			n := nodeWithCopy(t, disk, func(err error) { failed <- err })
			fill := func() {
				for i := uint64(1); i <= last; i++ {
					if err := n.log.StoreLogs([]*raft.Log{{Index: i, Term: 1}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var e raft.Log
			if err := (entries{n.log, &snapshots{saved: &state{Index: 1, Term: 2}}}).GetLog(1, &e); !errors.Is(err, raft.ErrLogNotFound) {
				t.Errorf("a leader would send entry 1 in place of a copy: %v", err)
			}
			fill()
			if n.snapshots.has(position{2, 5}) || !n.snapshots.has(position{1, 2}) {
				t.Error("it has the copy, or not its own log")
			}
			if err := n.install(); err != nil {
				t.Fatal(err)
			}
			if !n.snapshots.has(position{2, 5}) || !n.snapshots.has(position{1, 4}) || n.snapshots.has(position{2, 6}) {
				t.Error("it does not have the copy, or more")
			}
			if err := (entries{n.log, n.snapshots}).GetLog(5, &e); last < 5 && (err != nil || e.Term != 2) {
				t.Errorf("raft does not find the last entry of the copy: %v", err)
			}
			if last > 5 {
				if err := <-failed; !errors.Is(err, ErrTail) {
					t.Error(err)
				}
				if left, _ := n.log.LastIndex(); left != 0 {
					t.Errorf("the log ends with entry %d", left)
				}
				fill() // as if it had ended before that
			} else if n.failed() {
				t.Error("it has failed")
			}
			if err := n.follows(); err != nil {
				t.Error(err)
			}
			if left, _ := n.log.LastIndex(); left != 0 {
				t.Errorf("the log ends with entry %d after the start", left)
			}
			if err := errors.Join(n.log.Close(), n.replica().close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSecondCopy_CLU5: a copy of data that a node has is read and not installed, as raft would remove the entries behind it, which the node has
// acknowledged.
func TestSecondCopy_CLU5(t *testing.T) {
	to, from := twoPorts(t)
	receiver := newTransport("n1/1", to, 0, hclog.NewNullLogger())
	defer receiver.Close()
	sender := newTransport("n2/2", from, 0, hclog.NewNullLogger())
	defer sender.Close()
	receiver.node, sender.node = alone{}, alone{}
	receiver.has = func(position) bool { return true }
	go func() {
		for call := range receiver.calls {
			t.Errorf("raft gets %T", call.Command)
		}
	}()
	content := make([]byte, 1<<20)
	var a raft.InstallSnapshotResponse
	c := &raft.InstallSnapshotRequest{Term: 3, LastLogIndex: 7, LastLogTerm: 2, Size: int64(len(content))}
	for range 2 {
		if err := sender.InstallSnapshot("n1/1", "n1/1", c, &a, bytes.NewReader(content)); err != nil || !a.Success || a.Term != 3 {
			t.Errorf("%v, %+v", err, a)
		}
	}
	close(receiver.calls)
}
