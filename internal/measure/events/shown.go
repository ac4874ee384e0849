package events

import (
	"candlemark/internal/text/redact"
	"candlemark/protocol"
)

// shownTable returns fields without secrets (ACC-11). The fields of an object, such as its arguments, are copied, not
// altered.
func shownTable(t protocol.Table) protocol.Table {
	var changed protocol.Table
	for i, f := range t {
		v, same := shownValue(f.Key, f.Value)
		if same {
			continue
		}
		if changed == nil {
			changed = append(changed, t...)
		}
		changed[i].Value = v
	}
	if changed == nil {
		return t
	}
	return changed
}

// shownValue returns the value of a field, and whether it is the same.
func shownValue(name string, value any) (shown any, same bool) {
	switch v := value.(type) {
	case protocol.Table:
		if redact.Secret(name) {
			break
		}
		t := shownTable(v)
		return t, len(t) == 0 || &t[0] == &v[0]
	case protocol.Array:
		a := append(protocol.Array{}, v...)
		same = true
		for i := range v {
			one, is := shownValue(name, v[i])
			a[i], same = one, same && is
		}
		return a, same
	case string:
		shown = redact.Value(name, v)
		return shown, shown == value
	case []byte:
		text := redact.Value(name, string(v))
		return text, text == string(v)
	case nil, bool:
		return v, true
	}
	if redact.Secret(name) {
		return redact.Mark, false
	}
	return value, true
}
