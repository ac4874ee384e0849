package convert

import (
	"bytes"
	"reflect"
	"slices"

	"candlemark/protocol/amqp10"
)

// hasHeader reports whether a message annotation becomes a header of 0-9-1 (see [headers]).
func hasHeader(name []byte) bool { return bytes.HasPrefix(name, ownPrefix) }

// isBrokers reports whether the broker sets a message annotation itself, or keeps it as a property of 0-9-1.
func isBrokers(name []byte) bool {
	switch string(name) {
	case "x-exchange", "x-routing-key", "x-opt-deaths", "x-basic-type", "x-cc":
		return true
	}
	return false
}

// surviving are the types of values that always become a header from which the same value, with the same type, can be restored.
var surviving = []amqp10.Type{
	amqp10.TypeNull, amqp10.TypeBool, amqp10.TypeUByte, amqp10.TypeUShort, amqp10.TypeUInt, amqp10.TypeByte, amqp10.TypeShort, amqp10.TypeInt, amqp10.TypeLong,
	amqp10.TypeBinary, amqp10.TypeString,
}

// survives reports whether an annotation can be restored from its header.
func survives(v amqp10.Value) bool {
	switch t := v.Type(); t {
	case amqp10.TypeFloat, amqp10.TypeDouble: // infinities and NaN have no header
		return !isNoHeader(v)
	default:
		return slices.Contains(surviving, t)
	}
}

// Kept returns the encoding of a value of AMQP 1.0 that a header of 0-9-1 changes, nil for others.
func Kept(v any) []byte {
	encoded, err := amqp10.Append(nil, v)
	if err != nil || survives(encoded) {
		return nil
	}
	return encoded
}

// lostAnnotations returns a section with the message annotations that 0-9-1 cannot represent: without a header, or with
// another type there. It returns nil if there are none.
func lostAnnotations(all amqp10.Value) []byte {
	var section []byte
	start, count := 0, 0
	for key, v := range all.Entries() {
		name, ok := key.Text()
		if !ok || isBrokers(name) || hasHeader(name) && survives(v) {
			continue
		}
		if section == nil {
			section, start = amqp10.OpenMap(amqp10.AppendDescriptor(nil, amqp10.SectionMessageAnnotations))
		}
		section, count = append(append(section, key...), v...), count+2
	}
	if section == nil {
		return nil
	}
	return amqp10.CloseCompound(section, start, count)
}

// annotationsHead is how a part with message annotations begins: with the descriptor of their section.
var annotationsHead = amqp10.AppendDescriptor(nil, amqp10.SectionMessageAnnotations)

// keptAnnotations returns the annotations that an original holds beside the bare message, nil if there are none.
func keptAnnotations(original []byte) amqp10.Value {
	for len(original) > 0 {
		text, _, rest, ok := part(original)
		if !ok {
			return nil
		}
		if section, is := bytes.CutPrefix(text, annotationsHead); is {
			return section
		}
		original = rest
	}
	return nil
}

// isNoHeader reports whether 0-9-1 has no type for an annotation.
func isNoHeader(annotation amqp10.Value) bool {
	_, ok := to091(annotation.Decode())
	return !ok
}

// isHeader reports whether a header comes from an annotation, and was not set since.
func isHeader(annotation amqp10.Value, header any) bool {
	became, ok := to091(annotation.Decode())
	return ok && reflect.DeepEqual(became, header)
}
