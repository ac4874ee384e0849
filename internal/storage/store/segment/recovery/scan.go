package recovery

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/vfs"
)

// Scanned is the result of reading one segment.
type Scanned struct {
	Seg      *index.Segment
	end      int64 // of its batches
	Spills   bool  // include spilled messages
	sets     map[store.QueueID]*index.Sought
	Messages map[store.QueueID][]store.Recovered
	bytes    int64
	Damages  []Damage
	lost     []Lost
	Err      error
}

// NewScan returns a scan of a segment whose batches end at end; Add sets the messages to look for.
func NewScan(s *index.Segment, end int64) *Scanned {
	return &Scanned{Seg: s, end: end, sets: map[store.QueueID]*index.Sought{}, Messages: map[store.QueueID][]store.Recovered{}}
}

// scan reads the metadata of live messages, several segments at a time.
func (r *Recovery) scan() error {
	work := map[*index.Segment]*Scanned{}
	for id, q := range r.Index.Queues {
		for _, s := range q.Sets {
			one := work[s.Seg]
			if one == nil {
				one = NewScan(s.Seg, s.Seg.End)
				work[s.Seg] = one
			}
			one.Add(id, s)
		}
	}
	list := slices.SortedFunc(maps.Values(work), func(a, b *Scanned) int { return int(a.Seg.Seq) - int(b.Seg.Seq) })
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, one := range list {
		slots <- struct{}{}
		wait.Go(func() {
			one.Err = r.opened(one.Seg, one.Read)
			<-slots
		})
	}
	wait.Wait()
	for _, one := range list {
		if one.Err != nil {
			return fmt.Errorf("read %s: %w", index.SegmentName(one.Seg.Seq), one.Err)
		}
		r.merge(one)
	}
	return nil
}

// Add makes the scan look for a set. Two sets of the same queue are merged.
func (c *Scanned) Add(id store.QueueID, s *index.Set) {
	same := c.sets[id]
	if same == nil {
		c.sets[id] = index.NewSought(s)
		return
	}
	same.Join(s)
}

// Read walks through the segment and finds the live messages. Everything up to its end was durable, so an incomplete
// batch there is damage.
func (c *Scanned) Read() error {
	for _, s := range c.sets {
		s.Begin()
	}
	w := c.Seg.Walker(format.BatchesFrom)
	w.Until, w.Limit = c.end, math.MaxUint64-1
	w.Damage = func(at int64, text string) {
		c.Damages = append(c.Damages, Damage{File: index.SegmentName(c.Seg.Seq), Offset: at, Text: text})
	}
	c.walk(w)
	if w.Fault != nil {
		return w.Fault
	}
	for _, id := range slices.Sorted(maps.Keys(c.sets)) {
		c.lost = append(c.lost, lost(id, c.sets[id].Missing())...)
	}
	if len(c.lost) > 0 && len(c.Damages) == 0 {
		c.Damages = append(c.Damages, Damage{File: index.SegmentName(c.Seg.Seq), Offset: w.At, Text: "messages are missing"})
	}
	if len(c.lost) > 0 {
		c.Damages[0].Messages = c.lost
	}
	return nil
}

func (c *Scanned) walk(w *format.Walker) {
	number, ok := uint64(0), true
	var last store.QueueID
	var set *index.Sought
	for ok {
		number, ok = w.Next(number, func(e *format.Entry) {
			if e.Record.Kind != store.Put && (!c.Spills || e.Record.Kind != store.Spill) {
				return
			}
			if set == nil || e.Queue != last {
				set, last = c.sets[e.Queue], e.Queue
			}
			if set != nil {
				c.found(set, e)
			}
		})
	}
}

// found records a live message. A number may occur in a segment more than once, because a queue that was empty when the
// broker started counts from the beginning again: the last occurrence counts.
func (c *Scanned) found(s *index.Sought, e *format.Entry) {
	seq := e.Record.First
	before, lives := s.Seek(seq)
	if !lives {
		return
	}
	list := c.Messages[e.Queue]
	if list == nil {
		list = make([]store.Recovered, 0, s.Live)
	}
	if before {
		list = slices.DeleteFunc(list, func(m store.Recovered) bool { return m.Seq == seq })
	}
	if !e.Damaged {
		list = append(list, s.Found(e, format.PositionOf(c.Seg.Seq, e.At)))
		c.bytes += e.Body
	}
	c.Messages[e.Queue] = list
}

// merge takes over the messages found in a segment, and removes lost ones from the index.
func (r *Recovery) merge(c *Scanned) {
	for id, list := range c.Messages {
		r.Messages[id] = append(r.Messages[id], list)
		r.Report.Messages += len(list)
	}
	r.Report.Bytes += c.bytes
	for _, l := range c.lost {
		r.Index.Queues[l.Queue].Remove(l.Seq, l.Seq)
	}
	for _, d := range c.Damages {
		same := func(o Damage) bool { return o.File == d.File && o.Offset == d.Offset }
		if i := slices.IndexFunc(r.Damages, same); i >= 0 {
			r.Damages[i].Messages = append(r.Damages[i].Messages, d.Messages...)
		} else {
			r.Damages = append(r.Damages, d)
		}
	}
}

// Preserve copies the damaged files to the quarantine. Files that there is no room for are not copied.
func (r *Recovery) Preserve(to string) error {
	r.Kept = map[string]bool{}
	for _, d := range r.Damages {
		err := Quarantine(r.fs, filepath.Join(r.dir, d.File), to)
		switch {
		case err == nil:
			r.Kept[d.File] = true
		case notThere(err), errors.Is(err, vfs.ErrFull):
		default:
			return fmt.Errorf("quarantine %s: %w", d.File, err)
		}
	}
	return nil
}
