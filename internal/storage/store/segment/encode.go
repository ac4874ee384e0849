package segment

import (
	"errors"
	"math"
	"sync"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/spare"
)

// log is the encoded end of the log, at most two batches ahead of the durable end.
type log struct {
	sync.Mutex
	index  *index.Index
	tail   *index.Segment // nil at first
	number uint64         // of the next batch
	fresh  uint64         // the lowest number that no segment has had
	opened uint64         // the highest number of a segment whose name is durable
	// The highest number of a batch in its file, and of a durable batch.
	flushed, durable uint64
	batch            *batch // being filled
	taken            []pending
	next             int       // of taken
	moves            []pending // of the keeper, ahead of all others
	// starving: all records but moves wait for a segment of so many bytes, because there is no file or the log is too
	// long. granted: nothing more can be freed, so they may use the file kept for moves. cramped: moves lack a segment
	// too; need is its minimum length.
	starving, need   int64
	granted, cramped bool
	whole            bool  // there is room in the batch for the entry that is encoded
	closing          bool  // the journal is being closed
	ended            bool  // the writer has ended
	removed          bool  // messages were removed since the last notice to the keeper
	failed           error // the error of all later Appends
	bodies           bodyCache
	unused           []*batch
}

// ErrTooLarge: the message does not fit the journal's format.
var ErrTooLarge = errors.New("message is too large for the journal")

// maxMessage is the limit of a message in the journal, bytes.
const maxMessage = math.MaxUint32 - 2*format.BatchesFrom

// gather encodes appended records until the batch is full. The log is locked.
func (j *Journal) gather() {
	l := &j.log
	for !l.batch.closed {
		p, move := j.following()
		if p == nil {
			return
		}
		if l.failed != nil {
			p.fail(l.failed)
		} else if !j.encode(p) {
			return
		}
		if p.entry != nil {
			l.batch.answer(p.entry)
		} else if p.done != nil {
			l.batch.dones = append(l.batch.dones, completion{p.done, p.err})
			l.batch.urgent = true
		}
		*p = pending{}
		if move {
			l.moves = l.moves[1:]
		} else {
			l.next++
		}
	}
}

// following returns the next records to encode, nil for none.
func (j *Journal) following() (p *pending, move bool) {
	l := &j.log
	if len(l.moves) > 0 {
		return &l.moves[0], true
	}
	if l.starving > 0 && l.failed == nil {
		if !j.mayExtend(l.starving) {
			j.stock.Want(l.starving) // again: a move may have taken the file made for it
			return nil, false
		}
		l.starving = 0
	}
	if l.next == len(l.taken) && !j.take() {
		return nil, false
	}
	return &l.taken[l.next], false
}

// mayExtend reports whether records other than moves may have a segment; the last file is kept for moves.
func (j *Journal) mayExtend(size int64) bool {
	l := &j.log
	if l.granted {
		return true
	}
	return j.stock.Has(size, 2) && (l.closing || j.excess() < 3)
}

// take fetches the records appended since the last call; false if there were none.
func (j *Journal) take() bool {
	l := &j.log
	j.mu.Lock()
	l.taken, j.pending = j.pending, l.taken[:0]
	j.waiting = 0
	j.mu.Unlock()
	l.next = 0
	return len(l.taken) > 0
}

// encode adds the records of an Append to the batch; false when the batch takes no more.
func (j *Journal) encode(p *pending) bool {
	l := &j.log
	if p.snap != nil {
		l.mark()
		p.snap()
		l.batch.closed, l.batch.urgent = true, true
		return true
	}
	if e := p.entry; e != nil {
		if e.Begin {
			l.index.ForgetSpills()
		}
		if need := e.size(); need > 0 && !j.room(need, false) {
			return false
		}
		l.whole = true
		for i := range e.Parts {
			part := pending{queue: e.Parts[i].Queue, records: e.Parts[i].Records}
			j.encode(&part)
			e.Parts[i].err = part.err
		}
		l.whole = false
		l.index.Applied = e.Number
		return true
	}
	if len(p.records) == 0 {
		return true
	}
	q := l.index.Queue(p.queue)
	for ; p.at < len(p.records); p.at++ {
		if !j.encodeRecord(q, &p.records[p.at], p) {
			return false
		}
	}
	if len(q.Sets) == 0 {
		delete(l.index.Queues, p.queue)
	}
	return true
}

func (j *Journal) encodeRecord(q *index.Queue, r *store.Record, p *pending) bool {
	l := &j.log
	if r.Kind == store.Put || r.Kind == store.Spill {
		if tooLarge(r) {
			p.err = ErrTooLarge
			return true
		}
		return j.encodePut(q, r, p.from)
	}
	size := int64(format.RunSize)
	if r.Kind == store.Named {
		if size = format.PutSize(r); tooLarge(r) {
			p.err = ErrTooLarge
			return true
		}
	}
	if !j.room(size, false) {
		return false
	}
	if l.index.Apply(q, r) {
		l.batch.note(p.queue, r)
	}
	if r.Kind == store.Retire {
		j.recovered.forget(p.queue)
		j.moved.retire(p.queue)
	}
	if r.Kind == store.Remove || r.Kind == store.Retire {
		l.removed = true
	}
	return true
}

