package rest

import (
	"bytes"
	"encoding/json"

	"candlemark/protocol"
)

// deepest is how far arguments may be nested.
const deepest = 64

// Table reads a JSON object as a field table, in its order: whole numbers are
// long, others double. An absent one is empty, and so is an empty list, which
// some clients send for it.
func (b *Body) Table(key string) protocol.Table {
	if !b.Has(key) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b.Fields[key]))
	d.UseNumber()
	v, err := field(d, 0)
	t, ok := v.(protocol.Table)
	switch list, isList := v.(protocol.Array); {
	case err != nil:
		b.Fail(err)
	case !ok && !(isList && len(list) == 0):
		b.Fail(TupleOf("unhandled_type", b.Fields[key]))
	}
	return t
}

// field reads the next value.
func field(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, Complaint("not_json")
	}
	switch v := token.(type) {
	case json.Delim:
		if depth >= deepest {
			return nil, Complaint("arguments are nested too deep")
		}
		if v == '{' {
			return object2table(d, depth+1)
		}
		return list2array(d, depth+1)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, TupleOf("unhandled_type", v)
		}
		return f, nil
	case nil:
		return nil, Complaint("null_not_allowed")
	}
	return token, nil // a text or a truth
}

func object2table(d *json.Decoder, depth int) (protocol.Table, error) {
	t, at := protocol.Table{}, map[string]int{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, Complaint("not_json")
		}
		v, err := field(d, depth)
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if i, twice := at[name]; twice {
			t[i].Value = v
			continue
		}
		at[name] = len(t)
		t = append(t, protocol.Field{Key: name, Value: v})
	}
	_, _ = d.Token() // the brace, as More has seen
	return t, nil
}

func list2array(d *json.Decoder, depth int) (protocol.Array, error) {
	a := protocol.Array{}
	for d.More() {
		v, err := field(d, depth)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, _ = d.Token() // the bracket, as More has seen
	return a, nil
}
