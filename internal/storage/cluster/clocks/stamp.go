package clocks

import (
	"bytes"
	"encoding/binary"
)

// Kind says how a node knows the cluster's time.
type Kind byte

// Kinds of a stamp.
const (
	None      Kind = iota // nothing
	Leads                 // it is the node's own time
	Follows               // it has heard the leader of the term
	Remembers             // it has heard that leader before its process began, and reckons by its wall clock
)

// Stamp is a message about time, from one node to another.
type Stamp struct {
	Kind Kind
	Term uint64 // of the leader whose time it is
	Time int64  // of the cluster, in ns since 1970; an estimate unless Kind is Leads
	Wall int64  // of the node's wall clock, in ns since 1970; 0: unknown
}

const stampSize = 1 + 1 + 3*8

// Append appends the stamp to the address of a node, which has no zero byte.
func (s Stamp) Append(address []byte) []byte {
	b := append(address, 0, byte(s.Kind))
	b = binary.LittleEndian.AppendUint64(b, s.Term)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Time))
	return binary.LittleEndian.AppendUint64(b, uint64(s.Wall))
}

// Cut separates an address, its stamp, if it has one, and what follows it.
func Cut(b []byte) (address []byte, s Stamp, rest []byte) {
	at := bytes.IndexByte(b, 0)
	if at < 0 {
		return b, s, nil
	}
	tail := b[at:]
	if len(tail) < stampSize || tail[1] > byte(Remembers) {
		return b[:at], s, nil
	}
	n := func(at int) uint64 { return binary.LittleEndian.Uint64(tail[at:]) }
	return b[:at], Stamp{Kind(tail[1]), n(2), int64(n(10)), int64(n(18))}, tail[stampSize:]
}
