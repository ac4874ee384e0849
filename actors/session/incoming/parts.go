package incoming

import "slices"

// smallPart is the most bytes that are reserved for small transfers to come.
const smallPart = 16 << 10

// parts hold the transfers of a delivery so far, in memory of their own: no more of it than the transfers had bytes, but for the room of a small part.
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

// with joins all transfers and the last one.
func (p *parts) with(last []byte) []byte {
	return slices.Concat(append(p.list, last)...)
}
