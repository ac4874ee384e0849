package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"candlemark/internal/storage/cluster/archive"
	"candlemark/internal/storage/store/vfs"

	"candlemark/internal/storage/cluster/raftlog"

	"github.com/hashicorp/raft"
)

// snapshots implements raft.SnapshotStore: a snapshot is the promise that the replica has everything up to an entry. Its bytes are taken
// from the replica, as it is then, when another node needs them.
type snapshots struct {
	node *Node
	path string

	mu       sync.Mutex
	saved    *state // nil before the first snapshot
	received *state // complete, and not installed
}

// snapshotFile is the name of the file with the last snapshot.
const snapshotFile = "snapshot.json"

// state is the content of the file with the last snapshot.
type state struct {
	Generation         uint64 // number of the folder of the replica
	Index, Term        uint64
	Configuration      []byte
	ConfigurationIndex uint64
	// Journal and Definitions are the last entries that they had: the replica is damaged if it has less.
	Journal, Definitions uint64
}

func openSnapshots(n *Node, path string) (*snapshots, error) {
	s := &snapshots{node: n, path: path}
	saved := &state{}
	err := vfs.ReadJSON(n.cfg.FS, path, saved)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	s.saved = saved
	return s, err
}

// save makes a state durable, in one step.
func (s *snapshots) save(saved *state) error {
	err := vfs.WriteJSON(s.node.cfg.FS, s.path, saved)
	if err == nil {
		s.saved = saved
	}
	return err
}

func (s *snapshots) generation() uint64 {
	if s.saved == nil {
		return 1
	}
	return s.saved.Generation
}

func (m *state) meta() *raft.SnapshotMeta {
	return &raft.SnapshotMeta{
		Version: raft.SnapshotVersionMax, ID: fmt.Sprintf("%d-%d", m.Generation, m.Index), Index: m.Index, Term: m.Term,
		Configuration: raft.DecodeConfiguration(m.Configuration), ConfigurationIndex: m.ConfigurationIndex,
	}
}

// List implements raft.SnapshotStore.
func (s *snapshots) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		return nil, nil
	}
	return []*raft.SnapshotMeta{s.saved.meta()}, nil
}

// Create implements raft.SnapshotStore.
func (s *snapshots) Create(_ raft.SnapshotVersion, index, term uint64, c raft.Configuration, configIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sink{snapshots: s, state: &state{
		Generation: s.generation(), Index: index, Term: term, Configuration: raft.EncodeConfiguration(c), ConfigurationIndex: configIndex,
	}}, nil
}

// Open implements raft.SnapshotStore: for a snapshot that was received, it returns nothing to read; else the replica as it is now.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	if r := s.received; r != nil && r.meta().ID == id {
		s.mu.Unlock()
		return r.meta(), io.NopCloser(strings.NewReader("")), nil
	}
	s.mu.Unlock()
	return s.node.machine.cut()
}

// sink gets a snapshot of this node, which has no bytes, or of another one.
type sink struct {
	snapshots *snapshots
	state     *state
	unpack    *archive.Unpacker
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.state.meta().ID }

// Write implements raft.SnapshotSink.
func (k *sink) Write(b []byte) (int, error) {
	if k.unpack == nil {
		k.state.Generation++
		u, err := archive.NewUnpacker(k.snapshots.node.cfg.FS, k.snapshots.node.folder(k.state.Generation))
		if err != nil {
			return 0, err
		}
		k.unpack = u
	}
	return k.unpack.Write(b)
}

// Close implements raft.SnapshotSink.
func (k *sink) Close() error {
	s := k.snapshots
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.unpack != nil {
		if err := k.unpack.Close(); err != nil {
			return err
		}
		s.received = k.state
		return nil
	}
	if k.state.Generation != s.generation() {
		return errors.New("the replica was replaced")
	}
	return s.save(k.state)
}

// Cancel implements raft.SnapshotSink.
func (k *sink) Cancel() error {
	if k.unpack == nil {
		return nil
	}
	_ = k.unpack.Close()
	return archive.RemoveFolder(k.snapshots.node.cfg.FS, k.unpack.Dir)
}

// has reports whether the node has an entry, and so all before it: in the replica, or in the log.
func (s *snapshots) has(p position) bool {
	s.mu.Lock()
	stored := s.saved != nil && s.saved.Index >= p.Index
	s.mu.Unlock()
	var e raft.Log
	return stored || s.node.log.GetLog(p.Index, &e) == nil && e.Term == p.Term
}

// follows drops a log that ends before the snapshot, or has another entry in the place of its last one: the node ended between the two steps of
// installing one. A snapshot and a log that do not meet are damage.
func (n *Node) follows() error {
	s := n.snapshots.saved
	if s == nil {
		return nil
	}
	first, _ := n.log.FirstIndex()
	last, _ := n.log.LastIndex()
	if last > 0 && first > s.Index+1 {
		return fmt.Errorf("%w: it begins at entry %d, the snapshot ends at %d", raftlog.ErrDamaged, first, s.Index)
	}
	var e raft.Log
	if last == 0 || first == s.Index+1 || n.log.GetLog(s.Index, &e) == nil && e.Term == s.Term {
		return nil
	}
	return drop(n.log)
}

// drop removes all entries of a log.
func drop(l *raftlog.Log) error {
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	return l.DeleteRange(first, last)
}

// entries is the log as raft sees it: with the entry with which the snapshot ends, behind which the log may begin. Without it, raft refuses a call that a
// leader repeats, if the first entry behind a copy is stored already, and gets copies for ever. A leader never sends that entry: it lacks the one before,
// and sends a copy. Entry 1 needs none before: if it were found here, it would be sent in place of the copy.
type entries struct {
	*raftlog.Log
	snapshots *snapshots
}

// GetLog implements raft.LogStore.
func (e entries) GetLog(index uint64, to *raft.Log) error {
	err := e.Log.GetLog(index, to)
	if errors.Is(err, raft.ErrLogNotFound) {
		e.snapshots.mu.Lock()
		defer e.snapshots.mu.Unlock()
		if s := e.snapshots.saved; s != nil && s.Index == index && index > 1 {
			*to, err = raft.Log{Index: index, Term: s.Term, Type: raft.LogNoop}, nil
		}
	}
	return err
}
