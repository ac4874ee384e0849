package format

import (
	"hash/crc32"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Entry is a decoded record of a segment. Its slices point into the encoded bytes.
type Entry struct {
	At     int64 // offset in the segment
	Size   int64 // distance to the next record
	Queue  store.QueueID
	Record store.Record
	Marks
	Body    int64 // length
	Damaged bool  // the body differs from the written one
}

// Decode reads the record at the beginning of b, which reaches to the end of its batch and starts at an offset. The
// body is not checked.
func Decode(b []byte, seed uint32, at int64) (e Entry, ok bool) {
	return decodeWith(b, at, func(n int64) uint32 { return crc32.Update(seed, Castagnoli, b[4:n]) })
}

// decodeWith does the same with a function that returns the checksum of the bytes from the end of the sum field up to a
// given one.
func decodeWith(b []byte, at int64, sum func(to int64) uint32) (e Entry, ok bool) {
	if len(b) < RunSize || b[7] != 0 {
		return e, false
	}
	kind, v := store.Kind(b[4]&15), b[4]>>4
	switch kind {
	case store.Put, store.Spill:
		if v < Version || v > versionTTL {
			return e, false
		}
		return decodePut(b, at, kind, sum)
	case store.Named:
		if v != Version {
			return e, false
		}
		e, ok = decodePut(b, at, kind, sum)
		return e, ok && e.Body == 0 && e.Flags == 0
	case store.Delivered, store.Returned, store.Remove, store.Retire, store.Released, store.Rescheduled, store.Deferred, store.Postponed, store.GivenBack, store.Applied:
	default:
		return e, false
	}
	if v != Version && (v != versionReleased || kind != store.Released) {
		return e, false
	}
	if little.Uint32(b) != placed(sum(RunSize), at) {
		return e, false
	}
	e = Entry{At: at, Size: RunSize, Queue: store.QueueID(little.Uint64(b[8:]))}
	e.Record = store.Record{
		Kind: kind, Why: store.Reason(b[6]),
		First: little.Uint64(b[16:]), Last: little.Uint64(b[24:]), Time: int64(little.Uint64(b[32:])),
	}
	if kind == store.Rescheduled {
		e.Record.Due, e.Record.Time = e.Record.Time, 0
	}
	if kind == store.Postponed {
		e.Record.Until, e.Record.Time = e.Record.Time, 0
	}
	if v == versionReleased {
		e.Record.TTLThen, e.Record.Time = store.TTLThen(e.Record.Time), 0
	}
	return e, true
}

func decodePut(b []byte, at int64, kind store.Kind, sum func(to int64) uint32) (e Entry, ok bool) {
	front := FrontSize(b)
	if front < 0 || front > int64(len(b)) || little.Uint32(b) != placed(sum(front), at) {
		return e, false
	}
	e = Entry{At: at, Size: front, Queue: store.QueueID(little.Uint64(b[8:])), Body: int64(little.Uint32(b[48:]))}
	e.Marks = Marks{
		Flags: b[5], BodySum: little.Uint32(b[52:]), BodyAt: int64(little.Uint32(b[56:])), Returns: message.Returns(little.Uint32(b[68:])),
	}
	if e.Flags&FlagShared == 0 {
		e.Size += e.Body
		e.BodyAt = at + front
	}
	seq := little.Uint64(b[16:])
	e.Record = store.Record{
		Kind: kind, First: seq, Last: seq, Time: int64(little.Uint64(b[24:])),
		Deadline: int64(little.Uint64(b[32:])), TTL: int64(little.Uint64(b[40:])), Priority: b[6], Note: b[5]&FlagNote != 0,
	}
	rest := b[HeadSize(b):front]
	v := b[4] >> 4
	if v >= versionDue {
		e.Record.Due = int64(little.Uint64(b[PutHead:]))
	}
	if v >= versionUntil {
		e.Until = int64(little.Uint64(b[PutHead+dueSize:]))
		e.Record.Until = e.Until
	}
	if v >= versionTTL {
		e.TTLThen = store.TTLThen(little.Uint64(b[PutHead+2*dueSize:]))
		e.Record.TTLThen = e.TTLThen
	}
	cut := func(n int) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	e.Record.Exchange, e.Record.RoutingKey = cut(int(little.Uint16(b[72:]))), cut(int(little.Uint16(b[74:])))
	e.Record.Header, e.Record.Overlay = cut(int(little.Uint32(b[60:]))), cut(int(little.Uint32(b[64:])))
	return e, true
}

// HeadSize returns the length of the fixed part of a message.
func HeadSize(b []byte) int64 { return headSize(b[4] >> 4) }

func headSize(version byte) int64 { return PutHead + dueSize*int64(version-Version) }

// FrontSize returns the length of a message without its body; -1 if b is too short.
func FrontSize(b []byte) int64 {
	if len(b) < PutHead {
		return -1
	}
	return HeadSize(b) + int64(little.Uint16(b[72:])) + int64(little.Uint16(b[74:])) +
		int64(little.Uint32(b[60:])) + int64(little.Uint32(b[64:]))
}

// SetBody sets the body of the entry, or Damaged if its checksum is wrong.
func (e *Entry) SetBody(b []byte, seed uint32) {
	if int64(len(b)) != e.Body || crc32.Update(seed, Castagnoli, b) != e.BodySum {
		e.Damaged = true
		return
	}
	e.Record.Body = b
}

// IsMessage reports whether the entry is a message, not a run or a name.
func (e *Entry) IsMessage() bool { return e.Record.Kind == store.Put || e.Record.Kind == store.Spill }
