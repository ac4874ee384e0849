package content

import (
	"unsafe"

	"candlemark/protocol"
)

// Scan returns the properties of a message by its raw properties; those that cannot be read are missing.
func Scan(header []byte) protocol.Scan {
	scan, _ := protocol.ScanProperties(header)
	return scan
}

// Scanned reads the properties of each arriving message once for all features that ask for them, and again if a rule has
// replaced them. The zero value is for the first message.
type Scanned struct {
	header *byte
	bytes  int
	scan   protocol.Scan
}

// Next begins the next message, whose properties may be where others were before.
func (s *Scanned) Next() { s.header, s.bytes = nil, -1 }

// Of returns the properties in header, which belong to the message that Next began.
func (s *Scanned) Of(header []byte) *protocol.Scan {
	if at := unsafe.SliceData(header); at != s.header || len(header) != s.bytes {
		*s = Scanned{at, len(header), Scan(header)}
	}
	return &s.scan
}
