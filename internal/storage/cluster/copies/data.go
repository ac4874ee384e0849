package copies

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// Data are journal and definitions, as the committed entries have made them.
type Data struct {
	Journal     *segment.Replica
	Definitions *definitions.File
}

// Prefix begins the name of a folder of data; its generation follows.
const Prefix = "replica-"

// Folder returns the folder of a generation of the data, in the data folder of a node.
func Folder(dir string, generation uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d", Prefix, generation))
}

// RemoveAll removes all data of the node with a data folder.
func RemoveAll(disk vfs.FS, dir string) error {
	names, err := os.ReadDir(dir)
	for _, e := range names {
		if strings.HasPrefix(e.Name(), Prefix) {
			err = errors.Join(err, RemoveFolder(disk, filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// openData opens the data that the last snapshot names, and removes others, except for what has come of a copy.
func (s *Store) openData() error {
	names, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return err
	}
	own, next := Folder(s.cfg.Dir, s.generation()), Folder(s.cfg.Dir, s.generation()+1)
	for _, e := range names {
		path := filepath.Join(s.cfg.Dir, e.Name())
		if strings.HasPrefix(e.Name(), spoolPrefix) {
			err = os.Remove(path)
		} else if strings.HasPrefix(e.Name(), Prefix) && path != own && path != next {
			err = RemoveFolder(s.cfg.FS, path)
		}
		if err != nil {
			return err
		}
	}
	d, err := s.open(s.generation())
	if err != nil {
		return err
	}
	s.data.Store(d)
	return d.verify(s.saved)
}

// verify returns an error if the data have less than they had.
func (d *Data) verify(s *State) error {
	if s == nil {
		return nil
	}
	entry, err := d.Definitions.Entry()
	if err == nil && (d.Journal.Applied() < s.Journal || entry < s.Definitions) {
		err = fmt.Errorf("%w: it ends before entry %d", ErrDamaged, s.Index)
	}
	return err
}

// ErrDamaged: the data of this node are not what they were. Other nodes have good ones.
var ErrDamaged = errors.New("this node's copy of the data is damaged")

// open opens a generation of the data.
func (s *Store) open(generation uint64) (d *Data, err error) {
	d = &Data{}
	dir := Folder(s.cfg.Dir, generation)
	if d.Definitions, err = definitions.Open(dir); err != nil {
		return nil, err
	}
	began := time.Now()
	var report recovery.Report
	d.Journal, report, err = segment.OpenReplica(s.cfg.FS, filepath.Join(dir, segment.Folder), segment.Options{
		SegmentSize: s.cfg.SegmentSize, OnFailure: s.cfg.OnFailure, OnFull: s.full,
		OnDamage: func(d recovery.Damage) { s.cfg.OnFailure(damaged(d)) },
	})
	if err != nil {
		return nil, errors.Join(err, d.Definitions.Close())
	}
	if len(report.Damages) > 0 {
		return nil, errors.Join(damaged(report.Damages[0]), d.close())
	}
	s.cfg.Log.Info().Uint64("entry", d.Journal.Applied()).Int("messages", report.Messages).
		Int64("took_ms", time.Since(began).Milliseconds()).Msg("replica opened")
	return d, nil
}

func damaged(d recovery.Damage) error {
	return fmt.Errorf("%w: %s at %d: %s", ErrDamaged, d.File, d.Offset, d.Text)
}

func (d *Data) close() error { return errors.Join(d.Journal.Close(), d.Definitions.Close()) }

// Install replaces the data by the received ones, in one step: the file of the snapshot names their folder. The state is nil if the data are the old ones still.
func (s *Store) Install() (*State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.received
	if got == nil {
		return nil, errors.New("no snapshot was received")
	}
	d, err := s.open(got.Generation)
	if err != nil {
		return nil, err
	}
	got.Journal = d.Journal.Applied()
	if got.Definitions, err = d.Definitions.Entry(); err == nil {
		err = s.save(got)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	s.received = nil
	old := s.data.Swap(d)
	s.sending.end() // the old data stay until their copies end
	if _, last := s.log.Last(); last > got.Index {
		s.cfg.OnFailure(errors.Join(ErrTail, drop(s.log)))
	}
	return got, errors.Join(old.close(), RemoveFolder(s.cfg.FS, Folder(s.cfg.Dir, got.Generation-1)))
}

// ErrTail is the failure of a node that got a copy of the data, while its log had more entries, which were never committed. Its process must be
// replaced: raft remembers the end of the log, refuses what follows the copy, and would get copies for ever.
var ErrTail = errors.New("this node's log had entries behind the copy of the data that it has got: it has to start again")
