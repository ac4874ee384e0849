package incoming

import "slices"

// smallPart is the maximum number of bytes reserved for small transfers to come.
const smallPart = 16 << 10

// parts holds the transfers of a delivery so far, copied: its memory does not exceed their size by more than the room
// for a small part.
type parts struct {
	list [][]byte
	size int // bytes
}

// add copies a transfer.
func (p *parts) add(payload []byte) {
	if n := len(p.list); n > 0 {
		last := p.list[n-1]
		fits := min(len(payload), cap(last)-len(last))
		p.list[n-1] = append(last, payload[:fits]...)
		p.size, payload = p.size+fits, payload[fits:]
	}
	if len(payload) > 0 {
		room := make([]byte, 0, max(len(payload), min(p.size, smallPart)))
		p.list, p.size = append(p.list, append(room, payload...)), p.size+len(payload)
	}
}

// with returns all earlier transfers joined with the last one.
func (p *parts) with(last []byte) []byte {
	return slices.Concat(append(p.list, last)...)
}
