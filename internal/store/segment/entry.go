package segment

import (
	"hash/crc32"

	"candlemark/internal/store"
)

// entry is a record as it stands in a segment. Its slices point into what it was
// decoded from.
type entry struct {
	at     int64 // where it stands
	size   int64 // to the next record
	queue  store.QueueID
	record store.Record
	marks
	body    int64 // length
	damaged bool  // the body is not what was written
}

// decode reads the record at the beginning of b, which reaches to the end of its
// batch and stands at an offset. The body is not looked at.
func decode(b []byte, seed uint32, at int64) (e entry, ok bool) {
	return decodeWith(b, at, func(n int64) uint32 { return crc32.Update(seed, castagnoli, b[4:n]) })
}

// decodeWith does so with a function that sums up all in front of a byte but the sum.
func decodeWith(b []byte, at int64, sum func(to int64) uint32) (e entry, ok bool) {
	if len(b) < runSize || b[7] != 0 {
		return e, false
	}
	kind, v := store.Kind(b[4]&15), b[4]>>4
	switch kind {
	case store.Put, store.Spill:
		if v != version && v != versionDue {
			return e, false
		}
		return decodePut(b, at, kind, sum)
	case store.Named:
		if v != version {
			return e, false
		}
		e, ok = decodePut(b, at, kind, sum)
		return e, ok && e.body == 0 && e.flags == 0
	case store.Delivered, store.Returned, store.Remove, store.Retire, store.Released, store.Rescheduled:
	default:
		return e, false
	}
	if v != version {
		return e, false
	}
	if little.Uint32(b) != placed(sum(runSize), at) {
		return e, false
	}
	e = entry{at: at, size: runSize, queue: store.QueueID(little.Uint64(b[8:]))}
	e.record = store.Record{
		Kind: kind, Why: store.Reason(b[6]),
		First: little.Uint64(b[16:]), Last: little.Uint64(b[24:]), Time: int64(little.Uint64(b[32:])),
	}
	if kind == store.Rescheduled {
		e.record.Due, e.record.Time = e.record.Time, 0
	}
	return e, true
}

func decodePut(b []byte, at int64, kind store.Kind, sum func(to int64) uint32) (e entry, ok bool) {
	front := frontSize(b)
	if front < 0 || front > int64(len(b)) || little.Uint32(b) != placed(sum(front), at) {
		return e, false
	}
	e = entry{at: at, size: front, queue: store.QueueID(little.Uint64(b[8:])), body: int64(little.Uint32(b[48:]))}
	e.marks = marks{
		flags: b[5], bodySum: little.Uint32(b[52:]), bodyAt: int64(little.Uint32(b[56:])), deliveries: little.Uint32(b[68:]),
	}
	if e.flags&flagShared == 0 {
		e.size += e.body
		e.bodyAt = at + front
	}
	seq := little.Uint64(b[16:])
	e.record = store.Record{
		Kind: kind, First: seq, Last: seq, Time: int64(little.Uint64(b[24:])),
		Deadline: int64(little.Uint64(b[32:])), TTL: int64(little.Uint64(b[40:])), Priority: b[6],
	}
	rest := b[headSize(b):front]
	if isDue(b) {
		e.record.Due = int64(little.Uint64(b[putHead:]))
	}
	cut := func(n int) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	e.record.Exchange, e.record.RoutingKey = cut(int(little.Uint16(b[72:]))), cut(int(little.Uint16(b[74:])))
	e.record.Header, e.record.Overlay = cut(int(little.Uint32(b[60:]))), cut(int(little.Uint32(b[64:])))
	return e, true
}

// isDue tells whether a message, whose head is b, was scheduled.
func isDue(b []byte) bool { return b[4]>>4 == versionDue }

// headSize is the length of what a message begins with.
func headSize(b []byte) int64 {
	if isDue(b) {
		return putHead + dueSize
	}
	return putHead
}

// frontSize is the length of a message without its body; -1 if b is too short to
// tell.
func frontSize(b []byte) int64 {
	if len(b) < putHead {
		return -1
	}
	return headSize(b) + int64(little.Uint16(b[72:])) + int64(little.Uint16(b[74:])) +
		int64(little.Uint32(b[60:])) + int64(little.Uint32(b[64:]))
}

// setBody gives the entry its body, or finds that it is damaged.
func (e *entry) setBody(b []byte, seed uint32) {
	if int64(len(b)) != e.body || crc32.Update(seed, castagnoli, b) != e.bodySum {
		e.damaged = true
		return
	}
	e.record.Body = b
}

func (e *entry) isMessage() bool { return e.record.Kind == store.Put || e.record.Kind == store.Spill }
