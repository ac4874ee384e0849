package message

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// overlayVersion begins a stored overlay. A changed form needs another version.
const overlayVersion = 1

// The marks of a stored overlay.
const (
	markDrop = 1 << iota
	markCount
	markDelayed
	markHeld
	markMoved
	markAmended
	markReturned
	markFailed
	markTyped
	markCopied
	markAnswerable
)

// ErrOverlay: the stored bytes are not an overlay, or one of a later version.
var ErrOverlay = errors.New("message: not an overlay of a known version")

// Append adds the stored form of o to dst; nothing for nil. DecodeOverlay reads it back:
//
//	version, a uvarint of bits for DropExpiration, AddDeathCount, Delayed, Held, Hops, amendments and Answerable; then DeliveryCount,
//	the deaths, First, Last, CC, BCC and, if there are any, Delayed, Hops, Annotations and Properties (field tables, then
//	tables of their encodings if there are Typed values), DiedAfter, Failed and Copies, with numbers as uvarints, texts
//	after their length and lists after their count
func (o *Overlay) Append(dst []byte) []byte {
	if o == nil {
		return dst
	}
	marks := o.marks()
	dst = binary.AppendUvarint(append(slices.Grow(dst, o.room()), overlayVersion), marks)
	dst = binary.AppendUvarint(dst, uint64(o.DeliveryCount))
	dst = binary.AppendUvarint(dst, uint64(len(o.Deaths)))
	for i := range o.Deaths {
		d := &o.Deaths[i]
		dst = appendTexts(dst, d.Queue, d.Reason, d.Exchange, d.OriginalExpiration)
		dst = appendList(dst, d.RoutingKeys)
		dst = binary.AppendUvarint(dst, uint64(d.Count))
		dst = binary.AppendUvarint(dst, uint64(d.Time))
	}
	dst = appendTexts(dst, o.First.Queue, o.First.Reason, o.First.Exchange)
	dst = appendTexts(dst, o.Last.Queue, o.Last.Reason, o.Last.Exchange)
	dst = appendList(appendList(dst, o.CC), o.BCC)
	if o.Delayed != 0 {
		dst = binary.AppendUvarint(dst, uint64(o.Delayed))
	}
	if o.Hops != 0 {
		dst = append(dst, o.Hops&0x7f) // a uvarint
	}
	if o.amended() {
		dst = o.appendAmended(dst)
	}
	if o.DiedAfter != 0 {
		dst = binary.AppendUvarint(dst, uint64(o.DiedAfter))
	}
	if o.Failed != 0 {
		dst = binary.AppendUvarint(dst, uint64(o.Failed))
	}
	if o.Copied {
		dst = binary.AppendUvarint(dst, uint64(o.Copies))
	}
	return dst
}

// marks returns the bits of the stored form.
func (o *Overlay) marks() (marks uint64) {
	for _, m := range [...]struct {
		is   bool
		mark uint64
	}{
		{o.DropExpiration, markDrop},
		{o.AddDeathCount, markCount},
		{o.Delayed != 0, markDelayed},
		{o.Held, markHeld},
		{o.Hops != 0, markMoved},
		{o.amended(), markAmended},
		{o.DiedAfter != 0, markReturned},
		{o.Failed != 0, markFailed},
		{o.typed(), markTyped},
		{o.Copied, markCopied},
		{o.Answerable, markAnswerable},
	} {
		if m.is {
			marks |= m.mark
		}
	}
	return marks
}

// room returns at least the number of bytes that Append needs.
func (o *Overlay) room() int {
	n := 64 + listRoom(o.CC) + listRoom(o.BCC)
	for _, g := range [2]*Origin{&o.First, &o.Last} {
		n += len(g.Queue) + len(g.Reason) + len(g.Exchange)
	}
	for i := range o.Deaths {
		d := &o.Deaths[i]
		n += 32 + len(d.Queue) + len(d.Reason) + len(d.Exchange) + len(d.OriginalExpiration) + listRoom(d.RoutingKeys)
	}
	return n
}

func listRoom(list []string) (n int) {
	for _, t := range list {
		n += len(t) + 2
	}
	return n
}

func appendTexts(dst []byte, texts ...string) []byte {
	for _, t := range texts {
		dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...)
	}
	return dst
}

func appendList(dst []byte, list []string) []byte {
	return appendTexts(binary.AppendUvarint(dst, uint64(len(list))), list...)
}

// DecodeOverlay decodes the result of Append; nil if data is empty. The error is ErrOverlay. The overlay shares no
// memory with data.
func DecodeOverlay(data []byte) (*Overlay, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if data[0] != overlayVersion {
		return nil, ErrOverlay
	}
	d := decoder{rest: data[1:]}
	marks := d.number(2*markAnswerable - 1)
	o := &Overlay{DropExpiration: marks&markDrop != 0, AddDeathCount: marks&markCount != 0, DeliveryCount: uint32(d.number(math.MaxUint32))}
	if n := d.count(); n > 0 {
		o.Deaths = make([]Death, n)
	}
	for i := range o.Deaths {
		o.Deaths[i] = Death{
			Queue: d.text(), Reason: d.text(), Exchange: d.text(), OriginalExpiration: d.text(),
			RoutingKeys: d.list(), Count: int64(d.number(math.MaxUint64)), Time: int64(d.number(math.MaxUint64)),
		}
	}
	o.First = Origin{Queue: d.text(), Reason: d.text(), Exchange: d.text()}
	o.Last = Origin{Queue: d.text(), Reason: d.text(), Exchange: d.text()}
	o.CC, o.BCC = d.list(), d.list()
	o.Held, o.Answerable = marks&markHeld != 0, marks&markAnswerable != 0
	if marks&markDelayed != 0 {
		o.Delayed = int64(d.number(math.MaxInt64))
	}
	if marks&markMoved != 0 {
		o.Hops = uint8(d.number(math.MaxInt8))
	}
	if marks&markAmended != 0 {
		o.readAmended(&d, marks&markTyped != 0)
	}
	if marks&markReturned != 0 {
		o.DiedAfter = uint32(d.number(math.MaxUint32))
	}
	if marks&markFailed != 0 {
		o.Failed = uint32(d.number(math.MaxUint32))
	}
	if o.Copied = marks&markCopied != 0; o.Copied {
		o.Copies = uint32(d.number(math.MaxUint32))
	}
	if d.bad || len(d.rest) > 0 {
		return nil, ErrOverlay
	}
	return o, nil
}

// decoder reads from rest; bad is set when the bytes are not as expected.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number(limit uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > limit {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count returns the number of following items, of at least a byte each.
func (d *decoder) count() int { return int(d.number(uint64(max(len(d.rest)-1, 0)))) }

func (d *decoder) text() string {
	n := d.count()
	if n > len(d.rest) {
		d.rest, d.bad = nil, true
		return ""
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}
