package message

import (
	"encoding/binary"
	"slices"
	"strings"

	"candlemark/protocol"
)

// MaxAmended is how many bytes the Annotations and Properties of an overlay take at most, encoded as field tables.
const MaxAmended = 64 << 10

// reserved are prefixes of header names for dead-lettering, which consumers cannot set.
var reserved = [...]string{"x-death", "x-first-death-", "x-last-death-"}

// Amended returns the overlay with more annotations and properties, which take the place of older ones of the same
// names. It is the old one if that would be more than MaxAmended, or a value cannot be encoded. o may be nil.
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
	for _, t := range [2]protocol.Table{next.Annotations, next.Properties} {
		b, err := protocol.AppendTable(nil, t)
		if next.amends += len(b); err != nil || next.amends > MaxAmended {
			return o
		}
	}
	return &next
}

// Without returns the overlay without the annotations and properties whose names those are, and the old one if it has
// none. o may be nil.
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

// merged returns a table with the fields of another one in it.
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

// Extra returns how many bytes of memory what was amended takes, about. o may be nil.
func (o *Overlay) Extra() int64 {
	if o == nil {
		return 0
	}
	return 2 * int64(o.amends)
}

// addTo adds what was amended to the headers of a message.
func (o *Overlay) addTo(headers protocol.Table) protocol.Table {
	return merged(merged(headers, o.Annotations), o.Properties)
}

// appendAmended adds the stored form to dst.
func (o *Overlay) appendAmended(dst []byte) []byte {
	for _, t := range [2]protocol.Table{o.Annotations, o.Properties} {
		dst, _ = protocol.AppendTable(dst, t) // Amended has tried
	}
	return dst
}

// readAmended reads what appendAmended wrote.
func (o *Overlay) readAmended(d *decoder) {
	for _, t := range [2]*protocol.Table{&o.Annotations, &o.Properties} {
		encoded := d.table()
		if d.bad {
			return
		}
		table, err := protocol.DecodeTable(encoded)
		d.bad = err != nil
		*t = table
		o.amends += len(encoded)
	}
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
