package convert

import (
	"iter"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// fewLookups is how many times a map is searched from its start before an index of it is made.
const fewLookups = 16

// entries are the entries of an encoded map, to look them up by name.
type entries struct {
	all    amqp10.Value
	byName map[string]amqp10.Value // nil if few are looked up
}

// entriesFor returns the entries of an encoded map, for a number of lookups.
func entriesFor(all amqp10.Value, lookups int) entries {
	e := entries{all: all}
	if len(all) == 0 || lookups <= fewLookups {
		return e
	}
	e.byName = make(map[string]amqp10.Value, lookups)
	for key, v := range all.Entries() {
		name, ok := key.Text()
		if _, twice := e.byName[string(name)]; ok && !twice {
			e.byName[string(name)] = v
		}
	}
	return e
}

// get returns the first value of that name, nil if there is none.
func (e entries) get(name string) amqp10.Value {
	if e.byName != nil || len(e.all) == 0 {
		return e.byName[name]
	}
	return e.all.Lookup(name)
}

// byName returns the values of a map whose keys are text, nil if there are none.
func byName(m amqp10.Map) map[string]any {
	if len(m) == 0 {
		return nil
	}
	index := make(map[string]any, len(m))
	for _, e := range m {
		if name, ok := keyText(e.Key); ok {
			index[name] = e.Value
		}
	}
	return index
}

// withoutHeader returns the annotations that no header stands for: 0-9-1 has no header of that name, or no type for the
// value.
func withoutHeader(annotations amqp10.Value, headers protocol.Table) iter.Seq2[amqp10.Value, amqp10.Value] {
	return func(yield func(key, v amqp10.Value) bool) {
		var set map[string]bool
		for key, v := range annotations.Entries() {
			name, _ := key.Text()
			if hasHeader(name) {
				if !isNoHeader(v) {
					continue
				}
				if set == nil {
					set = make(map[string]bool, len(headers))
					for i := range headers {
						set[headers[i].Key] = true
					}
				}
				if set[string(name)] {
					continue
				}
			}
			if !yield(key, v) {
				return
			}
		}
	}
}
