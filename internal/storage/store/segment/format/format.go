package format

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// A segment, all numbers little endian:
//
//	0      header, 512 B
//	       | magic 8 | segment 8 | salt 8 | size 8 | zeros | sum 4 |
//	512    the same again
//	4096   batch, batch, … zeros up to the page
//
// A batch:
//
//	 0              4      8         16       20        24
//	| magic "CmB1" | sum  | number  | length | records | records…, length bytes
//
// The highest bit of records is set while the batch is written ahead: the one before it was not durable yet. The head is
// written again without it before the batch is durable.
//
// A run (Applied, Delivered, Returned, GivenBack, Remove, Retire, Released, Deferred, Rescheduled, Postponed; for the last two, time is
// when the messages are due or ready again; a Released of version 2 has the TTL of the queue there):
//
//	 0     4             5   6     7   8       16      24     32
//	| sum | version,kind | 0 | why | 0 | queue | first | last | time |
//
// A message (Put, Spill):
//
//	 0     4             5       6          7   8       16    24     32         40
//	| sum | version,kind | flags | priority | 0 | queue | seq | time | deadline | ttl |
//	 48     52         56       60       64        68           72         74
//	| body | body sum | body at | header | overlay | returns    | exchange | key |
//	 76
//	| exchange | key | header | overlay | body |
//
// A scheduled message has version 2, with its due time in between:
//
//	 76    84
//	| due | exchange | key | header | overlay | body |
//
// A moved message that was postponed has version 3, with the time when it is due (0 if never scheduled) and when it is
// ready again:
//
//	 76    84      92
//	| due | until | exchange | key | header | overlay | body |
//
// A released message has version 4, with the same fields and the TTL of the queue at its release:
//
//	 76    84      92    100
//	| due | until | ttl | exchange | key | header | overlay | body |
//
// A name (Named) is encoded as a message with the virtual host as exchange and the queue as key; all else in it is 0.
//
// The sum of a message covers everything but the body, which has its own. A body that another message of the batch
// already contains is only referred to: "body at" is its offset in the file.
const (
	segmentMagic = "CmSegm01"
	batchMagic   = 0x31426d43 // "CmB1"

	HeaderSize  = 512
	BatchesFrom = 4096
	PageSize    = 4096

	BatchHead = 24
	RunSize   = 40
	PutHead   = 76
	dueSize   = 8

	Version         = 1
	versionDue      = 2 // a scheduled message
	versionUntil    = 3 // a postponed message
	versionTTL      = 4 // a released message
	versionReleased = 2 // a run with the TTL of the queue
)

// Flags of a message.
const (
	FlagMoved       = 1 << iota // moved from an older segment
	FlagShared                  // its body is elsewhere in the segment
	FlagRedelivered             // of a moved message: it was delivered
	FlagReleased                // of a moved message: it came due
	FlagDeferred                // of a moved message: it was deferred
	FlagNote                    // a note of the queue, not a message
)

var (
	// Castagnoli is the table of the polynomial of all sums.
	Castagnoli = crc32.MakeTable(crc32.Castagnoli)
	little     = binary.LittleEndian
)

// SeedOf returns the initial value of all sums of a segment. Segments of one process have different numbers and so
// different seeds.
func SeedOf(seq, salt uint64) uint32 { return uint32(seq)*0x9E3779B1 ^ uint32(salt>>32) ^ uint32(salt) }

// SumAt returns the sum of bytes at an offset.
func SumAt(seed uint32, b []byte, at int64) uint32 {
	return placed(crc32.Update(seed, Castagnoli, b), at)
}

// placed turns the sum of bytes into their sum at an offset.
func placed(sum uint32, at int64) uint32 { return sum ^ uint32(at)*0x85EBCA6B }

// PositionOf packs a segment's number and an offset.
func PositionOf(seq uint64, at int64) store.Position { return store.Position(seq<<32 | uint64(at)) }

// PlaceOf unpacks a segment's number and an offset.
func PlaceOf(p store.Position) (seq uint64, at int64) { return uint64(p) >> 32, int64(p & 0xFFFFFFFF) }

// EncodeHeader returns the first 1024 bytes of a segment: the header twice.
func EncodeHeader(seq, salt uint64, size int64) []byte {
	b := make([]byte, HeaderSize, 2*HeaderSize)
	copy(b, segmentMagic)
	little.PutUint64(b[8:], seq)
	little.PutUint64(b[16:], salt)
	little.PutUint64(b[24:], uint64(size))
	little.PutUint32(b[HeaderSize-4:], crc32.Checksum(b[:HeaderSize-4], Castagnoli))
	return append(b, b...)
}

// DecodeHeader decodes one copy of the header.
func DecodeHeader(b []byte) (seq, salt uint64, size int64, ok bool) {
	ok = string(b[:8]) == segmentMagic &&
		little.Uint32(b[HeaderSize-4:]) == crc32.Checksum(b[:HeaderSize-4], Castagnoli)
	return little.Uint64(b[8:]), little.Uint64(b[16:]), int64(little.Uint64(b[24:])), ok
}

// putVersion returns the format version for a message.
func putVersion(r *store.Record) byte {
	switch {
	case r.TTLThen != 0:
		return versionTTL
	case r.Until != 0:
		return versionUntil
	case r.Due != 0:
		return versionDue
	}
	return Version
}

