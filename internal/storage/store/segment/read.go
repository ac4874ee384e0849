package segment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
)

const (
	maxReads  = 4                 // at the same time
	slabSize  = 64 << 10          // small contents share blocks of this size
	apartSize = 16 << 10          // contents of this size and more have their own
	lookahead = 16 << 10          // read after the start of the last message
	oneLock   = 256               // messages looked up under one lock of the log
	widest    = format.WindowSize // bytes of one read
	farthest  = 64 << 10          // between two messages of one read; the bytes between them are discarded
)

// Read implements store.Journal.
func (j *Journal) Read(q store.QueueID, want []store.Ref, done func([]store.Content)) {
	want = slices.Clone(want)
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.reads.Add(1)
	}
	j.mu.Unlock()
	go func() {
		if closed {
			contents := make([]store.Content, len(want))
			for i, ref := range want {
				contents[i] = store.Content{Seq: ref.Seq, Err: store.ErrClosed}
			}
			done(contents)
			return
		}
		defer j.reads.Done()
		j.readers <- struct{}{}
		contents := j.read(q, want)
		<-j.readers
		done(contents)
	}()
}

// windows are reused.
var windows = sync.Pool{New: func() any { return new(format.Walker) }}

func (j *Journal) read(q store.QueueID, want []store.Ref) []store.Content {
	j.counters.reads.Add(uint64(len(want)))
	contents := j.find(q, want)
	r := reader{journal: j, queue: q, front: windows.Get().(*format.Walker), behind: windows.Get().(*format.Walker)}
	defer r.close()
	for i := range contents {
		c := &contents[i]
		if c.Err == nil {
			r.plan(contents[i:])
			c.Err = r.content(c)
		}
		if errors.Is(c.Err, errGone) { // the message was moved while we were reading
			j.moved.resolve(q, contents[i:i+1])
			c.Err = r.content(c)
		}
		if errors.Is(c.Err, errGone) {
			c.Err = store.ErrUnknown
		}
	}
	return contents
}

// find resolves positions and sets an error for messages that no longer live.
func (j *Journal) find(id store.QueueID, want []store.Ref) []store.Content {
	contents := make([]store.Content, len(want))
	for i, ref := range want {
		contents[i].Seq, contents[i].Record.Position = ref.Seq, ref.At
	}
	j.moved.resolve(id, contents)
	for part := range slices.Chunk(contents, oneLock) {
		j.log.Lock()
		q := j.log.index.Queues[id]
		for i := range part {
			if seq, _ := format.PlaceOf(part[i].Record.Position); q == nil || seq == 0 || !q.At(seq, part[i].Seq) && !q.Moving(part[i].Seq) {
				part[i].Err = store.ErrUnknown
			}
		}
		j.log.Unlock()
	}
	return contents
}

// reader reads messages of a queue, through two windows: one for the messages, one for bodies stored elsewhere.
type reader struct {
	journal *Journal
	queue   store.QueueID
	seg     *index.Segment // pinned
	front   *format.Walker
	behind  *format.Walker
	slab    []byte
	// shared holds bodies by offset, if they are to be read once. again: the last message has the body of an earlier
	// one.
	shared map[int64][]byte
	again  bool
}

// plan makes the window as wide as the next reads in this segment need.
func (r *reader) plan(contents []store.Content) {
	seq, first := format.PlaceOf(contents[0].Record.Position)
	if r.seg != nil && r.seg.Seq == seq && r.front.Holds(first, format.PutHead) {
		return
	}
	last := first
	for i := range contents {
		s, at := format.PlaceOf(contents[i].Record.Position)
		if contents[i].Err != nil {
			continue
		}
		if s != seq || at < last || at-last > farthest || at-first > widest {
			break
		}
		last = at
	}
	r.front.Width = min(last-first+lookahead, widest)
	r.behind.Width = r.front.Width
}

// errGone: the segment was freed during the read.
var errGone = errors.New("segment was removed")

