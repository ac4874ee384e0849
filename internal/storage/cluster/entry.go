package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
)

// An entry of the log, numbers little endian or varints:
//
//	| version 1 | sum 4 | sender 8 | number 8 | time 8 | operations …
//
// The sum covers what follows it. An operation is a kind and, for records: queue, count and the records; for a change of the definitions:
// length and definitions.Change.Encode. A body that an earlier record of the entry has is referred to by its offset.
const (
	entryVersion = 2
	entryHead    = 29
	sumFrom      = 5

	kindRecords = 1
	kindChange  = 2
	kindBegin   = 3 // a broker begins

	sharedFrom = 512 // bytes; shorter bodies are repeated
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// operation is one call of the broker: an Append, a change of the definitions, or a question that waits for its turn.
type operation struct {
	queue   store.QueueID
	records []store.Record
	done    func(error)

	change  *definitions.Change
	encoded []byte
	stored  func(uint64, error)

	// begin: the first operation of a term.
	begin bool
	// ask is called when everything before the operation was applied; nothing of it is in the entry.
	ask func(error)
}

// size estimates the length of the encoded operation, bytes.
func (o *operation) size() int {
	n := 16 + len(o.encoded)
	for i := range o.records {
		r := &o.records[i]
		n += 64 + len(r.Body) + len(r.Header) + len(r.Overlay) + len(r.Exchange) + len(r.RoutingKey)
	}
	return n
}

type bodyKey struct {
	first *byte
	size  int
}

type encoder struct {
	b      []byte
	bodies map[bodyKey]int
}

// origin says who made an entry, and when.
type origin struct {
	sender, number uint64
	at             int64 // time of the cluster, ns since 1970
}

// encodeEntry encodes the operations of an entry.
func encodeEntry(o origin, list []operation) []byte {
	size := entryHead
	for i := range list {
		size += list[i].size()
	}
	e := encoder{b: make([]byte, entryHead, size)}
	e.b[0] = entryVersion
	binary.LittleEndian.PutUint64(e.b[sumFrom:], o.sender)
	binary.LittleEndian.PutUint64(e.b[sumFrom+8:], o.number)
	binary.LittleEndian.PutUint64(e.b[sumFrom+16:], uint64(o.at))
	for i := range list {
		o := &list[i]
		switch {
		case o.begin:
			e.b = append(e.b, kindBegin)
		case o.change != nil:
			e.b = append(e.b, kindChange)
			e.bytes(o.encoded)
		case len(o.records) > 0:
			e.b = append(e.b, kindRecords)
			e.number(uint64(o.queue))
			e.number(uint64(len(o.records)))
			for n := range o.records {
				e.record(&o.records[n])
			}
		}
	}
	binary.LittleEndian.PutUint32(e.b[1:], crc32.Checksum(e.b[sumFrom:], castagnoli))
	return e.b
}

func (e *encoder) number(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) signed(n int64)  { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) bytes(b []byte) {
	e.number(uint64(len(b)))
	e.b = append(e.b, b...)
}

// Flags of a record.
const (
	flagAgain = 1 << iota
	flagNote
	flagOrigin
	flagTimes // Due, Until or TTLThen
	flagMessage
)

func (e *encoder) record(r *store.Record) {
	flags := byte(0)
	if r.Again {
		flags |= flagAgain
	}
	if r.Note {
		flags |= flagNote
	}
	if r.Origin != (store.Origin{}) {
		flags |= flagOrigin
	}
	if r.Due != 0 || r.Until != 0 || r.TTLThen != 0 {
		flags |= flagTimes
	}
	if r.Kind == store.Put || r.Kind == store.Spill || r.Kind == store.Named {
		flags |= flagMessage
	}
	e.b = append(e.b, byte(r.Kind), flags, byte(r.Why))
	e.signed(r.Time)
	e.number(r.First)
	e.number(r.Last - r.First)
	if flags&flagTimes != 0 {
		e.signed(r.Due)
		e.signed(r.Until)
		e.signed(int64(r.TTLThen))
	}
	if flags&flagOrigin != 0 {
		e.number(uint64(r.Origin.Queue))
		e.number(r.Origin.Seq)
	}
	if flags&flagMessage == 0 {
		return
	}
	e.b = append(e.b, r.Priority)
	e.signed(r.Deadline)
	e.signed(r.TTL)
	e.bytes(r.Exchange)
	e.bytes(r.RoutingKey)
	e.bytes(r.Header)
	e.bytes(r.Overlay)
	e.body(r.Body)
}

// body appends a body, or the offset of the same one: length, 0 or the offset, bytes.
func (e *encoder) body(b []byte) {
	e.number(uint64(len(b)))
	if len(b) >= sharedFrom {
		key := bodyKey{unsafe.SliceData(b), len(b)}
		if at, ok := e.bodies[key]; ok {
			e.number(uint64(at))
			return
		}
		e.number(0)
		if e.bodies == nil {
			e.bodies = map[bodyKey]int{}
		}
		e.bodies[key] = len(e.b)
	}
	e.b = append(e.b, b...)
}

// errEntry: the entry was not written by this program, or is damaged.
var errEntry = errors.New("the entry is damaged")

// checkEntry verifies an entry and returns who made it.
func checkEntry(b []byte) (o origin, err error) {
	switch {
	case len(b) < entryHead || binary.LittleEndian.Uint32(b[1:]) != crc32.Checksum(b[sumFrom:], castagnoli):
		return o, errEntry
	case b[0] != entryVersion:
		return o, fmt.Errorf("the entry has version %d, which this program does not know", b[0])
	}
	n := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	return origin{n(sumFrom), n(sumFrom + 8), int64(n(sumFrom + 16))}, nil
}

type decoder struct {
	all  []byte
	at   int
	fail bool
}

// decodeEntry decodes an entry that checkEntry has accepted. The operations refer to its bytes.
func decodeEntry(b []byte) (list []operation, err error) {
	d := decoder{all: b, at: entryHead}
	for d.at < len(b) && !d.fail {
		switch d.byte() {
		case kindBegin:
			list = append(list, operation{begin: true})
		case kindChange:
			c, err := definitions.DecodeChange(d.bytes())
			if err != nil {
				return nil, err
			}
			list = append(list, operation{change: &c})
		case kindRecords:
			o := operation{queue: store.QueueID(d.number())}
			n := d.number()
			if n > uint64(len(b)) {
				return nil, errEntry
			}
			o.records = make([]store.Record, n)
			for i := range o.records {
				d.record(&o.records[i])
			}
			list = append(list, o)
		default:
			d.fail = true
		}
	}
	if d.fail {
		return nil, errEntry
	}
	return list, nil
}

func (d *decoder) byte() byte {
	if d.at >= len(d.all) {
		d.fail = true
		return 0
	}
	d.at++
	return d.all[d.at-1]
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.all[d.at:])
	if size <= 0 {
		d.fail = true
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) signed() int64 {
	n, size := binary.Varint(d.all[d.at:])
	if size <= 0 {
		d.fail = true
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) bytes() []byte { return d.take(d.number()) }

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.all)-d.at) {
		d.fail = true
		return nil
	}
	b := d.all[d.at : d.at+int(n) : d.at+int(n)]
	d.at += int(n)
	return b
}

