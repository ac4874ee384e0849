package definitions

import (
	"encoding/json"
	"fmt"

	"candlemark/internal/access/auth"
)

// Encoded changes are lists of lines, as JSON: replicas store the lines that the sender has computed.
type encodedLine struct {
	Op      byte   `json:"o"`
	In      table  `json:"t,omitempty"`
	Key     []byte `json:"k,omitempty"`
	VHost   string `json:"v,omitempty"` // that must exist
	Content []byte `json:"c,omitempty"`
	Number  uint64 `json:"n,omitempty"` // of opIncarnation and opEnded
}

const (
	opPut         = 'p'
	opDelete      = 'd'
	opIncarnation = 'i'
	opEnded       = 'e'
)

// rawLine is a value of a decoded change of which nothing but its place matters.
type rawLine encodedLine

// Encode encodes a change for replicas. Journal values cannot be encoded: every replica has its own.
func (c Change) Encode() ([]byte, error) {
	lines := make([]encodedLine, 0, len(c.Delete)+len(c.Put))
	for _, v := range c.Delete {
		if e, ok := v.(Ended); ok {
			lines = append(lines, encodedLine{Op: opEnded, Number: uint64(e)})
			continue
		}
		l, err := encodeLine(opDelete, v)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	for _, v := range c.Put {
		if n, ok := v.(Incarnation); ok {
			lines = append(lines, encodedLine{Op: opIncarnation, Number: uint64(n)})
			continue
		}
		l, err := encodeLine(opPut, v)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return json.Marshal(lines)
}

func encodeLine(op byte, v any) (l encodedLine, err error) {
	l.Op = op
	if l.In, l.Key, l.VHost, err = identify(v); err != nil {
		return l, err
	}
	if op == opPut || l.In == bindings { // a parameter that is deleted has no value
		l.Content, err = content(v)
	}
	return l, err
}

// DecodeChange undoes Encode. Errors: the bytes are not those of a change.
func DecodeChange(b []byte) (c Change, err error) {
	var lines []encodedLine
	if err := json.Unmarshal(b, &lines); err != nil {
		return c, fmt.Errorf("definitions: %w", err)
	}
	for _, l := range lines {
		switch l.Op {
		case opEnded:
			c.Delete = append(c.Delete, Ended(l.Number))
		case opIncarnation:
			c.Put = append(c.Put, Incarnation(l.Number))
		case opDelete, opPut:
			v, err := l.value()
			if err != nil {
				return c, err
			}
			if l.Op == opPut {
				c.Put = append(c.Put, v)
			} else {
				c.Delete = append(c.Delete, v)
			}
		default:
			return c, fmt.Errorf("definitions: unknown step %q of a change", l.Op)
		}
	}
	return c, nil
}

// value returns the value whose storing and deleting changes other lines, too; for other tables a rawLine.
func (l encodedLine) value() (any, error) {
	names := split(l.Key)
	if l.Op == opDelete {
		switch {
		case l.In == vhosts && len(names) == 1:
			return auth.VHost{Name: names[0]}, nil
		case l.In == queues && len(names) == 2:
			return Queue{VHost: names[0], Name: names[1]}, nil
		case l.In == exchanges && len(names) == 2:
			return Exchange{VHost: names[0], Name: names[1]}, nil
		}
	}
	var d Definitions
	switch l.In {
	case vhosts, queues, exchanges, bindings:
		if want := map[table]int{vhosts: 1, queues: 2, exchanges: 2, bindings: 5}[l.In]; len(names) != want {
			return nil, fmt.Errorf("definitions: a key in %s has %d names", l.In, len(names))
		}
		if err := d.read(l.In, names, l.Content); err != nil {
			return nil, fmt.Errorf("definitions: %s: %w", l.In, err)
		}
	default: // as it is
	}
	switch {
	case len(d.VHosts) > 0:
		return d.VHosts[0], nil
	case len(d.Queues) > 0:
		return d.Queues[0], nil
	case len(d.Exchanges) > 0:
		return d.Exchanges[0], nil
	case len(d.Bindings) > 0:
		return d.Bindings[0], nil
	}
	return rawLine(l), nil
}
