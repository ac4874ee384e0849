package topology

import (
	"candlemark/internal/routing/topology/canonical"
	"candlemark/protocol"
)

// fields are the headers of one message in the form that conditions are compared with. If a header occurs twice, the
// last one counts.
type fields struct {
	list []field
	byID map[string]int // name -> place in list
	buf  []byte
	key  []byte // of values
}

// field places one header in buf: encoded name, canonical.Void, encoded name again, value.
type field struct {
	start, void, value, end int
	name                    int // length of the name, which ends at void
}

// load takes the headers of the next message.
func (f *fields) load(t protocol.Table) {
	f.list, f.buf = f.list[:0], f.buf[:0]
	if f.byID == nil {
		f.byID = make(map[string]int, len(t))
	}
	clear(f.byID)
	for _, h := range t {
		var p field
		p.start = len(f.buf)
		f.buf = canonical.Text(f.buf, h.Key)
		p.void, p.name = len(f.buf), len(h.Key)
		f.buf = canonical.Text(append(f.buf, canonical.Void), h.Key)
		p.value = len(f.buf)
		f.buf = canonical.Value(f.buf, h.Value)
		p.end = len(f.buf)
		if i, twice := f.byID[h.Key]; twice {
			f.list[i] = p
			continue
		}
		f.byID[h.Key] = len(f.list)
		f.list = append(f.list, p)
	}
}

// present returns the condition that header i is present.
func (f *fields) present(i int) []byte { return f.buf[f.list[i].start : f.list[i].void+1] }

// equal returns the condition that header i is present with this value.
func (f *fields) equal(i int) []byte { return f.buf[f.list[i].void+1 : f.list[i].end] }

// isVoid reports whether header i has no value: a condition can only ask for its presence.
func (f *fields) isVoid(i int) bool { return f.buf[f.list[i].value] == canonical.Void }

// name returns the name of header i.
func (f *fields) name(i int) []byte { p := &f.list[i]; return f.buf[p.void-p.name : p.void] }

// values puts into key what the message has as the values that conditions require; false if a header is missing.
func (f *fields) values(conditions []condition) bool {
	f.key = f.key[:0]
	for i := range conditions {
		at, found := f.byID[conditions[i].key]
		if !found {
			return false
		}
		if p := &f.list[at]; conditions[i].value != "" {
			f.key = append(f.key, f.buf[p.value:p.end]...)
		}
	}
	return true
}