// encodePut adds a message to the batch. from is the segment that a moved message comes from. A message put Again is
// treated as moved.
func (j *Journal) encodePut(q *index.Queue, r *store.Record, from *index.Segment) bool {
	l, move := &j.log, from != nil
	var m format.Marks
	if move || r.Again {
		s := q.Holder(r.First)
		if s == nil || move && s.Seg != from {
			return true // the message was removed before its turn
		}
		if due := s.Due(r.First); move && due != 0 { // messages of older versions get longer with it
			r.Due = due
		}
		m = s.Marks(r.First)
		r.Until, r.TTLThen = m.Until, m.TTLThen
	}
	if !l.batch.shares(r, l.tail, &l.bodies) && !j.room(format.PutSize(r), move) {
		return false
	}
	before := l.batch.size
	l.batch.put(q.Id, r, m, &l.bodies)
	size := l.batch.size - before
	if m.Flags == 0 { // the message is new
		q.Put(l.tail, r.First, r.Kind == store.Spill, size)
		if r.Origin.Seq != 0 {
			l.index.Copies.Put(store.Origin{Queue: q.Id, Seq: r.First}, r.Origin)
		}
		return true
	}
	l.batch.moved = append(l.batch.moved, movement{q.Id, r.First, r.Position})
	q.Move(l.tail, r.First, r.Kind == store.Spill, size, m)
	return true
}

func tooLarge(r *store.Record) bool {
	return len(r.Exchange) > math.MaxUint16 || len(r.RoutingKey) > math.MaxUint16 || format.PutSize(r) > maxMessage
}

// room finds room for a record in the batch and begins the batch if it is empty; false if there is no room.
func (j *Journal) room(need int64, move bool) bool {
	l := &j.log
	b := l.batch
	if l.whole {
		return true
	}
	if j.options.replica {
		need += format.RunSize // of mark
	}
	if b.records > 0 {
		if b.size+need > batchLimit || b.end()+need > l.tail.Size {
			b.closed = true
			return false
		}
		return true
	}
	if l.tail == nil || l.tail.End+format.BatchHead+need > l.tail.Size {
		if !j.extend(format.RoundUp(format.BatchesFrom+format.BatchHead+need), move) {
			return false
		}
	}
	b.begin(l.tail, l.number)
	return true
}

// smallOf returns the size of the file kept for moves, bytes.
func smallOf(size int64) int64 { return max(format.RoundUp(size/4), 4*format.PageSize) }

// extend begins the next segment, of at least need bytes, if the stock has a file for it.
func (j *Journal) extend(need int64, move bool) bool {
	l := &j.log
	size := max(j.options.SegmentSize, need)
	may := move || j.mayExtend(size)
	if (l.granted || move && j.stock.Short()) && !j.stock.Has(size, 2) {
		size = max(j.stock.Small(), need)
	}
	var f spare.File
	ok := false
	if may {
		f, ok = j.stock.Take(size)
	} else {
		j.stock.Want(size)
	}
	l.granted = false
	wake(j.keep.press)
	wake(j.keep.kick) // the old segment may have bytes to free
	if l.cramped = move && !ok; l.cramped {
		return false
	}
	if !ok {
		l.starving, l.need = max(j.options.SegmentSize, need), need
		return false
	}
	if t := l.tail; t != nil && t.End == format.BatchesFrom && t.Spare != "" { // too short even for a first batch
		j.table.remove(t)
		j.stock.Add(spare.File{Name: t.Spare, Size: t.Size, File: t.File})
	} else if t != nil {
		t.Over = true
	}
	s := &index.Segment{
		Seq: l.fresh, Seed: format.SeedOf(l.fresh, j.salt), Size: f.Size, File: f.File, Spare: f.Name, End: format.BatchesFrom,
	}
	l.fresh++
	l.tail = s
	j.table.add(s)
	return true
}

// seal ends the batch and puts an empty one in its place. The log is locked.
func (j *Journal) seal() *batch {
	l := &j.log
	b := l.batch
	l.mark()
	b.seal()
	if l.bodies.used {
		l.bodies = bodyCache{} // do not keep the bodies in memory
	}
	if b.records > 0 {
		l.tail.End = b.end()
		l.number++
	}
	if l.removed {
		l.removed = false
		wake(j.keep.kick)
		wake(j.keep.press)
	}
	l.batch = l.emptyBatch()
	return b
}

func (l *log) emptyBatch() *batch {
	if n := len(l.unused); n > 0 {
		b := l.unused[n-1]
		l.unused = l.unused[:n-1]
		return b
	}
	return &batch{}
}
