package copies

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// Config of a Store.
type Config struct {
	FS  vfs.FS
	Dir string // the data folder of the node
	// SegmentSize is the size of a segment of the journal, bytes; 0 for the default.
	SegmentSize int64
	// OnFailure is called when the data can no longer be trusted or stored.
	OnFailure func(error)
	OnFull    func(bool) // as of segment.Options
	// Rate is how many bytes of copies are sent in a second, all together; 0 for no limit.
	Rate int64
	// Ended is closed when the node ends: its copies end, too.
	Ended <-chan struct{}
	// Cut returns the data as they are after the last entry, and the position of that entry. sent is called at the end of the copy.
	Cut func() (s *State, c *Cut, sent func(), err error)
	Log zerolog.Logger
}

// Store has the data of a node. It implements raft.SnapshotStore: a snapshot is the promise that the data have everything up to an entry. Its
// bytes are taken from the data, as they are then, when another node needs them.
type Store struct {
	cfg  Config
	data atomic.Pointer[Data]
	log  *raftlog.Log

	sending  sending
	incoming sync.Mutex // held while a copy is received, and locked before mu

	mu       sync.Mutex
	saved    *State // nil before the first snapshot
	fetched  *State // a complete copy; nil, too, when it is not to be installed
	received *State // as raft has it, complete and not installed
}

// fileName is the name of the file with the last snapshot, in the folder of the log.
const fileName = "snapshot.json"

// State is the content of the file with the last snapshot.
type State struct {
	Generation         uint64 // number of the folder of the data
	Index, Term        uint64
	Configuration      []byte
	ConfigurationIndex uint64
	// Journal and Definitions are the last entries that they had: the data are damaged if they have less.
	Journal, Definitions uint64
}

func pathOf(dir string) string { return filepath.Join(dir, raftlog.Folder, fileName) }

// Write makes a state the last snapshot of the node with a data folder, durably and in one step.
func Write(disk vfs.FS, dir string, s *State) error { return vfs.WriteJSON(disk, pathOf(dir), s) }

// Open reads the last snapshot, opens the data that it names, and removes others, except for what has come of a copy. Errors: ErrDamaged, or of the disk.
func Open(cfg Config) (*Store, error) {
	s := &Store{cfg: cfg}
	s.sending.turns, s.sending.now, s.sending.rate.rate = make(chan struct{}, maxSending), map[*Source]struct{}{}, cfg.Rate
	saved, err := Read(cfg.FS, cfg.Dir)
	if err != nil {
		return s, err
	}
	s.saved = saved
	return s, s.openData()
}

// Read returns the last snapshot of the node with a data folder; nil before the first one.
func Read(disk vfs.FS, dir string) (*State, error) {
	s := &State{}
	err := vfs.ReadJSON(disk, pathOf(dir), s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

// Close closes the data.
func (s *Store) Close() error {
	if d := s.data.Load(); d != nil {
		return d.close()
	}
	return nil
}

// Data returns the data that count.
func (s *Store) Data() *Data { return s.data.Load() }

// Saved returns the last snapshot; nil before the first one.
func (s *Store) Saved() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved
}

// save makes a state durable, in one step.
func (s *Store) save(saved *State) error {
	err := Write(s.cfg.FS, s.cfg.Dir, saved)
	if err == nil {
		s.saved = saved
	}
	return err
}

// First is the number of the folder of the first data of a node.
const First = 1

func (s *Store) generation() uint64 {
	if s.saved == nil {
		return First
	}
	return s.saved.Generation
}

func (m *State) meta() *raft.SnapshotMeta {
	return &raft.SnapshotMeta{
		Version: raft.SnapshotVersionMax, ID: fmt.Sprintf("%d-%d", m.Generation, m.Index), Index: m.Index, Term: m.Term,
		Configuration: raft.DecodeConfiguration(m.Configuration), ConfigurationIndex: m.ConfigurationIndex,
	}
}

// List implements raft.SnapshotStore.
func (s *Store) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		return nil, nil
	}
	return []*raft.SnapshotMeta{s.saved.meta()}, nil
}

// Create implements raft.SnapshotStore.
func (s *Store) Create(_ raft.SnapshotVersion, index, term uint64, c raft.Configuration, configIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sink{store: s, state: &State{
		Generation: s.generation(), Index: index, Term: term, Configuration: raft.EncodeConfiguration(c), ConfigurationIndex: configIndex,
	}}, nil
}

// Open implements raft.SnapshotStore: for a snapshot that was received, it returns nothing to read; else the data as they are now.
func (s *Store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	if r := s.received; r != nil && r.meta().ID == id {
		s.mu.Unlock()
		return r.meta(), io.NopCloser(strings.NewReader("")), nil
	}
	s.mu.Unlock()
	return s.source()
}

// sink gets a snapshot of this node, which has no bytes, or of another one, which was fetched before and has some.
type sink struct {
	store   *Store
	state   *State
	fetched bool
}

// Fetched stands for a copy, in the place of its bytes.
const Fetched = "fetched"

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.state.meta().ID }

// Write implements raft.SnapshotSink.
func (k *sink) Write(b []byte) (int, error) {
	k.fetched = true
	return len(b), nil
}

// Close implements raft.SnapshotSink.
func (k *sink) Close() error {
	s := k.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.fetched {
		if f := s.fetched; f == nil || f.Index != k.state.Index || f.Term != k.state.Term {
			return errors.New("that copy of the data was not received")
		}
		k.state.Generation = s.fetched.Generation
		s.fetched, s.received = nil, k.state
		return nil
	}
	if k.state.Generation != s.generation() {
		return errors.New("the data were replaced")
	}
	return errors.Join(s.save(k.state), s.discard())
}

// discard removes what there is of a copy: the node goes on without it. The store is locked.
func (s *Store) discard() error {
	if s.fetched != nil || s.received != nil || !s.incoming.TryLock() {
		return nil
	}
	defer s.incoming.Unlock()
	return RemoveFolder(s.cfg.FS, Folder(s.cfg.Dir, s.generation()+1))
}

// Cancel implements raft.SnapshotSink.
func (k *sink) Cancel() error { return nil }

// Promise returns a snapshot: the promise that everything applied so far is durable.
func (s *Store) Promise() raft.FSMSnapshot { return promise{s} }

type promise struct{ store *Store }

// Persist implements raft.FSMSnapshot.
func (p promise) Persist(to raft.SnapshotSink) (err error) {
	d := p.store.Data()
	if k, ok := to.(*sink); ok { // what the data have before they are settled is durable then
		k.state.Journal = d.Journal.Applied()
		if k.state.Definitions, err = d.Definitions.Entry(); err != nil {
			return err
		}
	}
	settled := make(chan error, 1)
	d.Journal.Settle(func(err error) { settled <- err })
	return <-settled
}

// Release implements raft.FSMSnapshot.
func (p promise) Release() {}
