package amqp10

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// assembler encodes the notation of testdata/violations.txt, which is explained at the top of that file.
type assembler struct{ words []string }

// assemble panics on invalid notation.
func assemble(text string) []byte {
	a := &assembler{strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text))}
	var b []byte
	for len(a.words) > 0 {
		b = append(b, a.next()...)
	}
	return b
}

func (a *assembler) word() string {
	w := a.words[0]
	a.words = a.words[1:]
	return w
}

// next returns the next value.
func (a *assembler) next() []byte {
	w := a.word()
	if w == "(" {
		kind := a.word()
		var parts [][]byte
		for a.words[0] != ")" {
			parts = append(parts, a.next())
		}
		a.word()
		return compound(kind, parts)
	}
	switch simple := map[string]string{"_": "40", "t": "41", "f": "42", "AMQP": "414d515000010000", "SASL": "414d515003010000"}[w]; {
	case simple != "":
		return unhex(simple)
	case w[0] == 'x':
		return unhex(w[1:])
	case w[0] == '\'':
		return append([]byte{0xa1, byte(len(w) - 1)}, w[1:]...)
	case w[0] == ':':
		return append([]byte{0xa3, byte(len(w) - 1)}, w[1:]...)
	case w[0] == 'b':
		return []byte{0x50, byte(number(w[1:]))}
	case w[0] == 'h':
		return binary.BigEndian.AppendUint16([]byte{0x60}, uint16(number(w[1:])))
	case w[0] == 'l':
		return binary.BigEndian.AppendUint64([]byte{0x80}, number(w[1:]))
	}
	return binary.BigEndian.AppendUint32([]byte{0x70}, uint32(number(w)))
}

// performatives are descriptors by their names.
var performatives = map[string]byte{
	"open": 0x10, "begin": 0x11, "attach": 0x12, "flow": 0x13, "transfer": 0x14, "disposition": 0x15, "detach": 0x16, "end": 0x17, "close": 0x18,
	"error": 0x1d, "received": 0x23, "accepted": 0x24, "rejected": 0x25, "released": 0x26, "modified": 0x27, "source": 0x28, "target": 0x29,
	"coordinator": 0x30, "declared": 0x33, "transactional": 0x34, "mechanisms": 0x40, "init": 0x41, "response": 0x43, "outcome": 0x44, "unknown": 0x7f,
}

func compound(kind string, parts [][]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	list := func(code byte, b []byte) []byte {
		return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte{code}, uint32(len(b)+4)), uint32(len(parts))), b...)
	}
	if code, ok := performatives[kind]; ok {
		return append([]byte{0, 0x53, code}, list(0xd0, b)...)
	}
	switch {
	case kind == "list":
		return list(0xd0, b)
	case kind == "map":
		return list(0xd1, b)
	case kind == "deep": // nested lists
		for range 100_000 / 9 {
			parts = [][]byte{b}
			b = list(0xd0, b)
		}
		return b
	case strings.HasPrefix(kind, "sasl"):
		return frame(1, 0, b)
	}
	return frame(0, uint16(number(kind[1:])), b) // @CHANNEL
}

func frame(kind byte, channel uint16, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(binary.BigEndian.AppendUint16(append(b, 2, kind), channel), body...)
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}
