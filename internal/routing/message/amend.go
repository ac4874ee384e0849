package message

import (
	"encoding/binary"
	"slices"
	"strings"

	"candlemark/protocol"
)

// MaxAmended is the maximum size in bytes of the Annotations and Properties of an overlay, encoded as field tables.
const MaxAmended = 64 << 10

// reserved are prefixes of header names for dead-lettering, which consumers cannot set.
var reserved = [...]string{"x-death", "x-first-death-", "x-last-death-"}

// Typed is a value of an overlay's Annotations or Properties from AMQP 1.0 that 0-9-1 cannot represent exactly.
type Typed struct {
	Value   any    // as a field value of 0-9-1
	Encoded []byte // as encoded by AMQP 1.0, not modified afterwards
}

// Amended returns the overlay with more annotations and properties, which replace older ones of the same names; their
// values may be Typed. It returns o itself if the result would exceed MaxAmended, or a value cannot be encoded. o may
// be nil.
func (o *Overlay) Amended(annotations, properties protocol.Table) *Overlay {
	if len(annotations)+len(properties) == 0 {
		return o
	}
	var next Overlay
	if o != nil {
		next = *o
	}
	next.Annotations, next.Properties = merged(next.Annotations, annotations), merged(next.Properties, properties)
	next.amends = 0
	for _, t := range next.tables() {
		b, err := protocol.AppendTable(nil, t)
		if next.amends += len(b); err != nil || next.amends > MaxAmended {
			return o
		}
	}
	return &next
}

// Without returns the overlay without the annotations and properties with matching names, and o itself if it has none.
// o may be nil.
func (o *Overlay) Without(named func(name string) bool) *Overlay {
	is := func(f protocol.Field) bool { return named(f.Key) }
	if o == nil || !slices.ContainsFunc(o.Annotations, is) && !slices.ContainsFunc(o.Properties, is) {
		return o
	}
	bare := *o
	bare.Annotations, bare.Properties, bare.amends = nil, nil, 0
	less := func(t protocol.Table) protocol.Table { return slices.DeleteFunc(slices.Clone(t), is) }
	return bare.Amended(less(o.Annotations), less(o.Properties))
}

// merged returns a table with the fields of another one added.
func merged(t, more protocol.Table) protocol.Table {
	if len(more) == 0 {
		return t
	}
	index := make(map[string]int, len(t))
	next := make(protocol.Table, len(t), len(t)+len(more))
	for i, f := range t {
		next[i], index[f.Key] = f, i
	}
	for _, f := range more {
		if isReserved(f.Key) {
			continue
		}
		if i, ok := index[f.Key]; ok {
			next[i] = f
			continue
		}
		index[f.Key] = len(next)
		next = append(next, f)
	}
	return next
}

func isReserved(key string) bool {
	for _, r := range reserved {
		if strings.HasPrefix(key, r) {
			return true
		}
	}
	return false
}

// amended reports whether the message was amended.
func (o *Overlay) amended() bool { return o.amends > 0 }

// Extra returns the approximate memory of the amendments, of CC and BCC, and of the lists of routing keys, in bytes. o may be nil.
func (o *Overlay) Extra() int64 {
	if o == nil {
		return 0
	}
	bytes := 2 * int64(o.amends)
	for _, keys := range [2][]string{o.CC, o.BCC} {
		for _, key := range keys {
			bytes += textSize + int64(len(key))
		}
	}
	for i := range o.Deaths { // the texts are those of CC and BCC, or of the header
		bytes += textSize * int64(len(o.Deaths[i].RoutingKeys))
	}
	return bytes
}

// textSize is the memory of a text in a list, besides its bytes.
const textSize = 16

// addTo adds the amendments to the headers of a message.
func (o *Overlay) addTo(headers protocol.Table) protocol.Table {
	return merged(merged(headers, plain(o.Annotations)), plain(o.Properties))
}

// typed reports whether the values include Typed ones.
func (o *Overlay) typed() bool {
	is := func(f protocol.Field) bool { _, is := f.Value.(Typed); return is }
	return slices.ContainsFunc(o.Annotations, is) || slices.ContainsFunc(o.Properties, is)
}

// tables returns the amendments as field tables: the annotations and the properties, and if there are Typed values the
// encodings of those among the annotations and among the properties.
func (o *Overlay) tables() []protocol.Table {
	all := []protocol.Table{plain(o.Annotations), plain(o.Properties)}
	if o.typed() {
		all = append(all, encodings(o.Annotations), encodings(o.Properties))
	}
	return all
}

// plain returns a table with 0-9-1 values instead of Typed ones.
func plain(t protocol.Table) protocol.Table {
	for i := range t {
		if _, is := t[i].Value.(Typed); !is {
			continue
		}
		t = slices.Clone(t)
		for j := range t[i:] {
			if v, is := t[i+j].Value.(Typed); is {
				t[i+j].Value = v.Value
			}
		}
		return t
	}
	return t
}

// encodings returns the encodings of the Typed values of a table.
func encodings(t protocol.Table) (all protocol.Table) {
	for _, f := range t {
		if v, is := f.Value.(Typed); is {
			all = append(all, protocol.Field{Key: f.Key, Value: v.Encoded})
		}
	}
	return all
}

// appendAmended adds the stored form to dst.
func (o *Overlay) appendAmended(dst []byte) []byte {
	for _, t := range o.tables() {
		dst, _ = protocol.AppendTable(dst, t) // checked by Amended
	}
	return dst
}

// readAmended reads what appendAmended wrote.
func (o *Overlay) readAmended(d *decoder, typed bool) {
	o.Annotations, o.Properties = o.readTable(d), o.readTable(d)
	if typed {
		for _, t := range [2]protocol.Table{o.Annotations, o.Properties} {
			d.bad = !restore(t, o.readTable(d)) || d.bad
		}
		d.bad = d.bad || !o.typed()
	}
}

func (o *Overlay) readTable(d *decoder) protocol.Table {
	encoded := d.table()
	if d.bad {
		return nil
	}
	table, err := protocol.DecodeTable(encoded)
	d.bad = err != nil
	o.amends += len(encoded)
	return table
}

// restore sets the Typed values of a table from their encodings, in the order of the table; false if they are not
// encodings of its values.
func restore(t, encodings protocol.Table) bool {
	for i := range t {
		if len(encodings) > 0 && encodings[0].Key == t[i].Key {
			encoded, is := encodings[0].Value.([]byte)
			if !is {
				return false
			}
			t[i].Value, encodings = Typed{Value: t[i].Value, Encoded: encoded}, encodings[1:]
		}
	}
	return len(encodings) == 0
}

// table returns the next field table, encoded.
func (d *decoder) table() []byte {
	if len(d.rest) < 4 {
		d.bad = true
		return nil
	}
	n := 4 + uint64(binary.BigEndian.Uint32(d.rest))
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
