package segment

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"candlemark/internal/store"
	"candlemark/internal/store/vfs"
)

// names lists what lives in a set.
func (s *set) names(q store.QueueID) (list []Lost) {
	for _, w := range s.words {
		for live := w.live; live != 0; live &= live - 1 {
			list = append(list, Lost{q, w.base*64 + uint64(bits.TrailingZeros64(live))})
		}
	}
	return list
}

// scanned is the result of reading one segment.
type scanned struct {
	seg      *segment
	end      int64 // of its batches
	spills   bool  // they count as well
	sets     map[store.QueueID]*sought
	messages map[store.QueueID][]store.Recovered
	bytes    int64
	damages  []Damage
	lost     []Lost
	err      error
}

// sought holds what lives of a queue in the segment, and how much of it was not found.
type sought struct {
	set
	left []uint64 // bits, as in words
}

func newScan(s *segment, end int64) *scanned {
	return &scanned{seg: s, end: end, sets: map[store.QueueID]*sought{}, messages: map[store.QueueID][]store.Recovered{}}
}

// scan reads the metadata of what lives, several segments at a time.
func (r *recovery) scan() error {
	work := map[*segment]*scanned{}
	for id, q := range r.index.queues {
		for _, s := range q.sets {
			one := work[s.seg]
			if one == nil {
				one = newScan(s.seg, s.seg.end)
				work[s.seg] = one
			}
			one.add(id, s)
		}
	}
	list := slices.SortedFunc(maps.Values(work), func(a, b *scanned) int { return int(a.seg.seq) - int(b.seg.seq) })
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, one := range list {
		slots <- struct{}{}
		wait.Go(func() {
			one.err = r.opened(one.seg, one.read)
			<-slots
		})
	}
	wait.Wait()
	for _, one := range list {
		if one.err != nil {
			return fmt.Errorf("read %s: %w", segmentName(one.seg.seq), one.err)
		}
		r.merge(one)
	}
	return nil
}

// add lets the scan look for a set. Two of the same queue become one.
func (c *scanned) add(id store.QueueID, s *set) {
	same := c.sets[id]
	if same == nil {
		c.sets[id] = &sought{set: s.copy()}
		return
	}
	for _, w := range s.words {
		for live := w.live; live != 0; live &= live - 1 {
			bit := live & -live
			seq := w.base*64 + uint64(bits.TrailingZeros64(live))
			same.add(seq, 0)
			if w.delivered&bit != 0 {
				same.deliver(seq, seq)
			}
			if w.released&bit != 0 {
				same.markReleased(seq, seq)
			}
			same.count(seq, s.returns(seq))
			if due, ok := s.dues[seq]; ok {
				same.setDue(seq, due)
			}
		}
	}
}

// read walks through the segment and finds what lives. All up to its end was
// durable: whatever is not whole there is damaged.
func (c *scanned) read() error {
	for _, s := range c.sets {
		for _, w := range s.words {
			s.left = append(s.left, w.live)
		}
	}
	w := newWalker(c.seg, batchesFrom)
	w.until, w.limit = c.end, math.MaxUint64-1
	w.damage = func(at int64, text string) {
		c.damages = append(c.damages, Damage{File: segmentName(c.seg.seq), Offset: at, Text: text})
	}
	c.walk(w)
	if w.fault != nil {
		return w.fault
	}
	for _, id := range slices.Sorted(maps.Keys(c.sets)) {
		c.lost = append(c.lost, c.sets[id].missing(id)...)
	}
	if len(c.lost) > 0 && len(c.damages) == 0 {
		c.damages = append(c.damages, Damage{File: segmentName(c.seg.seq), Offset: w.at, Text: "messages are missing"})
	}
	if len(c.lost) > 0 {
		c.damages[0].Messages = c.lost
	}
	return nil
}

func (c *scanned) walk(w *walker) {
	number, ok := uint64(0), true
	var last store.QueueID
	var set *sought
	for ok {
		number, ok = w.next(number, func(e *entry) {
			if e.record.Kind != store.Put && (!c.spills || e.record.Kind != store.Spill) {
				return
			}
			if set == nil || e.queue != last {
				set, last = c.sets[e.queue], e.queue
			}
			if set != nil {
				c.found(set, e)
			}
		})
	}
}

// found takes a message that lives. A number may stand in a segment more than once,
// because a queue that was empty when the broker started begins anew: the last counts.
func (c *scanned) found(s *sought, e *entry) {
	seq := e.record.First
	i, bit := s.find(seq/64), uint64(1)<<(seq%64)
	if i == len(s.words) || s.words[i].base != seq/64 || s.words[i].live&bit == 0 {
		return
	}
	list := c.messages[e.queue]
	if list == nil {
		list = make([]store.Recovered, 0, s.live)
	}
	if s.left[i]&bit == 0 {
		list = slices.DeleteFunc(list, func(m store.Recovered) bool { return m.Seq == seq })
		s.left[i] |= bit
	}
	if !e.damaged {
		list = append(list, s.recovered(e, &s.words[i], bit, positionOf(c.seg.seq, e.at)))
		c.bytes += e.body
		s.left[i] &^= bit
	}
	c.messages[e.queue] = list
}

// recovered is a message as its queue is to know it.
func (s *sought) recovered(e *entry, w *word, bit uint64, at store.Position) store.Recovered {
	r := &e.record
	n := s.returns(r.First)
	m := store.Recovered{
		Seq: r.First, At: at, Deadline: r.Deadline, TTL: r.TTL, Time: r.Time, Due: r.Due, Body: uint32(e.body),
		Deliveries: n, Priority: r.Priority, Redelivered: n > 0 || w.delivered&bit != 0, Released: w.released&bit != 0,
	}
	if due, ok := s.dues[r.First]; ok {
		m.Due = due
	}
	if m.Due != 0 {
		m.MessageID = store.IDHash(r.Header)
	}
	return m
}

// missing names what was not found.
func (s *sought) missing(q store.QueueID) (list []Lost) {
	for i, left := range s.left {
		for ; left != 0; left &= left - 1 {
			list = append(list, Lost{q, s.words[i].base*64 + uint64(bits.TrailingZeros64(left))})
		}
	}
	return list
}

// merge takes over what a segment gave; what it lost leaves the index.
func (r *recovery) merge(c *scanned) {
	for id, list := range c.messages {
		r.messages[id] = append(r.messages[id], list)
		r.report.Messages += len(list)
	}
	r.report.Bytes += c.bytes
	for _, l := range c.lost {
		r.index.queues[l.Queue].remove(l.Seq, l.Seq)
	}
	for _, d := range c.damages {
		same := func(o Damage) bool { return o.File == d.File && o.Offset == d.Offset }
		if i := slices.IndexFunc(r.damages, same); i >= 0 {
			r.damages[i].Messages = append(r.damages[i].Messages, d.Messages...)
		} else {
			r.damages = append(r.damages, d)
		}
	}
}

// preserve copies the damaged files to the quarantine. What there is no room for
// stays where it is.
func (r *recovery) preserve(to string) error {
	r.kept = map[string]bool{}
	for _, d := range r.damages {
		err := quarantine(r.fs, filepath.Join(r.dir, d.File), to)
		switch {
		case err == nil:
			r.kept[d.File] = true
		case notThere(err), errors.Is(err, vfs.ErrFull):
		default:
			return fmt.Errorf("quarantine %s: %w", d.File, err)
		}
	}
	return nil
}
