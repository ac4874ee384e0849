package load

import "encoding/binary"

var be = binary.BigEndian

// MinSize is the smallest body in bytes: its head.
//
//	│ run 4 │ producer 4 │ sequence number 8 │ sent 8 │ should have been sent 8 │ TTL 8 │
//
// The times are wire.Now, in nanoseconds.
const MinSize = 40

// head is the start of a body.
type head struct {
	run, producer  uint32
	seq            uint64
	sent, due, ttl int64
}

func (h *head) put(b []byte) {
	be.PutUint32(b, h.run)
	be.PutUint32(b[4:], h.producer)
	be.PutUint64(b[32:], uint64(h.ttl))
	h.stamp(b)
}

// stamp puts what differs between the messages of a producer.
func (h *head) stamp(b []byte) {
	be.PutUint64(b[8:], h.seq)
	be.PutUint64(b[16:], uint64(h.sent))
	be.PutUint64(b[24:], uint64(h.due))
}

// read reports whether the body is one of the run.
func (h *head) read(b []byte, run uint32) bool {
	if len(b) < MinSize || be.Uint32(b) != run {
		return false
	}
	*h = head{
		run: run, producer: be.Uint32(b[4:]), seq: be.Uint64(b[8:]),
		sent: int64(be.Uint64(b[16:])), due: int64(be.Uint64(b[24:])), ttl: int64(be.Uint64(b[32:])),
	}
	return true
}
