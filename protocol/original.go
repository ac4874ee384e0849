package protocol

import "encoding/binary"

// A raw property list may carry the message's data of another protocol, after its last property: clients of that
// protocol get it back unchanged, all others see only the properties. It is never sent over 0-9-1.
//
//	│ flags, the lowest set │ properties │ original │ its size, 4 bytes │
const flagOriginal = 1

// originalSize is the number of bytes of the size of an original.
const originalSize = 4

// WithOriginal makes the bytes of raw from begin on the original of the property list before them, which must have
// none, and returns the result.
func WithOriginal(raw []byte, begin int) []byte {
	raw[1] |= flagOriginal
	return binary.BigEndian.AppendUint32(raw, uint32(len(raw)-begin))
}

// SplitOriginal returns the property list of raw, with the flag for the original still set, and the original, nil if
// there is none.
func SplitOriginal(raw []byte) (list, original []byte) {
	end := len(raw) - originalSize
	if end < 2 || raw[1]&flagOriginal == 0 {
		return raw, nil
	}
	size := uint64(binary.BigEndian.Uint32(raw[end:]))
	if size > uint64(end-2) {
		return raw, nil
	}
	begin := end - int(size)
	return raw[:begin:begin], raw[begin:end:end]
}

// WithoutOriginal returns raw for clients of 0-9-1: without an original, and without its flag.
func WithoutOriginal(raw []byte) []byte {
	list, _ := SplitOriginal(raw)
	return withKnownFlags(list)
}

// withKnownFlags returns raw without unknown flags, in a copy if there are any.
func withKnownFlags(raw []byte) []byte {
	const known = byte(flagsKnown & 0xff)
	if len(raw) < 2 || raw[1]&^known == 0 {
		return raw
	}
	raw = append([]byte(nil), raw...)
	raw[1] &= known
	return raw
}
