package segment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"candlemark/internal/store"
)

const (
	maxReads  = 4          // at the same time
	slabSize  = 64 << 10   // contents are cut from pieces of this size
	apartSize = 16 << 10   // and have their own from here on
	lookahead = 16 << 10   // read behind the beginning of the last message
	oneLock   = 256        // messages looked up while the log is locked
	widest    = windowSize // read at once
	farthest  = 64 << 10   // from one message to the next: what lies between is read in vain
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

// windows are used again.
var windows = sync.Pool{New: func() any { return new(walker) }}

func (j *Journal) read(q store.QueueID, want []store.Ref) []store.Content {
	contents := j.find(q, want)
	r := reader{journal: j, queue: q, front: windows.Get().(*walker), behind: windows.Get().(*walker)}
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

// find resolves positions, and sorts out what does not live.
func (j *Journal) find(id store.QueueID, want []store.Ref) []store.Content {
	contents := make([]store.Content, len(want))
	for i, ref := range want {
		contents[i].Seq, contents[i].Record.Position = ref.Seq, ref.At
	}
	j.moved.resolve(id, contents)
	for part := range slices.Chunk(contents, oneLock) {
		j.log.Lock()
		q := j.log.index.queues[id]
		for i := range part {
			if seq, _ := placeOf(part[i].Record.Position); q == nil || seq == 0 || !q.at(seq, part[i].Seq) && !q.moving(part[i].Seq) {
				part[i].Err = store.ErrUnknown
			}
		}
		j.log.Unlock()
	}
	return contents
}

// reader reads messages of a queue, in windows: one for the messages, one for bodies
// that stand elsewhere.
type reader struct {
	journal *Journal
	queue   store.QueueID
	seg     *segment // pinned
	front   *walker
	behind  *walker
	slab    []byte
	// shared are bodies by their places, if they are to be read once. again: the last
	// message has one that another had.
	shared map[int64][]byte
	again  bool
}

// plan makes the window as wide as what is to be read next in this segment.
func (r *reader) plan(contents []store.Content) {
	seq, first := placeOf(contents[0].Record.Position)
	if r.seg != nil && r.seg.seq == seq && r.front.holds(first, putHead) {
		return
	}
	last := first
	for i := range contents {
		s, at := placeOf(contents[i].Record.Position)
		if contents[i].Err != nil {
			continue
		}
		if s != seq || at < last || at-last > farthest || at-first > widest {
			break
		}
		last = at
	}
	r.front.width = min(last-first+lookahead, widest)
	r.behind.width = r.front.width
}

func (w *walker) holds(at, n int64) bool { return at >= w.bufAt && at+n <= w.bufAt+int64(len(w.buf)) }

// errGone: the segment went while we were reading.
var errGone = errors.New("segment is gone")

// use pins the segment.
func (r *reader) use(seq uint64) error {
	if r.seg != nil && r.seg.seq == seq {
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
	r.front.turn(s)
	r.behind.turn(s)
	return nil
}

// turn points the window at another segment.
func (w *walker) turn(s *segment) {
	w.seg, w.buf, w.fault = s, w.buf[:0], nil
	if s != nil {
		w.until = s.size
	}
}

func (r *reader) drop() {
	if r.seg != nil {
		r.journal.table.unpin(r.seg)
		r.seg = nil
	}
}

func (r *reader) close() {
	r.drop()
	for _, w := range []*walker{r.front, r.behind} {
		w.turn(nil)
		if cap(w.buf) > 2*windowSize {
			w.buf = nil
		}
		windows.Put(w)
	}
}

// content reads one message and verifies it.
func (r *reader) content(c *store.Content) error {
	seq, at := placeOf(c.Record.Position)
	if err := r.use(seq); err != nil {
		return err
	}
	e, ok := r.entry(at)
	if !ok || !e.isMessage() || e.queue != r.queue || e.record.First != c.Seq || e.damaged {
		if r.front.fault != nil || r.behind.fault != nil {
			return fmt.Errorf("%s: %w", segmentName(seq), firstOf(r.front.fault, r.behind.fault))
		}
		r.journal.damaged(Damage{
			File: segmentName(seq), Offset: at, Text: "a message is not what was written", Messages: []Lost{{r.queue, c.Seq}},
		})
		return store.ErrDamaged
	}
	c.Record = e.record
	c.Record.Position = positionOf(seq, at)
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

// entry reads what stands at an offset; its slices are the receiver's.
func (r *reader) entry(at int64) (e entry, ok bool) {
	front := frontSize(r.front.bytes(at, putHead))
	if front < 0 || at+front > r.seg.size {
		return e, false
	}
	b := r.front.bytes(at, front)
	if e, ok = decode(b, r.seg.seed, at); !ok || !e.isMessage() || e.bodyAt+e.body > r.seg.size {
		return e, false
	}
	head := headSize(b)
	r.again = r.shared[e.bodyAt] != nil && int64(len(r.shared[e.bodyAt])) == e.body
	length := front - head
	if !r.again {
		length += e.body
	}
	own := r.own(length)
	strings := own[:copy(own, b[head:front])]
	r.body(&e, own[len(strings):])
	for _, part := range []*[]byte{&e.record.Exchange, &e.record.RoutingKey, &e.record.Header, &e.record.Overlay} {
		n := len(*part)
		*part, strings = strings[:n:n], strings[n:]
	}
	return e, true
}

// body reads that of a message into b and verifies it.
func (r *reader) body(e *entry, b []byte) {
	if r.again {
		e.record.Body = r.shared[e.bodyAt]
		return
	}
	w := r.front
	if e.flags&flagShared != 0 && !w.holds(e.bodyAt, e.body) {
		w = r.behind
	}
	copy(b, w.bytes(e.bodyAt, e.body))
	e.setBody(b, r.seg.seed)
	if r.shared != nil && !e.damaged && len(b) >= sharedFrom {
		r.shared[e.bodyAt] = b
	}
}

// own returns fresh memory. Small messages share a piece, so that reading many is
// cheap and keeping one of them does not keep much.
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
func (j *Journal) damaged(d Damage) {
	_ = quarantine(j.fs, filepath.Join(j.dir, d.File), j.options.Quarantine)
	j.options.OnDamage(d)
}
