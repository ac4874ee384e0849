package segment

import (
	"hash/crc32"
	"unsafe"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
)

const (
	batchLimit = 4 << 20  // a longer batch takes no more records
	apartFrom  = 64 << 10 // bodies of this size and more are written without being copied
	sharedFrom = 512      // bodies of this size and more are written once per batch
)

// batch holds the records that one sync makes durable.
type batch struct {
	seg     *index.Segment
	number  uint64
	start   int64 // its offset in the segment
	size    int64 // including its head
	records int
	buf     []byte // head and records without the pieces
	apart   []piece
	// out, pieces and written: how much of buf, apart and the batch is in the file, in bytes, pieces and bytes.
	out, pieces int
	written     int64
	dones       []completion
	moved       []movement
	urgent      bool // an append waits for it
	marked      bool // it has its Applied
	closed      bool // it takes no more records
	err         error
}

// piece is a body that follows a number of bytes of buf in the batch.
type piece struct {
	at   int
	body []byte
}

// completion is called when the batch is durable.
type completion struct {
	done func(error)
	err  error
}

// movement is the new place of a straggler; readers use it once it is durable.
type movement struct {
	queue store.QueueID
	seq   uint64
	at    store.Position
}

func (b *batch) reset() {
	clear(b.apart)
	clear(b.dones)
	*b = batch{buf: b.buf[:0], apart: b.apart[:0], dones: b.dones[:0], moved: b.moved[:0]}
}

// begin places an empty batch in the log.
func (b *batch) begin(s *index.Segment, number uint64) {
	b.seg, b.number, b.start, b.size = s, number, s.End, format.BatchHead
	b.buf = append(b.buf[:0], make([]byte, format.BatchHead)...)
}

// end returns where the batch ends in its segment.
func (b *batch) end() int64 { return b.start + b.size }

// due reports whether the writer must write the batch now: an append waits for it, or it is full.
func (b *batch) due() bool { return b.urgent || b.closed }

// note adds a run or a name.
func (b *batch) note(q store.QueueID, r *store.Record) {
	before := len(b.buf)
	if r.Kind == store.Named {
		b.buf = format.AppendFront(b.buf, b.seg.Seed, b.end(), q, r, format.Marks{})
	} else {
		b.buf = format.AppendRun(b.buf, b.seg.Seed, b.end(), q, r)
	}
	b.size += int64(len(b.buf) - before)
	b.records++
}

// shares reports whether the body of a message is in the batch and there is room for the rest. A body that many queues
// share counts once.
func (b *batch) shares(r *store.Record, s *index.Segment, bodies *bodyCache) bool {
	if len(r.Body) < sharedFrom || b.records == 0 {
		return false
	}
	key := bodyKey{b.number, unsafe.SliceData(r.Body), len(r.Body)}
	front := format.PutSize(r) - int64(len(r.Body))
	return bodies.slot(key).bodyKey == key && int64(len(b.buf))+front <= batchLimit && b.end()+front <= s.Size
}

// put adds a message and records its position.
func (b *batch) put(q store.QueueID, r *store.Record, m format.Marks, bodies *bodyCache) {
	at := b.end()
	r.Position = format.PositionOf(b.seg.Seq, at)
	inline := true
	if len(r.Body) >= sharedFrom {
		key := bodyKey{b.number, unsafe.SliceData(r.Body), len(r.Body)}
		slot := bodies.slot(key)
		if slot.bodyKey == key {
			m.Flags |= format.FlagShared
			m.BodyAt, m.BodySum, inline = slot.at, slot.sum, false
		} else {
			m.BodySum = crc32.Update(b.seg.Seed, format.Castagnoli, r.Body)
			bodies.used = true
			*slot = bodyPlace{key, at + format.PutSize(r) - int64(len(r.Body)), m.BodySum}
		}
	} else {
		m.BodySum = crc32.Update(b.seg.Seed, format.Castagnoli, r.Body)
	}
	before := len(b.buf)
	b.buf = format.AppendFront(b.buf, b.seg.Seed, at, q, r, m)
	b.size += int64(len(b.buf) - before)
	b.records++
	if !inline {
		return
	}
	b.size += int64(len(r.Body))
	if len(r.Body) >= apartFrom {
		b.apart = append(b.apart, piece{len(b.buf), r.Body})
		return
	}
	b.buf = append(b.buf, r.Body...)
}

// seal makes the batch ready to be written.
func (b *batch) seal() {
	if b.records > 0 {
		b.setHead(false)
	}
}

// setHead fills in the head. ahead: the batch before it may not be durable.
func (b *batch) setHead(ahead bool) {
	format.PutBatchHead(b.buf, b.seg.Seed, b.start, b.number, b.size-format.BatchHead, b.records, ahead)
}

// zeros fill up the page behind a batch, so that the kernel need not read it first.
var zeros [format.PageSize]byte

// flush writes what is not in the file yet, and zeros up to the page. If the file has the head of a shorter batch, the
// new head follows the new records, so that the shorter batch is in the file until the longer one is.
func (b *batch) flush() error {
	longer := b.written > 0
	if err := b.writeOn(); err != nil || !longer {
		return err
	}
	_, err := b.seg.File.WriteAt(b.buf[:format.BatchHead], b.start)
	return err
}

func (b *batch) writeOn() error {
	if b.flushed() {
		return nil
	}
	for ; b.pieces < len(b.apart); b.pieces++ {
		p := &b.apart[b.pieces]
		if err := b.write(b.buf[b.out:p.at], 0); err != nil {
			return err
		}
		b.out = p.at
		if err := b.write(p.body, 0); err != nil {
			return err
		}
	}
	padding := (format.PageSize - b.end()%format.PageSize) % format.PageSize
	err := b.write(b.buf[b.out:], padding)
	if err == nil {
		b.out = len(b.buf)
	}
	return err
}

// write writes the next bytes of the batch, and zeros behind them.
func (b *batch) write(p []byte, padding int64) error {
	if int64(len(p))+padding == 0 {
		return nil
	}
	_, err := b.seg.File.WriteAt(append(p, zeros[:padding]...), b.start+b.written)
	if err == nil {
		b.written += int64(len(p))
	}
	return err
}

// flushed reports whether all of the batch's records are in the file.
func (b *batch) flushed() bool { return b.written == b.size }

// rewind makes flush write everything again.
func (b *batch) rewind() { b.out, b.pieces, b.written = 0, 0, 0 }

// bodyCache finds bodies that the batch already contains, as when one message went to several queues. It is small and
// keeps only the latest ones.
type bodyCache struct {
	used  bool
	slots [256]bodyPlace
}

// bodyKey is a body's place in memory: within a batch, the same place means the same body.
type bodyKey struct {
	batch  uint64
	first  *byte
	length int
}

type bodyPlace struct {
	bodyKey
	at  int64
	sum uint32
}

func (c *bodyCache) slot(k bodyKey) *bodyPlace {
	h := uint64(uintptr(unsafe.Pointer(k.first))) * 0x9E3779B97F4A7C15
	return &c.slots[h>>56]
}
