package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"candlemark/internal/store"
)

// recovery finds out what a journal holds.
type recovery struct {
	*folder
	checkpoint
	report   Report
	known    map[uint64]*segment
	tail     *segment // the last one with batches
	fellBack bool     // a newer checkpoint is damaged
	messages map[store.QueueID][][]store.Recovered
	kept     map[string]bool // damaged files that were copied
}

func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// recover reads the folder and changes nothing in it.
func (f *folder) recover() (*recovery, error) {
	r := &recovery{folder: f, known: map[uint64]*segment{}, messages: map[store.QueueID][][]store.Recovered{}}
	start := time.Now()
	if err := r.load(); err != nil {
		return nil, err
	}
	r.reconcile()
	r.clean = r.clean && !r.fellBack && r.highest <= r.begin
	if !r.clean {
		if err := r.replay(); err != nil {
			return nil, err
		}
	}
	r.missing()
	if err := r.scan(); err != nil {
		return nil, err
	}
	r.report.Clean = r.clean
	r.report.Segments = len(r.known)
	r.report.HighestQueue = r.index.highest
	r.report.Names = maps.Clone(r.index.names)
	r.report.Damages = r.damages
	r.report.Duration = time.Since(start)
	return r, nil
}

// load reads the newest checkpoint that is whole.
func (r *recovery) load() error {
	r.checkpoint = checkpoint{index: newIndex(), segments: map[uint64]*segment{}}
	for i, number := range r.checkpoints {
		c, err := readCheckpoint(r.fs, filepath.Join(r.dir, checkpointName(number)))
		if err == nil {
			r.checkpoint = c
			r.checkpoints = r.checkpoints[i:]
			return nil
		}
		if !errors.Is(err, errCheckpoint) {
			return err
		}
		r.fellBack = true
		text := "checkpoint is not what was written; an older one is used"
		if i == len(r.checkpoints)-1 {
			text = "no checkpoint is what was written; messages that were settled may return"
		}
		r.damages = append(r.damages, Damage{File: checkpointName(number), Text: text})
	}
	r.checkpoints = nil
	return nil
}

// reconcile brings together the segments of the checkpoint and those that are there.
func (r *recovery) reconcile() {
	for _, s := range r.folder.segments {
		if c := r.checkpoint.segments[s.seq]; c != nil {
			c.size = s.size
			s = c
		}
		r.known[s.seq] = s
	}
	for _, s := range r.unknown {
		if c := r.checkpoint.segments[s.seq]; c != nil { // the checkpoint knows what is to be known
			c.size = min(c.size, s.size)
			r.known[s.seq] = c
		} else if r.guess(s) {
			r.known[s.seq] = s
		}
	}
	if r.highest >= r.fresh {
		r.fresh = r.highest + 1
	}
	r.fresh = max(r.fresh, 1)
}

// replay applies what stands behind the checkpoint.
func (r *recovery) replay() error {
	var todo []*segment
	for _, seq := range slices.Sorted(maps.Keys(r.known)) {
		if seq >= r.begin {
			todo = append(todo, r.known[seq])
		}
	}
	firsts := make([]uint64, len(todo)+1) // the first batch of each, or of the next that has any
	next := uint64(math.MaxUint64)
	firsts[len(todo)] = next
	for i, s := range slices.Backward(todo) {
		if s.seq != r.begin {
			first, found, err := r.first(s)
			if err != nil {
				return err
			}
			if found {
				next = first
			}
		}
		firsts[i] = next
	}
	for i, s := range todo {
		if firsts[i] != firsts[i+1] {
			r.gap(s, firsts[i])
		}
		if err := r.replaySegment(s, firsts[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// first returns the number of the first batch in a segment.
func (r *recovery) first(s *segment) (number uint64, found bool, err error) {
	err = r.opened(s, func() error {
		w := newWalker(s, batchesFrom)
		info, ok := w.head(batchesFrom)
		if !ok {
			info, ok = w.search(batchesFrom)
		}
		number, found = info.number, ok
		return w.fault
	})
	return number, found, err
}

// opened runs something with the file of a segment open.
func (r *recovery) opened(s *segment, do func() error) error {
	f, err := r.fs.OpenRead(filepath.Join(r.dir, segmentName(s.seq)))
	if err != nil {
		return err
	}
	s.file = f
	err = do()
	s.file = nil
	return errors.Join(err, f.Close())
}

func (r *recovery) replaySegment(s *segment, limit uint64) error {
	from := int64(batchesFrom)
	if s.seq == r.begin {
		from = r.offset
	}
	return r.opened(s, func() error {
		w := newWalker(s, from)
		w.limit, w.gap = limit, r.known[s.seq+1] == nil
		w.damage = func(at int64, text string) {
			r.damages = append(r.damages, Damage{File: segmentName(s.seq), Offset: at, Text: text})
		}
		for {
			number, ok := w.next(r.number, func(e *entry) {
				r.report.Records++
				r.index.replay(s, e)
			})
			if w.unread > 0 { // no checkpoint knows them, so they have no names
				r.damages[len(r.damages)-1].Unread += w.unread
				w.unread = 0
			}
			if !ok {
				break
			}
			r.number = number
			r.tail = s
		}
		s.end = w.at
		if limit == math.MaxUint64 {
			if torn := w.torn(); torn > 0 && (w.at%pageSize != 0 || w.at > batchesFrom || r.isTorn(w)) {
				r.report.TornTail = torn
			}
		}
		if w.fault != nil {
			return fmt.Errorf("replay %s: %w", segmentName(s.seq), w.fault)
		}
		return nil
	})
}

func (r *recovery) isTorn(w *walker) bool {
	_, ok := w.head(w.at)
	return ok
}
