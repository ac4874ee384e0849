package backlog

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	minBlock = 1 << 10
	maxBlock = 1 << 16
	// maxRecord is the limit for records in the slab; if a record does not fit into the rest of a block, that rest is
	// wasted.
	maxRecord = maxBlock / 8
	// keepBlock is the largest block that is kept while it is empty.
	keepBlock = 4 << 10
	// keepTable is the largest capacity of the table that an empty slab keeps, in blocks or contents.
	keepTable = 64
	// sparse is the maximum ratio of the size of the blocks, apart from keepBlock, to the size of the live records.
	sparse = 4
	// populateFrom is the size of the live records from which new blocks are populated, bytes. The blocks of fewer records
	// are memory that the process has used before.
	populateFrom = 4 << 20
	// recordFixed is handle, size and enqueue time at the start of a record.
	recordFixed = enqueuedAt + 8
	enqueuedAt  = 4 + 2
)

// slab holds the contents of messages as consecutive records in blocks:
//
//	handle uint32, size uint16, enqueued int64 (little-endian); TTL+1 and the lengths of exchange, routing key and header as
//	uvarints; exchange, routing key, header, body
type slab struct {
	// blocks are named by their index; 0 names no block.
	blocks []block
	free   uint32
	// current is the block being appended to, 0 if none.
	current uint32
	// cursor is where the search for a sparse block continues.
	cursor uint32
	// held is the size of all blocks, live the size of the live records.
	held, live int64
}

// block is a piece of the slab. Each of its bytes is written once.
type block struct {
	data []byte
	// live is the size of its live records.
	live uint32
	// next links the free blocks.
	next uint32
}

// recordSize returns the size of r in the slab, in bytes.
func recordSize(r *Record) int {
	return recordFixed + uvarintSize(uint64(r.TTL+1)) +
		uvarintSize(uint64(len(r.Exchange))) + uvarintSize(uint64(len(r.RoutingKey))) + uvarintSize(uint64(len(r.Header))) +
		len(r.Exchange) + len(r.RoutingKey) + len(r.Header) + len(r.Body)
}

func uvarintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// add appends r and returns its position.
func (s *slab) add(r *Record, h Handle, size int) (id uint32, offset uint16) {
	id = s.room(size)
	b := &s.blocks[id]
	start := len(b.data)
	b.data = b.data[:start+size]
	dst := b.data[start:]
	binary.LittleEndian.PutUint32(dst, h)
	binary.LittleEndian.PutUint16(dst[4:], uint16(size))
	binary.LittleEndian.PutUint64(dst[enqueuedAt:], uint64(r.Enqueued))
	n := recordFixed
	n += binary.PutUvarint(dst[n:], uint64(r.TTL+1))
	n += binary.PutUvarint(dst[n:], uint64(len(r.Exchange)))
	n += binary.PutUvarint(dst[n:], uint64(len(r.RoutingKey)))
	n += binary.PutUvarint(dst[n:], uint64(len(r.Header)))
	n += copy(dst[n:], r.Exchange)
	n += copy(dst[n:], r.RoutingKey)
	n += copy(dst[n:], r.Header)
	copy(dst[n:], r.Body)
	b.live += uint32(size)
	s.live += int64(size)
	return id, uint16(start)
}

// get reads the record into r.
func (s *slab) get(id uint32, offset, size int, r *Record) {
	data := s.blocks[id].data[offset : offset+size : offset+size]
	r.Enqueued = int64(binary.LittleEndian.Uint64(data[enqueuedAt:]))
	data = data[recordFixed:]
	var fields [4]uint64
	for i := range fields {
		if v := data[0]; v < 0x80 {
			fields[i], data = uint64(v), data[1:]
			continue
		}
		v, n := binary.Uvarint(data)
		fields[i], data = v, data[n:]
	}
	r.TTL = int64(fields[0]) - 1
	r.Exchange, data = cut(data, fields[1])
	r.RoutingKey, data = cut(data, fields[2])
	r.Header, r.Body = cut(data, fields[3])
}

// cut splits data after n bytes so that appending to the first part cannot reach the second.
func cut(data []byte, n uint64) (head, tail []byte) { return data[:n:n], data[n:] }

// room returns a block with space for size bytes, the current one or a new one, whose size depends on the size of the
// backlog.
func (s *slab) room(size int) uint32 {
	if s.current != 0 {
		b := &s.blocks[s.current]
		if cap(b.data)-len(b.data) >= size {
			return s.current
		}
		if b.live == 0 {
			s.drop(s.current)
		}
	}
	wanted := min(max(s.live, int64(size), minBlock), maxBlock)
	length := 1 << bits.Len64(uint64(wanted-1))
	if len(s.blocks) == 0 {
		s.blocks = make([]block, 1, 2)
	}
	id := s.free
	if id != 0 {
		s.free = s.blocks[id].next
	} else {
		id = uint32(len(s.blocks))
		s.blocks = append(s.blocks, block{})
	}
	data := make([]byte, 0, length)
	if s.live >= populateFrom {
		_ = populate(data[:length]) // without it, writing maps the pages one by one
	}
	s.blocks[id] = block{data: data}
	s.held += int64(length)
	s.current = id
	return id
}

// release removes one record. It reports whether sparse blocks should be merged.
func (s *slab) release(id uint32, size int) (wasteful bool) {
	b := &s.blocks[id]
	b.live -= uint32(size)
	s.live -= int64(size)
	if b.live == 0 && (id != s.current || cap(b.data) > keepBlock) {
		s.drop(id)
	}
	return s.held > sparse*s.live+keepBlock
}

// drop leaves a block to the garbage collector.
func (s *slab) drop(id uint32) {
	b := &s.blocks[id]
	s.held -= int64(cap(b.data))
	*b = block{next: s.free}
	s.free = id
	if s.current == id {
		s.current = 0
	}
	if s.held == 0 {
		s.blocks, s.free, s.cursor = s.blocks[:1], 0, 0
		if cap(s.blocks) > keepTable {
			s.blocks = nil
		}
	}
}

// memory returns the bytes of memory used.
func (s *slab) memory() int64 {
	return s.held + int64(cap(s.blocks))*int64(unsafe.Sizeof(block{}))
}