func (d *decoder) record(r *store.Record) {
	r.Kind = store.Kind(d.byte())
	flags := d.byte()
	r.Why, r.Again, r.Note = store.Reason(d.byte()), flags&flagAgain != 0, flags&flagNote != 0
	r.Time, r.First = d.signed(), d.number()
	r.Last = r.First + d.number()
	if flags&flagTimes != 0 {
		r.Due, r.Until, r.TTLThen = d.signed(), d.signed(), store.TTLThen(d.signed())
	}
	if flags&flagOrigin != 0 {
		r.Origin = store.Origin{Queue: store.QueueID(d.number()), Seq: d.number()}
	}
	if flags&flagMessage == 0 {
		return
	}
	r.Priority, r.Deadline, r.TTL = d.byte(), d.signed(), d.signed()
	r.Exchange, r.RoutingKey, r.Header, r.Overlay = d.bytes(), d.bytes(), d.bytes(), d.bytes()
	r.Body = d.body()
}

func (d *decoder) body() []byte {
	n := d.number()
	if n < sharedFrom {
		return d.take(n)
	}
	at := d.number()
	if at == 0 {
		return d.take(n)
	}
	if n > math.MaxInt32 || at < entryHead || at+n > uint64(d.at) {
		d.fail = true
		return nil
	}
	return d.all[at : at+n : at+n]
}
