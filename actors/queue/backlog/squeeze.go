package backlog

import "encoding/binary"

// probes limits the search for a sparse block per Remove.
const probes = 8

// squeeze moves the live records of one sparse block to the current one, so that a few remaining messages do not keep
// all blocks in memory. It rarely runs for queues that drain in order.
func (s *slab) squeeze(t *table) {
	id := s.nextSparse()
	if id == 0 {
		return
	}
	if s.blocks[id].live == 0 { // the current one
		s.drop(id)
		return
	}
	if id == s.current {
		s.current = 0
	}
	data := s.blocks[id].data
	for at := 0; at < len(data) && s.blocks[id].live > 0; {
		h := binary.LittleEndian.Uint32(data[at:])
		size := int(binary.LittleEndian.Uint16(data[at+4:]))
		if e := t.present(h); e != nil && e.flags&flagKept == 0 && e.block == id && int(e.offset) == at {
			e.block, e.offset = s.copy(data[at : at+size])
			s.release(id, size)
		}
		at += size
	}
}

// nextSparse returns a block that is less than half live, 0 if a few probes find none.
func (s *slab) nextSparse() uint32 {
	for range probes {
		s.cursor++
		if int(s.cursor) >= len(s.blocks) {
			s.cursor = 0
			continue
		}
		if b := &s.blocks[s.cursor]; b.data != nil && int(b.live)*2 < cap(b.data) {
			return s.cursor
		}
	}
	return 0
}

// copy appends a record from another block.
func (s *slab) copy(record []byte) (id uint32, offset uint16) {
	id = s.room(len(record))
	b := &s.blocks[id]
	offset = uint16(len(b.data))
	b.data = append(b.data, record...)
	b.live += uint32(len(record))
	s.live += int64(len(record))
	return id, offset
}
