package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/bits"
	"slices"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// A checkpoint is the index at the end of a batch:
//
//	| magic 8 | version 1 | clean 1 | length 8 | numbers as uvarints… | sum 4 | rest
//
// The length covers everything but the rest, which is old contents of a longer file. The numbers: place of the end
// (segment, offset), next batch, next segment, highest queue; count of segments and for each number, seed, size, end;
// count of sets and for each queue, segment, count of words and for each word its distance to the previous word and
// bits (all live; some delivered; some released; some returned; some deferred; some released with a known TTL), then
// the live, the delivered and the released ones, their sizes, how often they were returned (see numbers.append), the
// deferred ones and, as numbers, the places of the TTLs of the queue at their release; count of rescheduled messages
// and for each number and due time, and the same for postponed ones with the time when they are ready again; the count
// of these TTLs and the TTLs; after the sets the count of names and for each the queue, the virtual host and the name,
// both with their lengths; in version 8 the number of the
// last entry that a replica has applied. Other journals have version 7, without it.
//
// Version 6 has no TTLs, version 5 no postponed messages either, version 4 no deferred ones either, version 3 no names
// either. Versions 1 and 2
// also lack the length and the rest. They have a fifth number for each segment, the number of messages ever written to
// it; their words have no sizes, and the words of a set are followed by the count of returned messages and for each
// number and count. Version 1 also lacks released and rescheduled messages.
const (
	checkpointMagic   = "CmCheck1"
	checkpointVersion = 8
	CheckpointHead    = 18 // bytes, before the numbers
)

// Checkpoint is the contents of a checkpoint file.
type Checkpoint struct {
	Clean    bool
	Begin    uint64 // the segment where replay begins
	Offset   int64
	Number   uint64 // of the next batch
	Fresh    uint64 // of the next segment
	Segments map[uint64]*Segment
	Index    *Index
}

// ErrCheckpoint reports that the file is damaged.
var ErrCheckpoint = errors.New("checkpoint is damaged")

// CheckpointName returns the name of the file of a checkpoint.
func CheckpointName(number uint64) string { return fmt.Sprintf("checkpoint-%010d", number) }

// EncodeCheckpoint encodes the state of the log, which is locked and at the end of a batch.
func EncodeCheckpoint(c Checkpoint) []byte {
	version := byte(checkpointVersion)
	if c.Index.Applied == 0 {
		version--
	}
	b := append([]byte(checkpointMagic), version, flag(c.Clean), 0, 0, 0, 0, 0, 0, 0, 0)
	number := func(n uint64) { b = binary.AppendUvarint(b, n) }
	number(c.Begin)
	number(uint64(c.Offset))
	number(c.Number)
	number(c.Fresh)
	number(uint64(c.Index.Highest))
	number(uint64(len(c.Segments)))
	for _, seq := range slices.Sorted(maps.Keys(c.Segments)) {
		s := c.Segments[seq]
		number(s.Seq)
		number(uint64(s.Seed))
		number(uint64(s.Size))
		number(uint64(s.End))
	}
	count := len(b)
	b = append(b, 0, 0, 0, 0)
	sets := 0
	for _, q := range c.Index.Queues {
		for _, s := range q.Sets {
			if !s.spill && s.Live > 0 {
				b = s.append(b, q.Id)
				sets++
			}
		}
	}
	binary.LittleEndian.PutUint32(b[count:], uint32(sets))
	number(uint64(len(c.Index.Names)))
	for id, name := range c.Index.Names {
		number(uint64(id))
		number(uint64(len(name.VHost)))
		b = append(b, name.VHost...)
		number(uint64(len(name.Queue)))
		b = append(b, name.Queue...)
	}
	if c.Index.Applied > 0 {
		number(c.Index.Applied)
	}
	binary.LittleEndian.PutUint64(b[10:], uint64(len(b)+4))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, format.Castagnoli))
}

