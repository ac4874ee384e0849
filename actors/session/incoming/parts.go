package incoming

import "slices"

// smallPart is how many bytes of room there are at most for what small transfers bring next.
const smallPart = 16 << 10

// parts are what has come of a delivery, in memory of its own: no more of it than has come, but for the room of a small part.
type parts struct {
	list [][]byte
	size int // bytes
}

// add keeps a copy of what has come.
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

// with is all that has come and what comes last, in one piece.
func (p *parts) with(last []byte) []byte {
	return slices.Concat(append(p.list, last)...)
}
