package format

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math"
)

// Walker reads the batches of one segment in order, through a window.
type Walker struct {
	file io.ReaderAt
	seed uint32
	At   int64 // offset of the next batch
	// Limit is a batch number that belongs to a later segment.
	Limit uint64
	// Gap: the next segment is missing, so missing batches may have been in that one.
	Gap     bool
	Until   int64 // where the batches end, at the latest
	Whole   bool  // the first batch that is not whole, or not the next one, is the end
	entries []Entry
	buf     []byte
	bufAt   int64
	Width   int64 // of the window
	Fault   error // of reading the file
	Checked int64 // bytes that were summed up
	Unread  int   // maximum number of records of damaged batches that were not found
	Damage  func(at int64, text string)
}

// WindowSize is the initial width of a window, bytes.
const WindowSize = 1 << 20

// NewWalker returns a Walker for a segment of size bytes, which starts at offset from.
func NewWalker(file io.ReaderAt, seed uint32, from, size int64) *Walker {
	return &Walker{file: file, seed: seed, At: from, Limit: math.MaxUint64, Until: size, Width: WindowSize, Damage: func(int64, string) {}}
}

// Turn points the window at another segment, or at none if file is nil.
func (w *Walker) Turn(file io.ReaderAt, seed uint32, size int64) {
	w.file, w.seed, w.Until, w.buf, w.Fault = file, seed, size, w.buf[:0], nil
	if file == nil && cap(w.buf) > 2*WindowSize {
		w.buf = nil
	}
}

// Holds reports whether n bytes from an offset are in the window.
func (w *Walker) Holds(at, n int64) bool { return at >= w.bufAt && at+n <= w.bufAt+int64(len(w.buf)) }

// Bytes returns n bytes from an offset, fewer at the end of the file. They are valid until the next call.
func (w *Walker) Bytes(at, n int64) []byte {
	n = min(n, w.Until-at)
	if n <= 0 {
		return nil
	}
	if at < w.bufAt || at+n > w.bufAt+int64(len(w.buf)) {
		want := min(max(n, w.Width), w.Until-at)
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		got, err := w.file.ReadAt(w.buf[:want], at)
		if err != nil && !errors.Is(err, io.EOF) {
			w.Fault = err
		}
		w.buf, w.bufAt = w.buf[:got], at
	}
	b := w.buf[at-w.bufAt:]
	return b[:min(n, int64(len(b)))]
}

// Head decodes the head of the batch at an offset; false if there is none.
func (w *Walker) Head(at int64) (batchInfo, bool) {
	return decodeBatchHead(w.Bytes(at, BatchHead), w.seed, at)
}

// Next decodes the next batch and calls each for its records if they count: the batch is complete, or something valid
// follows it, so that it was durable and is damaged. It returns the number of the batch after it, false at the end. The
// entries are valid until the next call.
func (w *Walker) Next(number uint64, each func(*Entry)) (uint64, bool) {
	if w.At >= w.Until {
		return number, false
	}
	info, ok := w.Head(w.At)
	from := w.At
	if ok {
		if info.Number >= w.Limit || w.Whole && info.Number != max(number, 1) {
			return number, false
		}
		if info.end() <= w.Until && w.records(info.at+BatchHead, info.end()) && len(w.entries) == info.records {
			return w.step(info.Number+1, info.end(), each)
		}
		number = info.Number
		from++
	}
	if w.Fault != nil || w.Whole {
		return number, false // unreadable bytes are not known to be damaged
	}
	if behind, found := w.proof(from, number); w.Fault == nil && found && behind.Number >= number && behind.Number < w.Limit {
		w.Damage(w.At, "the checksum of a batch is wrong")
		w.records(w.At, behind.at)
		w.miss(info, ok, behind.at)
		return w.step(behind.Number, behind.at, each)
	}
	if w.Fault == nil && w.Limit != math.MaxUint64 && number < w.Limit {
		w.records(w.At, w.Until)
		if w.Gap && !ok && len(w.entries) == 0 {
			return number, false
		}
		w.Damage(w.At, "the last batches of a segment are damaged")
		w.miss(info, ok && info.Number == w.Limit-1, w.Until)
		return w.step(w.Limit, w.Until, each)
	}
	return number, false
}

// miss counts the records of a damaged batch that were not found: the number in its head less the found ones or,
// without a head, as many messages as there is room for.
func (w *Walker) miss(info batchInfo, ok bool, to int64) {
	if ok {
		w.Unread += max(info.records-len(w.entries), 0)
		return
	}
	room := to - w.At - BatchHead
	for i := range w.entries {
		room -= w.entries[i].Size
	}
	w.Unread += int(max(room, 0) / PutHead)
}