// append encodes a set.
func (s *Set) append(b []byte, q store.QueueID) []byte {
	b = binary.AppendUvarint(b, uint64(q))
	b = binary.AppendUvarint(b, s.Seg.Seq)
	words := 0
	for i := range s.words {
		if s.words[i].live != 0 {
			words++
		}
	}
	b = binary.AppendUvarint(b, uint64(words))
	last := uint64(0)
	for i, w := range s.words {
		if w.live == 0 {
			continue
		}
		all, some, released := w.live == ^uint64(0), w.delivered != 0, w.released != 0
		returned, away, then := s.counts.sum(i, w.live) > 0, s.away.plane(0, i)&w.live, s.then.sum(i, w.live) > 0
		b = binary.AppendUvarint(b, w.base-last)
		b = append(b, flag(all)|flag(some)<<1|flag(released)<<2|flag(returned)<<3|flag(away != 0)<<4|flag(then)<<5)
		if !all {
			b = binary.LittleEndian.AppendUint64(b, w.live)
		}
		if some {
			b = binary.LittleEndian.AppendUint64(b, w.delivered)
		}
		if released {
			b = binary.LittleEndian.AppendUint64(b, w.released)
		}
		b = s.sizes.append(b, i, w.live)
		if returned {
			b = s.counts.append(b, i, w.live)
		}
		if away != 0 {
			b = binary.LittleEndian.AppendUint64(b, away)
		}
		if then {
			b = s.then.append(b, i, w.live)
		}
		last = w.base
	}
	for _, times := range [...]map[uint64]int64{s.dues, s.until} {
		b = binary.AppendUvarint(b, uint64(len(times)))
		for seq, at := range times {
			b = binary.AppendUvarint(binary.AppendUvarint(b, seq), uint64(at))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.ttls)))
	for _, ttl := range s.ttls {
		b = binary.AppendUvarint(b, uint64(ttl))
	}
	return b
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// scanner reads numbers; bad stays once it is set.
type scanner struct {
	b   []byte
	bad bool
}

func (s *scanner) take(n int) []byte {
	if n > len(s.b) {
		s.bad = true
		return make([]byte, n)
	}
	p := s.b[:n]
	s.b = s.b[n:]
	return p
}

func (s *scanner) number() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		c := s.take(1)[0]
		n |= uint64(c&0x7F) << shift
		if c < 0x80 {
			return n
		}
	}
	s.bad = true
	return 0
}

// text returns a string that follows its length.
func (s *scanner) text() string {
	n := s.number()
	if n > uint64(len(s.b)) {
		s.bad = true
		return ""
	}
	return string(s.take(int(n)))
}

// ReadCheckpoint reads a checkpoint and creates its index and segments.
func ReadCheckpoint(fs vfs.FS, path string) (Checkpoint, error) {
	size, err := fs.Stat(path)
	if err != nil {
		return Checkpoint{}, err
	}
	f, err := fs.OpenRead(path)
	if err != nil {
		return Checkpoint{}, err
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return Checkpoint{}, err
	}
	if len(b) < CheckpointHead+4 || string(b[:8]) != checkpointMagic || b[8] < 1 || b[8] > checkpointVersion {
		return Checkpoint{}, ErrCheckpoint
	}
	if b[8] > 2 {
		length := binary.LittleEndian.Uint64(b[10:])
		if length > uint64(len(b)) || length < CheckpointHead+4 {
			return Checkpoint{}, ErrCheckpoint
		}
		b = b[:length]
	}
	if binary.LittleEndian.Uint32(b[len(b)-4:]) != crc32.Checksum(b[:len(b)-4], format.Castagnoli) {
		return Checkpoint{}, ErrCheckpoint
	}
	return DecodeCheckpoint(b)
}

