package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/bits"
	"slices"

	"candlemark/internal/store"
	"candlemark/internal/store/vfs"
)

// A checkpoint is the index at the end of a batch:
//
//	| magic 8 | version 4 | clean 1 | length 8 | numbers as uvarints… | sum 4 | rest
//
// The length is that of all but the rest, which says nothing: the file was longer
// before. The numbers: place of the end (segment, offset), next batch, next segment,
// highest queue; count of segments and for each number, seed, size, end; count
// of sets and for each queue, segment, count of words and for each word its distance
// to the one before and bits (all live; some delivered; some released; some returned),
// then the live, the delivered and the released ones, their sizes and how often they
// were returned (see numbers.append); count of those scheduled anew and for each number
// and when it is due; behind the sets the count of names and for each the queue, the
// virtual host and the name, both with their lengths.
//
// Version 3 has no names. Versions 1 and 2 have none either, no length and no rest. For each segment they have a fifth
// number, how many messages were ever written to it; their words have no sizes, and
// behind the words of a set stands the count of returned messages and for each number
// and count. Version 1 knows nothing of released ones and of those scheduled anew.
const (
	checkpointMagic   = "CmCheck1"
	checkpointVersion = 4
	checkpointHead    = 18 // bytes, in front of the numbers
)

// checkpoint holds what stands in the file besides the index.
type checkpoint struct {
	clean    bool
	begin    uint64 // the segment where replay begins
	offset   int64
	number   uint64 // of the next batch
	fresh    uint64 // of the next segment
	segments map[uint64]*segment
	index    *index
}

var errCheckpoint = errors.New("checkpoint is not what was written")

func checkpointName(number uint64) string { return fmt.Sprintf("checkpoint-%010d", number) }