// PutSize returns the length of a message in the log including its body, bytes.
func PutSize(r *store.Record) int64 {
	return headSize(putVersion(r)) + int64(len(r.Exchange)+len(r.RoutingKey)+len(r.Header)+len(r.Overlay)+len(r.Body))
}

// AppendRun encodes a run for an offset.
func AppendRun(b []byte, seed uint32, at int64, q store.QueueID, r *store.Record) []byte {
	var head [RunSize]byte
	head[4], head[6] = Version<<4|byte(r.Kind), byte(r.Why)
	little.PutUint64(head[8:], uint64(q))
	little.PutUint64(head[16:], r.First)
	little.PutUint64(head[24:], r.Last)
	little.PutUint64(head[32:], uint64(r.Time))
	switch r.Kind {
	case store.Rescheduled:
		little.PutUint64(head[32:], uint64(r.Due))
	case store.Postponed:
		little.PutUint64(head[32:], uint64(r.Until))
	case store.Released:
		if r.TTLThen != 0 {
			head[4] = versionReleased<<4 | byte(r.Kind)
			little.PutUint64(head[32:], uint64(r.TTLThen))
		}
	case store.Put, store.Spill, store.Delivered, store.Returned, store.Remove, store.Retire, store.Named, store.Deferred, store.GivenBack, store.Applied:
	}
	little.PutUint32(head[0:], SumAt(seed, head[4:], at))
	return append(b, head[:]...)
}

// Marks hold the state that a moved message takes along, and the place of its body.
type Marks struct {
	Flags   byte
	Returns message.Returns
	Until   int64         // as in the Record
	TTLThen store.TTLThen // as in the Record
	BodyAt  int64
	BodySum uint32
}

// AppendFront encodes a message without its body, for an offset.
func AppendFront(b []byte, seed uint32, at int64, q store.QueueID, r *store.Record, m Marks) []byte {
	start := len(b)
	var head [PutHead]byte
	v := putVersion(r)
	head[4], head[5], head[6] = v<<4|byte(r.Kind), m.Flags, r.Priority
	if r.Note {
		head[5] |= FlagNote
	}
	little.PutUint64(head[8:], uint64(q))
	little.PutUint64(head[16:], r.First)
	little.PutUint64(head[24:], uint64(r.Time))
	little.PutUint64(head[32:], uint64(r.Deadline))
	little.PutUint64(head[40:], uint64(r.TTL))
	little.PutUint32(head[48:], uint32(len(r.Body)))
	little.PutUint32(head[52:], m.BodySum)
	little.PutUint32(head[56:], uint32(m.BodyAt))
	little.PutUint32(head[60:], uint32(len(r.Header)))
	little.PutUint32(head[64:], uint32(len(r.Overlay)))
	little.PutUint32(head[68:], uint32(m.Returns))
	little.PutUint16(head[72:], uint16(len(r.Exchange)))
	little.PutUint16(head[74:], uint16(len(r.RoutingKey)))
	b = append(b, head[:]...)
	if v >= versionDue {
		b = little.AppendUint64(b, uint64(r.Due))
	}
	if v >= versionUntil {
		b = little.AppendUint64(b, uint64(r.Until))
	}
	if v >= versionTTL {
		b = little.AppendUint64(b, uint64(r.TTLThen))
	}
	b = append(b, r.Exchange...)
	b = append(b, r.RoutingKey...)
	b = append(b, r.Header...)
	b = append(b, r.Overlay...)
	little.PutUint32(b[start:], SumAt(seed, b[start+4:], at))
	return b
}

// aheadBit marks the head of a batch that is written ahead.
const aheadBit = 1 << 31

// PutBatchHead fills in the head of a batch whose records follow. ahead: the batch before it may not be durable.
func PutBatchHead(b []byte, seed uint32, at int64, number uint64, length int64, records int, ahead bool) {
	if ahead {
		records |= aheadBit
	}
	little.PutUint32(b[0:], batchMagic)
	little.PutUint64(b[8:], number)
	little.PutUint32(b[16:], uint32(length))
	little.PutUint32(b[20:], uint32(records))
	little.PutUint32(b[4:], SumAt(seed, b[8:BatchHead], at))
}

// batchInfo is the head of a batch, decoded.
type batchInfo struct {
	at      int64
	Number  uint64
	length  int64 // of its records, bytes
	records int
	ahead   bool
}

func (i batchInfo) end() int64 { return i.at + BatchHead + i.length }

func decodeBatchHead(b []byte, seed uint32, at int64) (info batchInfo, ok bool) {
	if len(b) < BatchHead || little.Uint32(b) != batchMagic || little.Uint32(b[4:]) != SumAt(seed, b[8:BatchHead], at) {
		return batchInfo{}, false
	}
	records := little.Uint32(b[20:])
	return batchInfo{at, little.Uint64(b[8:]), int64(little.Uint32(b[16:])), int(records &^ aheadBit), records&aheadBit != 0}, true
}

// RoundUp returns the next end of a page.
func RoundUp(n int64) int64 { return (n + PageSize - 1) / PageSize * PageSize }

// allZero reports whether all bytes are zero, so that nothing was ever written there.
func allZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}