func (w *Walker) step(number uint64, to int64, each func(*Entry)) (uint64, bool) {
	w.At = to
	for i := range w.entries {
		each(&w.entries[i])
	}
	return number, true
}

// proof finds the next head from an offset which proves that the batch with a number was durable. A head of a batch
// written ahead is no proof if the batch is the next one or the batch itself: the latter is farther behind than
// expected if the file has an earlier, shorter version of the batch before it, which was being synced.
func (w *Walker) proof(from int64, number uint64) (batchInfo, bool) {
	for {
		info, ok := w.Search(from)
		if !ok || !info.ahead || info.Number > number+1 {
			return info, ok
		}
		from = info.at + 1
	}
}

// Search finds the next head of a batch from an offset.
func (w *Walker) Search(from int64) (batchInfo, bool) {
	magic := little.AppendUint32(nil, batchMagic)
	for at := from; at+BatchHead <= w.Until; {
		b := w.Bytes(at, WindowSize)
		i := bytes.Index(b, magic)
		if i < 0 {
			if len(b) <= BatchHead {
				return batchInfo{}, false
			}
			at += int64(len(b) - len(magic) + 1)
			continue
		}
		at += int64(i)
		if info, ok := w.Head(at); ok {
			return info, true
		}
		at++
	}
	return batchInfo{}, false
}

// records decodes the records between two offsets and reports whether all are intact. If not, it searches byte by byte
// for readable ones.
func (w *Walker) records(from, to int64) bool {
	w.entries = w.entries[:0]
	b := w.Bytes(from, to-from)
	whole := int64(len(b)) == to-from
	var all *sums             // of b, during a search
	bodies := map[body]bool{} // the bodies seen so far, and whether they are damaged
	for done := int64(0); done < int64(len(b)); {
		e, ok := w.decode(b, from, done, all)
		if !ok {
			if whole = false; all == nil {
				all = newSums(b, &w.Checked)
			}
			done++
			continue
		}
		done += e.Size
		if e.IsMessage() {
			w.setBody(&e, b, from, bodies)
		}
		// The head of a damaged message is intact, so the next record follows its body.
		whole = whole && !e.Damaged
		w.entries = append(w.entries, e)
	}
	return whole
}

func (w *Walker) decode(b []byte, from, done int64, all *sums) (Entry, bool) {
	return decodeWith(b[done:], from+done, func(to int64) uint32 {
		if all == nil {
			w.Checked += to
			return crc32.Update(w.seed, Castagnoli, b[done+4:done+to])
		}
		return all.part(w.seed, int(done+4), int(done+to))
	})
}

// body is the place of a body that several messages may share.
type body struct {
	at, length int64
	sum        uint32
}

// setBody sets the body of a message from b. The checksum of a shared body is computed once.
func (w *Walker) setBody(e *Entry, b []byte, from int64, seen map[body]bool) {
	start := e.BodyAt - from
	if start < 0 || start+e.Body > int64(len(b)) {
		e.Damaged = true
		return
	}
	key, shared := body{e.BodyAt, e.Body, e.BodySum}, e.Flags&FlagShared != 0
	is := b[start : start+e.Body : start+e.Body]
	if damaged, ok := seen[key]; ok && shared {
		if e.Damaged = damaged; !damaged {
			e.Record.Body = is
		}
		return
	}
	w.Checked += e.Body
	if e.SetBody(is, w.seed); shared {
		seen[key] = e.Damaged
	}
}

// Torn returns how many bytes after the last batch were being written at a crash. After the page of the last batch
// there may be old contents of a recycled file, so only a valid head or first record counts as a batch there.
func (w *Walker) Torn() int64 {
	if info, ok := w.Head(w.At); ok {
		return min(info.end(), w.Until) - w.At
	}
	if w.At%PageSize == 0 {
		return w.firstRecord()
	}
	if rest := w.Bytes(w.At, RoundUp(w.At)-w.At); !allZero(rest) {
		return int64(len(rest))
	}
	return 0
}

// firstRecord returns the end of the first record of a batch without a head, relative to the start of the batch; 0 if
// there is none.
func (w *Walker) firstRecord() int64 {
	from := w.At + BatchHead
	size := max(RunSize, FrontSize(w.Bytes(from, PutHead)))
	if e, ok := Decode(w.Bytes(from, size), w.seed, from); ok {
		return min(from+e.Size, w.Until) - w.At
	}
	return 0
}