// encodeCheckpoint writes down the state of the log, which is locked and at the end
// of a batch.
func encodeCheckpoint(c checkpoint) []byte {
	b := append([]byte(checkpointMagic), checkpointVersion, flag(c.clean), 0, 0, 0, 0, 0, 0, 0, 0)
	number := func(n uint64) { b = appendUvarint(b, n) }
	number(c.begin)
	number(uint64(c.offset))
	number(c.number)
	number(c.fresh)
	number(uint64(c.index.highest))
	number(uint64(len(c.segments)))
	for _, seq := range slices.Sorted(maps.Keys(c.segments)) {
		s := c.segments[seq]
		number(s.seq)
		number(uint64(s.seed))
		number(uint64(s.size))
		number(uint64(s.end))
	}
	count := len(b)
	b = append(b, 0, 0, 0, 0)
	sets := 0
	for _, q := range c.index.queues {
		for _, s := range q.sets {
			if !s.spill && s.live > 0 {
				b = s.append(b, q.id)
				sets++
			}
		}
	}
	little.PutUint32(b[count:], uint32(sets))
	number(uint64(len(c.index.names)))
	for id, name := range c.index.names {
		number(uint64(id))
		number(uint64(len(name.VHost)))
		b = append(b, name.VHost...)
		number(uint64(len(name.Queue)))
		b = append(b, name.Queue...)
	}
	little.PutUint64(b[10:], uint64(len(b)+4))
	return little.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func appendUvarint(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// append encodes a set.
func (s *set) append(b []byte, q store.QueueID) []byte {
	b = appendUvarint(b, uint64(q))
	b = appendUvarint(b, s.seg.seq)
	words := 0
	for i := range s.words {
		if s.words[i].live != 0 {
			words++
		}
	}
	b = appendUvarint(b, uint64(words))
	last := uint64(0)
	for i, w := range s.words {
		if w.live == 0 {
			continue
		}
		all, some, released := w.live == ^uint64(0), w.delivered != 0, w.released != 0
		returned := s.counts.sum(i, w.live) > 0
		b = appendUvarint(b, w.base-last)
		b = append(b, flag(all)|flag(some)<<1|flag(released)<<2|flag(returned)<<3)
		if !all {
			b = little.AppendUint64(b, w.live)
		}
		if some {
			b = little.AppendUint64(b, w.delivered)
		}
		if released {
			b = little.AppendUint64(b, w.released)
		}
		b = s.sizes.append(b, i, w.live)
		if returned {
			b = s.counts.append(b, i, w.live)
		}
		last = w.base
	}
	b = appendUvarint(b, uint64(len(s.dues)))
	for seq, due := range s.dues {
		b = appendUvarint(appendUvarint(b, seq), uint64(due))
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

// text is a string behind its length.
func (s *scanner) text() string {
	n := s.number()
	if n > uint64(len(s.b)) {
		s.bad = true
		return ""
	}
	return string(s.take(int(n)))
}

// readCheckpoint reads one and gives its segments to the index that it makes.
func readCheckpoint(fs vfs.FS, path string) (checkpoint, error) {
	size, err := fs.Stat(path)
	if err != nil {
		return checkpoint{}, err
	}
	f, err := fs.OpenRead(path)
	if err != nil {
		return checkpoint{}, err
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return checkpoint{}, err
	}
	if len(b) < checkpointHead+4 || string(b[:8]) != checkpointMagic || b[8] < 1 || b[8] > checkpointVersion {
		return checkpoint{}, errCheckpoint
	}
	if b[8] > 2 {
		length := little.Uint64(b[10:])
		if length > uint64(len(b)) || length < checkpointHead+4 {
			return checkpoint{}, errCheckpoint
		}
		b = b[:length]
	}
	if little.Uint32(b[len(b)-4:]) != crc32.Checksum(b[:len(b)-4], castagnoli) {
		return checkpoint{}, errCheckpoint
	}
	return decodeCheckpoint(b)
}

func decodeCheckpoint(b []byte) (checkpoint, error) {
	version, head := b[8], checkpointHead
	if version < 3 {
		head = 10
	}
	s := &scanner{b: b[head : len(b)-4]}
	c := checkpoint{clean: b[9] == 1, index: newIndex(), segments: map[uint64]*segment{}}
	c.begin, c.offset, c.number, c.fresh = s.number(), int64(s.number()), s.number(), s.number()
	highest := store.QueueID(s.number())
	puts := map[*segment]int64{}
	for n := s.number(); n > 0 && !s.bad; n-- {
		seg := &segment{seq: s.number(), seed: uint32(s.number()), size: int64(s.number()), over: true}
		seg.end = int64(s.number())
		if version < 3 {
			puts[seg] = int64(s.number())
		}
		c.segments[seg.seq] = seg
	}
	for n := little.Uint32(s.take(4)); n > 0 && !s.bad; n-- {
		q := c.index.queue(store.QueueID(s.number()))
		seg := c.segments[s.number()]
		if seg == nil {
			return c, errCheckpoint
		}
		one := readSet(s, seg, version, seg.end/max(puts[seg], 1))
		seg.count(one.live, one.bytes)
		q.sets = append(q.sets, one)
		q.tail[0] = one
	}
	if version > 3 {
		for n := s.number(); n > 0 && !s.bad; n-- {
			id := store.QueueID(s.number())
			c.index.names[id] = store.Name{VHost: s.text(), Queue: s.text()}
		}
	}
	c.index.highest = highest
	if s.bad {
		return c, errCheckpoint
	}
	return c, nil
}

// readSet decodes a set. Of one that does not know how long its messages are, they are
// taken to be of a mean size.
func readSet(s *scanner, seg *segment, version byte, mean int64) *set {
	one := &set{seg: seg}
	base := uint64(0)
	for n := s.number(); n > 0 && !s.bad; n-- {
		base += s.number()
		w := word{base: base, live: ^uint64(0)}
		how := s.take(1)[0]
		if how&1 == 0 {
			w.live = little.Uint64(s.take(8))
		}
		if how&2 != 0 {
			w.delivered = little.Uint64(s.take(8))
		}
		if how&4 != 0 {
			w.released = little.Uint64(s.take(8))
		}
		i := len(one.words)
		one.live += bits.OnesCount64(w.live)
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
	}
	if version < 3 {
		for n := s.number(); n > 0 && !s.bad; n-- {
			seq := s.number()
			one.count(seq, uint32(s.number()))
		}
	}
	if version == 1 {
		return one
	}
	for n := s.number(); n > 0 && !s.bad; n-- {
		seq := s.number()
		one.setDue(seq, int64(s.number()))
	}
	return one
}
