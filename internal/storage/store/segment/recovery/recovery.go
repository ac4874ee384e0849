package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
)

// Recovery reads the contents of a journal.
type Recovery struct {
	*folder
	index.Checkpoint
	Report   Report
	Known    map[uint64]*index.Segment
	Tail     *index.Segment // the last one with batches
	fellBack bool           // a newer checkpoint is damaged
	Messages map[store.QueueID][][]store.Recovered
	Kept     map[string]bool // damaged files with a copy
}

func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Recover reads the folder and changes nothing in it.
func (f *folder) Recover() (*Recovery, error) {
	r := &Recovery{folder: f, Known: map[uint64]*index.Segment{}, Messages: map[store.QueueID][][]store.Recovered{}}
	start := time.Now()
	if err := r.load(); err != nil {
		return nil, err
	}
	r.reconcile()
	r.Clean = r.Clean && !r.fellBack && r.Highest <= r.Begin
	if !r.Clean {
		if err := r.replay(); err != nil {
			return nil, err
		}
	}
	r.end()
	r.missing()
	if err := r.scan(); err != nil {
		return nil, err
	}
	r.Report.Clean = r.Clean
	r.Report.Journal, r.Report.empty = r.Mark.Journal, len(r.Known)+len(r.unknown)+len(r.folder.Checkpoints) == 0
	r.Report.Segments = len(r.Known)
	r.Report.HighestQueue = r.Index.Highest
	r.Report.Names = maps.Clone(r.Index.Names)
	r.Report.Damages = r.Damages
	r.Report.Duration = time.Since(start)
	return r, nil
}

// load reads the newest complete checkpoint.
func (r *Recovery) load() error {
	r.Checkpoint = index.Checkpoint{Index: index.NewIndex(), Segments: map[uint64]*index.Segment{}}
	for i, number := range r.Checkpoints {
		c, err := index.ReadCheckpoint(r.fs, filepath.Join(r.dir, index.CheckpointName(number)))
		if err == nil {
			r.Checkpoint = c
			r.Checkpoints = r.Checkpoints[i:]
			return nil
		}
		if !errors.Is(err, index.ErrCheckpoint) {
			return err
		}
		r.fellBack = true
		text := "checkpoint is damaged; an older one is used"
		if i == len(r.Checkpoints)-1 {
			text = "no checkpoint is intact; settled messages may be delivered again"
		}
		r.Damages = append(r.Damages, Damage{File: index.CheckpointName(number), Text: text})
	}
	if number := r.Mark.Checkpoint; number > 0 && !r.fellBack {
		r.fellBack = true
		r.Damages = append(r.Damages, Damage{File: index.CheckpointName(number), Text: "there is no checkpoint; settled messages may be delivered again"})
	}
	r.Checkpoints = nil
	return nil
}

// reconcile combines the segments of the checkpoint with the segments in the folder.
func (r *Recovery) reconcile() {
	for _, s := range r.folder.Segments {
		if c := r.Checkpoint.Segments[s.Seq]; c != nil {
			c.Size = s.Size
			s = c
		}
		r.Known[s.Seq] = s
	}
	for _, s := range r.unknown {
		if c := r.Checkpoint.Segments[s.Seq]; c != nil { // the checkpoint has all of it
			c.Size = min(c.Size, s.Size)
			r.Known[s.Seq] = c
		} else if r.guess(s) {
			r.Known[s.Seq] = s
		}
	}
	if r.Highest >= r.Fresh {
		r.Fresh = r.Highest + 1
	}
	r.Fresh = max(r.Fresh, r.Mark.Newest+1)
}

// replay applies the records after the checkpoint.
func (r *Recovery) replay() error {
	var todo []*index.Segment
	for _, seq := range slices.Sorted(maps.Keys(r.Known)) {
		if seq >= r.Begin {
			todo = append(todo, r.Known[seq])
		}
	}
	firsts := make([]uint64, len(todo)+1) // the first batch of each, or of the next that has any
	empty := make([]bool, len(todo)+1)    // it has no batch
	next := uint64(math.MaxUint64)
	firsts[len(todo)] = next
	for i, s := range slices.Backward(todo) {
		if s.Seq != r.Begin {
			first, found, err := r.first(s)
			if err != nil {
				return err
			}
			if empty[i] = !found; found {
				next = first
			}
		}
		firsts[i] = next
	}
	for i, s := range todo {
		if r.Unsynced && i > 0 && firsts[i] != r.Number && !empty[i] {
			r.drop(todo[i:])
			break
		}
		if !r.Unsynced && firsts[i] != firsts[i+1] {
			r.gap(s, firsts[i])
		}
		if err := r.replaySegment(s, firsts[i+1], r.Known[s.Seq+1] == nil || empty[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets segments behind the end of a replica's log.
func (r *Recovery) drop(list []*index.Segment) {
	r.Mark.Newest = 0 // it is not missing
	for _, s := range list {
		delete(r.Known, s.Seq)
		r.Leftovers = append(r.Leftovers, filepath.Join(r.dir, index.SegmentName(s.Seq)))
	}
}

// first returns the number of the first batch in a segment.
func (r *Recovery) first(s *index.Segment) (number uint64, found bool, err error) {
	err = r.opened(s, func() error {
		w := s.Walker(format.BatchesFrom)
		info, ok := w.Head(format.BatchesFrom)
		if !ok {
			info, ok = w.Search(format.BatchesFrom)
		}
		number, found = info.Number, ok
		return w.Fault
	})
	return number, found, err
}

// opened calls do while the file of a segment is open.
func (r *Recovery) opened(s *index.Segment, do func() error) error {
	f, err := r.fs.OpenRead(filepath.Join(r.dir, index.SegmentName(s.Seq)))
	if err != nil {
		return err
	}
	s.File = f
	err = do()
	s.File = nil
	return errors.Join(err, f.Close())
}

// replaySegment replays a segment. limit is the number of the first batch after it; gap: the next segment is missing or
// has no batches.
func (r *Recovery) replaySegment(s *index.Segment, limit uint64, gap bool) error {
	from := int64(format.BatchesFrom)
	if s.Seq == r.Begin {
		from = r.Offset
	}
	return r.opened(s, func() error {
		w := s.Walker(from)
		w.Limit, w.Gap = limit, gap
		if r.Unsynced {
			w.Limit, w.Whole = math.MaxUint64, true
		}
		w.Damage = func(at int64, text string) {
			r.Damages = append(r.Damages, Damage{File: index.SegmentName(s.Seq), Offset: at, Text: text})
		}
		r.replayBatches(s, w)
		torn := limit == math.MaxUint64
		if r.wasWritten(s) {
			w.Limit, w.Until, torn = r.Mark.Batch+1, r.Mark.End, false // the file may have become shorter
			r.replayBatches(s, w)
		}
		s.End = min(w.At, s.Size)
		if torn {
			r.Report.TornTail = w.Torn()
		}
		if w.Fault != nil {
			return fmt.Errorf("replay %s: %w", index.SegmentName(s.Seq), w.Fault)
		}
		return nil
	})
}

// replayBatches replays the batches of a segment up to the first one that does not count.
func (r *Recovery) replayBatches(s *index.Segment, w *format.Walker) {
	for {
		number, ok := w.Next(r.Number, func(e *format.Entry) {
			r.Report.Records++
			r.Index.Replay(s, e)
		})
		if w.Unread > 0 { // no checkpoint knows them, so they have no names
			r.Damages[len(r.Damages)-1].Unread += w.Unread
			w.Unread = 0
		}
		if !ok {
			return
		}
		r.Number = number
		r.Tail = s
	}
}