// DecodeCheckpoint decodes the result of EncodeCheckpoint, of this or an older version. The caller has checked its sum.
func DecodeCheckpoint(b []byte) (Checkpoint, error) {
	version, head := b[8], CheckpointHead
	if version < 3 {
		head = 10
	}
	s := &scanner{b: b[head : len(b)-4]}
	c := Checkpoint{Clean: b[9] == 1, Index: NewIndex(), Segments: map[uint64]*Segment{}}
	c.Begin, c.Offset, c.Number, c.Fresh = s.number(), int64(s.number()), s.number(), s.number()
	highest := store.QueueID(s.number())
	puts := map[*Segment]int64{}
	for n := s.number(); n > 0 && !s.bad; n-- {
		seg := &Segment{Seq: s.number(), Seed: uint32(s.number()), Size: int64(s.number()), Over: true}
		seg.End = int64(s.number())
		if version < 3 {
			puts[seg] = int64(s.number())
		}
		c.Segments[seg.Seq] = seg
	}
	for n := binary.LittleEndian.Uint32(s.take(4)); n > 0 && !s.bad; n-- {
		q := c.Index.Queue(store.QueueID(s.number()))
		seg := c.Segments[s.number()]
		if seg == nil {
			return c, ErrCheckpoint
		}
		one := readSet(s, seg, version, seg.End/max(puts[seg], 1))
		seg.count(one.Live, one.bytes)
		q.Sets = append(q.Sets, one)
		q.tail[0] = one
	}
	if version > 3 {
		for n := s.number(); n > 0 && !s.bad; n-- {
			id := store.QueueID(s.number())
			c.Index.Names[id] = store.Name{VHost: s.text(), Queue: s.text()}
		}
	}
	if version > 7 {
		c.Index.Applied = s.number()
	}
	c.Index.Highest = highest
	if s.bad {
		return c, ErrCheckpoint
	}
	return c, nil
}

// readSet decodes a set. In versions without sizes every message gets the mean size.
func readSet(s *scanner, seg *Segment, version byte, mean int64) *Set {
	one := &Set{Seg: seg}
	base := uint64(0)
	for n := s.number(); n > 0 && !s.bad; n-- {
		base += s.number()
		w := word{base: base, live: ^uint64(0)}
		how := s.take(1)[0]
		if how&1 == 0 {
			w.live = binary.LittleEndian.Uint64(s.take(8))
		}
		if how&2 != 0 {
			w.delivered = binary.LittleEndian.Uint64(s.take(8))
		}
		if how&4 != 0 {
			w.released = binary.LittleEndian.Uint64(s.take(8))
		}
		i := len(one.words)
		one.Live += bits.OnesCount64(w.live)
		one.words = append(one.words, w)
		if version < 3 {
			one.sizes.add(i, w.live, uint64(mean+sizeUnit-1)/sizeUnit)
		} else {
			one.sizes.read(s, i, w.live)
		}
		one.bytes += int64(one.sizes.sum(i, w.live)) * sizeUnit
		if how&8 != 0 {
			one.counts.read(s, i, w.live)
		}
		if how&16 != 0 {
			one.away.put(0, i, binary.LittleEndian.Uint64(s.take(8))&w.live)
		}
		if how&32 != 0 {
			one.then.read(s, i, w.live)
		}
	}
	if version < 3 {
		for n := s.number(); n > 0 && !s.bad; n-- {
			seq := s.number()
			one.count(seq, message.Returns(s.number()))
		}
	}
	one.readTimes(s, version)
	return one
}

// readTimes decodes the times behind the words of a set.
func (s *Set) readTimes(from *scanner, version byte) {
	each := func(since byte, do func()) {
		if version < since {
			return
		}
		for n := from.number(); n > 0 && !from.bad; n-- {
			do()
		}
	}
	each(2, func() {
		seq := from.number()
		s.setDue(seq, int64(from.number()))
	})
	each(6, func() {
		seq := from.number()
		s.postpone(seq, seq, int64(from.number()))
	})
	each(7, func() { s.ttls = append(s.ttls, store.TTLThen(from.number())) })
}