// use pins the segment.
func (r *reader) use(seq uint64) error {
	if r.seg != nil && r.seg.Seq == seq {
		return nil
	}
	r.drop()
	s, err := r.journal.table.pin(seq)
	if err != nil {
		return err
	}
	if s == nil {
		return errGone
	}
	r.seg = s
	r.front.Turn(s.File, s.Seed, s.Size)
	r.behind.Turn(s.File, s.Seed, s.Size)
	return nil
}

func (r *reader) drop() {
	if r.seg != nil {
		r.journal.table.unpin(r.seg)
		r.seg = nil
	}
}

func (r *reader) close() {
	r.drop()
	for _, w := range []*format.Walker{r.front, r.behind} {
		w.Turn(nil, 0, 0)
		windows.Put(w)
	}
}

// content reads one message and verifies it.
func (r *reader) content(c *store.Content) error {
	seq, at := format.PlaceOf(c.Record.Position)
	if err := r.use(seq); err != nil {
		return err
	}
	e, ok := r.entry(at)
	if !ok || !e.IsMessage() || e.Queue != r.queue || e.Record.First != c.Seq || e.Damaged {
		if r.front.Fault != nil || r.behind.Fault != nil {
			return fmt.Errorf("%s: %w", index.SegmentName(seq), firstOf(r.front.Fault, r.behind.Fault))
		}
		r.journal.damaged(recovery.Damage{
			File: index.SegmentName(seq), Offset: at, Text: "the checksum of a message is wrong", Messages: []recovery.Lost{{Queue: r.queue, Seq: c.Seq}},
		})
		return store.ErrDamaged
	}
	c.Record = e.Record
	c.Record.Position = format.PositionOf(seq, at)
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// entry reads the entry at an offset; its slices belong to the receiver.
func (r *reader) entry(at int64) (e format.Entry, ok bool) {
	front := format.FrontSize(r.front.Bytes(at, format.PutHead))
	if front < 0 || at+front > r.seg.Size {
		return e, false
	}
	b := r.front.Bytes(at, front)
	if e, ok = format.Decode(b, r.seg.Seed, at); !ok || !e.IsMessage() || e.BodyAt+e.Body > r.seg.Size {
		return e, false
	}
	head := format.HeadSize(b)
	r.again = r.shared[e.BodyAt] != nil && int64(len(r.shared[e.BodyAt])) == e.Body
	length := front - head
	if !r.again {
		length += e.Body
	}
	own := r.own(length)
	strings := own[:copy(own, b[head:front])]
	r.body(&e, own[len(strings):])
	for _, part := range []*[]byte{&e.Record.Exchange, &e.Record.RoutingKey, &e.Record.Header, &e.Record.Overlay} {
		n := len(*part)
		*part, strings = strings[:n:n], strings[n:]
	}
	return e, true
}

// body reads the body of a message into b and verifies it.
func (r *reader) body(e *format.Entry, b []byte) {
	if r.again {
		e.Record.Body = r.shared[e.BodyAt]
		return
	}
	w := r.front
	if e.Flags&format.FlagShared != 0 && !w.Holds(e.BodyAt, e.Body) {
		w = r.behind
	}
	copy(b, w.Bytes(e.BodyAt, e.Body))
	e.SetBody(b, r.seg.Seed)
	if r.shared != nil && !e.Damaged && len(b) >= sharedFrom {
		r.shared[e.BodyAt] = b
	}
}

// own returns fresh memory. Small messages share a piece, so that reading many is cheap and keeping one does not hold
// much memory.
func (r *reader) own(n int64) []byte {
	if n > apartSize {
		return make([]byte, n)
	}
	if int64(len(r.slab)) < n {
		r.slab = make([]byte, slabSize)
	}
	b := r.slab[:n:n]
	r.slab = r.slab[n:]
	return b
}

// damaged reports damage that was found while reading.
func (j *Journal) damaged(d recovery.Damage) {
	_ = recovery.Quarantine(j.fs, filepath.Join(j.dir, d.File), j.options.Quarantine)
	j.options.OnDamage(d)
}
