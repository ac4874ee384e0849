package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

const (
	pageSize   = 4096
	sectorSize = 512 // a disk writes a sector completely or not at all
)

type page [pageSize]byte

// node is a file or folder. A page is shared between both images until it is written; a missing page reads as zeros.
type node struct {
	folder      bool
	size        int64
	durableSize int64
	pages       map[int64]*page // as it is read
	durable     map[int64]*page // as Sync left it
	writes      []write         // since the last Sync
	// failed: a Sync failed, so pages outside writes may differ.
	failed  bool
	written []Extent
}

type write struct {
	at    int64
	bytes []byte
}

// Extent is a run of bytes of a file.
type Extent struct{ At, Length int64 }

func newNode(folder bool) *node {
	return &node{folder: folder, pages: map[int64]*page{}, durable: map[int64]*page{}}
}

func (n *node) read(b []byte, at int64) {
	clear(b)
	for done := 0; done < len(b); {
		number, offset := (at+int64(done))/pageSize, (at+int64(done))%pageSize
		step := min(len(b)-done, int(pageSize-offset))
		if p := n.pages[number]; p != nil {
			copy(b[done:done+step], p[offset:])
		}
		done += step
	}
}

func (n *node) write(b []byte, at int64) {
	if len(b) == 0 {
		return
	}
	n.writes = append(n.writes, write{at, slices.Clone(b)})
	put(n.pages, n.durable, b, at)
	n.size = max(n.size, at+int64(len(b)))
	n.note(Extent{at, int64(len(b))})
}

// put writes into an image and leaves the other one alone.
func put(image, other map[int64]*page, b []byte, at int64) {
	for len(b) > 0 {
		number, offset := at/pageSize, at%pageSize
		p := image[number]
		if p == nil {
			p = new(page)
		} else if p == other[number] {
			same := *p
			p = &same
		}
		image[number] = p
		step := copy(p[offset:], b)
		b, at = b[step:], at+int64(step)
	}
}

// note adds a written extent; extents are kept disjoint and in order.
func (n *node) note(e Extent) {
	if last := len(n.written) - 1; last >= 0 && n.written[last].At+n.written[last].Length == e.At {
		n.written[last].Length += e.Length
		return
	}
	all := append(n.written, e)
	slices.SortFunc(all, func(a, b Extent) int { return int(a.At - b.At) })
	merged := all[:1]
	for _, e := range all[1:] {
		last := &merged[len(merged)-1]
		if end := last.At + last.Length; e.At <= end {
			last.Length = max(end, e.At+e.Length) - last.At
		} else {
			merged = append(merged, e)
		}
	}
	n.written = merged
}

func (n *node) sync() {
	for _, w := range n.writes {
		if n.failed {
			put(n.durable, n.pages, w.bytes, w.at)
			continue
		}
		for number := w.at / pageSize; number*pageSize < w.at+int64(len(w.bytes)); number++ {
			n.durable[number] = n.pages[number]
		}
	}
	n.writes, n.durableSize = nil, n.size
}

// syncFailed does what Linux does: unwritten pages count as written.
func (n *node) syncFailed(random *rand.Rand) {
	n.settle(random)
	n.failed = true
}

// crash decides which contents of a file survive, and makes them the contents.
func (n *node) crash(random *rand.Rand) {
	n.settle(random)
	if n.size != n.durableSize {
		low, high := min(n.size, n.durableSize), max(n.size, n.durableSize)
		n.durableSize = []int64{low, high, low + random.Int64N(high-low)}[random.IntN(3)]
		last := n.durableSize / pageSize
		maps.DeleteFunc(n.durable, func(number int64, _ *page) bool { return number > last })
		if rest := n.durableSize % pageSize; n.durable[last] != nil {
			put(n.durable, n.pages, make([]byte, pageSize-rest), n.durableSize)
		}
	}
	n.size, n.failed = n.durableSize, false
	n.pages = maps.Clone(n.durable)
}

// settle makes some of the writes durable: none, all, the first ones with the last of them torn, or a random number in
// each sector. A sector has all writes up to some time, because a disk gets whole sectors as they are in memory.
func (n *node) settle(random *rand.Rand) {
	way, first := random.IntN(4), random.IntN(len(n.writes)+1)
	sectors := map[int64]int{}
	for i, w := range n.writes {
		torn := random.IntN(len(w.bytes)) // where the last one ends, up to a sector
		for done := 0; done < len(w.bytes); {
			at := w.at + int64(done)
			step := min(len(w.bytes)-done, int(sectorSize-at%sectorSize))
			upTo, seen := sectors[at/sectorSize]
			if way == 3 && !seen {
				upTo = random.IntN(len(n.writes) + 1)
				sectors[at/sectorSize] = upTo
			}
			if way == 1 || way == 2 && (i < first || i == first && done < torn) || way == 3 && i < upTo {
				put(n.durable, n.pages, w.bytes[done:done+step], at)
			}
			done += step
		}
	}
	n.writes = nil
}
