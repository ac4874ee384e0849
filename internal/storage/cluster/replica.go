package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"candlemark/internal/storage/cluster/archive"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"

	"github.com/hashicorp/raft"
)

// replica is the data of a node: what the committed entries have made.
type replica struct {
	journal     *segment.Replica
	definitions *definitions.File
}

// replicaPrefix begins the name of the folder of a replica; its generation follows.
const replicaPrefix = "replica-"

func (n *Node) folder(generation uint64) string {
	return filepath.Join(n.cfg.Dir, fmt.Sprintf("%s%d", replicaPrefix, generation))
}

func (n *Node) replica() *replica { return n.files.Load() }

// sentBy returns the operations of an entry that this node has proposed and nobody has taken, else nil.
func (n *Node) sentBy(sender, number uint64) []operation {
	if f := n.front.Load(); f != nil {
		return f.take(sender, number)
	}
	return nil
}

// openData opens the replica that the last snapshot names, and removes others, which are incomplete or old.
func (n *Node) openData() error {
	generation := n.snapshots.generation()
	names, err := os.ReadDir(n.cfg.Dir)
	if err != nil {
		return err
	}
	for _, e := range names {
		if path := filepath.Join(n.cfg.Dir, e.Name()); strings.HasPrefix(e.Name(), replicaPrefix) && path != n.folder(generation) {
			if err := archive.RemoveFolder(n.cfg.FS, path); err != nil {
				return err
			}
		}
	}
	r, err := n.openReplica(generation)
	if err != nil {
		return err
	}
	n.files.Store(r)
	return n.adopt(r, n.snapshots.saved)
}

// adopt makes the machine go on behind a replica. Errors: the replica has less than it had.
func (n *Node) adopt(r *replica, s *state) error {
	m := n.machine
	m.has = r.journal.Applied()
	if s == nil {
		return nil
	}
	m.index, m.term, m.config, m.configIndex = s.Index, s.Term, raft.DecodeConfiguration(s.Configuration), s.ConfigurationIndex
	entry, err := r.definitions.Entry()
	if err == nil && (m.has < s.Journal || entry < s.Definitions) {
		err = fmt.Errorf("%w: it ends before entry %d", errDamaged, s.Index)
	}
	return err
}

// errDamaged: the copy of this node is not what it was. Other nodes have good ones.
var errDamaged = errors.New("this node's copy of the data is damaged")

// openReplica opens a generation of the replica.
func (n *Node) openReplica(generation uint64) (r *replica, err error) {
	r = &replica{}
	dir := n.folder(generation)
	if r.definitions, err = definitions.Open(dir); err != nil {
		return nil, err
	}
	began := time.Now()
	var report recovery.Report
	r.journal, report, err = segment.OpenReplica(n.cfg.FS, filepath.Join(dir, segment.Folder), segment.Options{
		SegmentSize: n.cfg.SegmentSize, OnFailure: n.fail, OnFull: n.cfg.OnFull,
		OnDamage: func(d recovery.Damage) { n.fail(fmt.Errorf("%w: %s at %d: %s", errDamaged, d.File, d.Offset, d.Text)) },
	})
	if err != nil {
		return nil, errors.Join(err, r.definitions.Close())
	}
	if len(report.Damages) > 0 {
		d := report.Damages[0]
		return nil, errors.Join(fmt.Errorf("%w: %s at %d: %s", errDamaged, d.File, d.Offset, d.Text), r.close())
	}
	n.cfg.Log.Info().Uint64("entry", r.journal.Applied()).Int("messages", report.Messages).
		Int64("took_ms", time.Since(began).Milliseconds()).Msg("replica opened")
	return r, nil
}

func (r *replica) close() error { return errors.Join(r.journal.Close(), r.definitions.Close()) }

// install replaces the replica by the received one, in one step: the file of the snapshot names its folder.
func (n *Node) install() error {
	s := n.snapshots
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.received
	if got == nil {
		return errors.New("no snapshot was received")
	}
	r, err := n.openReplica(got.Generation)
	if err != nil {
		return err
	}
	got.Journal = r.journal.Applied()
	if got.Definitions, err = r.definitions.Entry(); err == nil {
		err = s.save(got)
	}
	if err != nil {
		return errors.Join(err, r.close())
	}
	s.received = nil
	old := n.files.Swap(r)
	if err := n.adopt(r, got); err != nil {
		return err
	}
	if _, last := n.log.Last(); last > got.Index {
		n.fail(errors.Join(ErrTail, drop(n.log)))
	}
	return errors.Join(old.close(), archive.RemoveFolder(n.cfg.FS, n.folder(got.Generation-1)))
}

// ErrTail is the failure of a node that got a copy of the data, while its log had more entries, which were never committed. Its process must be
// replaced: raft remembers the end of the log, refuses what follows the copy, and would get copies for ever.
var ErrTail = errors.New("this node's log had entries behind the copy of the data that it has got: it has to start again")
