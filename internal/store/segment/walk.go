package segment

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math"
)

// walker reads the batches of one segment in order, through a window.
type walker struct {
	seg *segment
	at  int64 // of the next batch
	// limit is a batch number that belongs to a later segment.
	limit uint64
	// gap: the segment behind is not there, so it may be that one that has what is missing.
	gap     bool
	until   int64 // where the batches end, at the latest
	entries []entry
	buf     []byte
	bufAt   int64
	width   int64 // of the window
	fault   error // of reading the file
	checked int64 // bytes that were summed up
	unread  int   // records of damaged batches that were not found, at most
	damage  func(at int64, text string)
}

const windowSize = 1 << 20

func newWalker(s *segment, from int64) *walker {
	return &walker{seg: s, at: from, limit: math.MaxUint64, until: s.size, width: windowSize, damage: func(int64, string) {}}
}

// bytes returns n bytes from an offset on, less at the end of the file. They stay
// until the next call.
func (w *walker) bytes(at, n int64) []byte {
	n = min(n, w.until-at)
	if n <= 0 {
		return nil
	}
	if at < w.bufAt || at+n > w.bufAt+int64(len(w.buf)) {
		want := min(max(n, w.width), w.until-at)
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		got, err := w.seg.file.ReadAt(w.buf[:want], at)
		if err != nil && !errors.Is(err, io.EOF) {
			w.fault = err
		}
		w.buf, w.bufAt = w.buf[:got], at
	}
	b := w.buf[at-w.bufAt:]
	return b[:min(n, int64(len(b)))]
}

func (w *walker) head(at int64) (batchInfo, bool) {
	return decodeBatchHead(w.bytes(at, batchHead), w.seg.seed, at)
}

// next decodes the next batch and calls each for its records when it is known that
// they count: the batch is whole, or something valid stands behind it, so that it
// was durable and is damaged. It returns the number behind it, false at the end.
// What the entries point at stays until the next call.
func (w *walker) next(number uint64, each func(*entry)) (uint64, bool) {
	if w.at >= w.until {
		return number, false
	}
	info, ok := w.head(w.at)
	from := w.at
	if ok {
		if info.number >= w.limit {
			return number, false
		}
		if info.end() <= w.until && w.records(info.at+batchHead, info.end()) && len(w.entries) == info.records {
			return w.step(info.number+1, info.end(), each)
		}
		number = info.number
		from++
	}
	if w.fault != nil {
		return number, false // what cannot be read is not known to be damaged
	}
	if behind, found := w.search(from); w.fault == nil && found && behind.number >= number && behind.number < w.limit {
		w.damage(w.at, "a batch is not what was written")
		w.records(w.at, behind.at)
		w.miss(info, ok, behind.at)
		return w.step(behind.number, behind.at, each)
	}
	if w.fault == nil && w.limit != math.MaxUint64 && number < w.limit {
		w.records(w.at, w.until)
		if w.gap && !ok && len(w.entries) == 0 {
			return number, false
		}
		w.damage(w.at, "the last batches of a segment are not what was written")
		w.miss(info, false, w.until)
		return w.step(w.limit, w.until, each)
	}
	return number, false
}

// miss counts the records of a damaged batch that were not found: those that its head
// has more, or without one as many messages as there is room for.
func (w *walker) miss(info batchInfo, ok bool, to int64) {
	if ok {
		w.unread += max(info.records-len(w.entries), 0)
		return
	}
	room := to - w.at - batchHead
	for i := range w.entries {
		room -= w.entries[i].size
	}
	w.unread += int(max(room, 0) / putHead)
}

func (w *walker) step(number uint64, to int64, each func(*entry)) (uint64, bool) {
	w.at = to
	for i := range w.entries {
		each(&w.entries[i])
	}
	return number, true
}

// search finds the next head of a batch from an offset on.
func (w *walker) search(from int64) (batchInfo, bool) {
	magic := little.AppendUint32(nil, batchMagic)
	for at := from; at+batchHead <= w.until; {
		b := w.bytes(at, windowSize)
		i := bytes.Index(b, magic)
		if i < 0 {
			if len(b) <= batchHead {
				return batchInfo{}, false
			}
			at += int64(len(b) - len(magic) + 1)
			continue
		}
		at += int64(i)
		if info, ok := w.head(at); ok {
			return info, true
		}
		at++
	}
	return batchInfo{}, false
}

// records decodes what stands between two offsets and tells whether it is whole. If
// not, what can be read of it is found byte by byte.
func (w *walker) records(from, to int64) bool {
	w.entries = w.entries[:0]
	b := w.bytes(from, to-from)
	whole := int64(len(b)) == to-from
	var all *sums             // of b, when it is searched
	bodies := map[body]bool{} // those that were seen, and whether they are damaged
	for done := int64(0); done < int64(len(b)); {
		e, ok := w.decode(b, from, done, all)
		if !ok {
			if whole = false; all == nil {
				all = newSums(b, &w.checked)
			}
			done++
			continue
		}
		done += e.size
		if e.isMessage() {
			w.setBody(&e, b, from, bodies)
		}
		// The head of a damaged message is what was written, so the next record is behind
		// its body, whatever stands there.
		whole = whole && !e.damaged
		w.entries = append(w.entries, e)
	}
	return whole
}

func (w *walker) decode(b []byte, from, done int64, all *sums) (entry, bool) {
	return decodeWith(b[done:], from+done, func(to int64) uint32 {
		if all == nil {
			w.checked += to
			return crc32.Update(w.seg.seed, castagnoli, b[done+4:done+to])
		}
		return all.part(w.seg.seed, int(done+4), int(done+to))
	})
}

// body is one that several messages may have.
type body struct {
	at, length int64
	sum        uint32
}

// setBody gives a message its body out of b. One that many have is summed up once.
func (w *walker) setBody(e *entry, b []byte, from int64, seen map[body]bool) {
	start := e.bodyAt - from
	if start < 0 || start+e.body > int64(len(b)) {
		e.damaged = true
		return
	}
	key, shared := body{e.bodyAt, e.body, e.bodySum}, e.flags&flagShared != 0
	is := b[start : start+e.body : start+e.body]
	if damaged, ok := seen[key]; ok && shared {
		if e.damaged = damaged; !damaged {
			e.record.Body = is
		}
		return
	}
	w.checked += e.body
	if e.setBody(is, w.seg.seed); shared {
		seen[key] = e.damaged
	}
}

// torn is how many bytes behind the last batch were being written at a crash.
func (w *walker) torn() int64 {
	if info, ok := w.head(w.at); ok {
		return min(info.end(), w.until) - w.at
	}
	if rest := w.bytes(w.at, roundUp(w.at)-w.at); !allZero(rest) {
		return int64(len(rest))
	}
	return 0
}
