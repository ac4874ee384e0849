package convert

import (
	"bytes"
	"encoding/binary"
	"slices"

	"candlemark/protocol/amqp10"
)

// AppendOriginal appends the parts of a message of AMQP 1.0 that 0-9-1's property list must carry in addition to the
// result of [To091]: the bare message without the bytes of the body, the footer unless the body has it, and the message
// annotations that 0-9-1 has no type for. s are the sections of message.
//
// The form is a list of pieces of AMQP 1.0, each with the number of bytes of the body that follow it. The first piece holds the properties and application
// properties, the next ones what stands between the parts of the body; the footer of data comes next, annotations, if any, after it, and a header
// of [AppendHeader] comes last.
func AppendOriginal(dst, message []byte, s *amqp10.Sections) []byte {
	body := s.Body()
	dst = appendPart(dst, message[s.BareStart:s.BareEnd-len(body)], 0)
	if s.BodyKind != 0 && s.BodyKind != amqp10.SectionData {
		dst = appendPart(dst, nil, len(s.BodyAndFooter()))
	} else {
		at := 0
		for end, v := range s.BodyValues() {
			data, _ := v.Binary()
			dst = appendPart(dst, body[at:end-len(data)], len(data))
			at = end
		}
		dst = appendPart(dst, message[s.BareEnd:], 0)
	}
	if lost := lostAnnotations(s.MessageAnnotations); lost != nil {
		dst = appendPart(dst, lost, 0)
	}
	return dst
}

// headerHead is how a part with a header begins: with the descriptor of its section.
var headerHead = amqp10.AppendDescriptor(nil, amqp10.SectionHeader)

// AppendHeader appends to an original the fields durable and first-acquirer of a message that has a header, for [SentHeader].
func AppendHeader(dst []byte, s *amqp10.Sections) []byte {
	h, err := s.Header()
	if err != nil || !s.HasHeader() {
		return dst
	}
	return appendPart(dst, amqp10.AppendComposite(nil, &amqp10.Header{Durable: h.Durable, FirstAcquirer: h.FirstAcquirer}), 0)
}

// SentHeader returns the fields durable and first-acquirer with which a message was sent; ok is false if the original does not hold them.
func SentHeader(original []byte) (durable, firstAcquirer, ok bool) {
	for len(original) > 0 {
		text, _, rest, ok := part(original)
		if !ok {
			break
		}
		if bytes.HasPrefix(text, headerHead) {
			s, err := amqp10.ScanSections(text)
			h, wrong := s.Header()
			return h.Durable, h.FirstAcquirer, err == nil && wrong == nil
		}
		original = rest
	}
	return false, false, false
}

func appendPart(dst, text []byte, body int) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	return binary.AppendUvarint(dst, uint64(body))
}

// part takes the first part of an original; ok is false if the bytes are no original.
func part(original []byte) (text []byte, body uint64, rest []byte, ok bool) {
	size, n := binary.Uvarint(original)
	if n <= 0 || size > uint64(len(original)-n) {
		return nil, 0, nil, false
	}
	text, rest = original[n:n+int(size)], original[n+int(size):]
	body, n = binary.Uvarint(rest)
	if n <= 0 {
		return nil, 0, nil, false
	}
	return text, body, rest[n:], true
}

// Fits reports whether original is one, and of a message with that body.
func Fits(original, body []byte) bool {
	left := uint64(len(body))
	for len(original) > 0 {
		_, size, rest, ok := part(original)
		if !ok || size > left {
			return false
		}
		original, left = rest, left-size
	}
	return original != nil && left == 0
}

// appendPieces appends the bare message and the footer to v, as pieces of original and body, which fit each other.
func appendPieces(v [][]byte, original, body []byte) [][]byte {
	for len(original) > 0 {
		text, size, rest, _ := part(original)
		if len(text) > 0 && !bytes.HasPrefix(text, annotationsHead) && !bytes.HasPrefix(text, headerHead) {
			v = append(v, text)
		}
		if size > 0 {
			v = append(v, body[:size])
		}
		original, body = rest, body[size:]
	}
	return v
}

// amended returns an original with more application properties; unchanged if there are none, or it is not an original.
func amended(original []byte, more amqp10.Map) []byte {
	if len(more) == 0 {
		return original
	}
	given := byName(more)
	with, ok := Changed(original, nil, func(name string) bool { _, is := given[name]; return is }, more)
	if !ok {
		return original
	}
	return with
}

// Changed returns an original after calling change, unless nil, for its properties, without the application properties
// for which drop returns true, and with more. It returns false if original is not one, or the result cannot be encoded.
// The original is not modified.
func Changed(original []byte, change func(*amqp10.Properties), drop func(name string) bool, more amqp10.Map) (changed []byte, ok bool) {
	text, body, rest, ok := part(original)
	if !ok {
		return nil, false
	}
	var p amqp10.Properties
	s, err := amqp10.ScanSections(text)
	if err != nil || s.Properties(&p) != nil {
		return nil, false
	}
	if change != nil {
		change(&p)
	}
	all, _ := s.ApplicationProperties.Decode().(amqp10.Map)
	all = slices.DeleteFunc(all, func(x amqp10.Entry) bool { name, is := x.Key.(string); return is && drop(name) })
	all = append(all, more...)
	section, err := amqp10.Append(nil, all)
	if err != nil {
		return nil, false
	}
	bare := amqp10.AppendSection(amqp10.AppendComposite(nil, &p), amqp10.SectionApplicationProperties, section)
	return append(appendPart(nil, bare, int(body)), rest...), true
}

// applicationProperties returns the application properties of an original.
func applicationProperties(original []byte) amqp10.Value {
	text, _, _, ok := part(original)
	if !ok {
		return nil
	}
	s, err := amqp10.ScanSections(text)
	if err != nil {
		return nil
	}
	return s.ApplicationProperties
}

// OriginalProperties returns the properties of an original; false if it has none.
func OriginalProperties(original []byte) (p amqp10.Properties, ok bool) {
	text, _, _, ok := part(original)
	if !ok {
		return p, false
	}
	s, err := amqp10.ScanSections(text)
	if err != nil || s.Properties(&p) != nil {
		return p, false
	}
	return p, true
}
