package protocol

import (
	"encoding/binary"
	"math/bits"
)

// contentHeaderSize is class, weight and body size.
const contentHeaderSize = 12

// ContentHeader is the payload of a content header frame [AMQP 4.2.6.1].
//
//	│ class 2 │ weight 2 (0) │ body size 8 │ property flags 2 │ properties, in the order of their flags … │
//	                                       └─────────────────── Properties ─────────────────────────────┘
type ContentHeader struct {
	BodySize   uint64 // bytes in the body frames that follow
	Properties []byte // raw property flags and list; aliases the payload, unless it had flags that mean nothing
}

// ParseContentHeader reads the payload of a content header frame; the properties are left to [ScanProperties]. A class other than basic
// and a weight other than 0 are *ConnectionError 505, a payload that is too short is 501.
func ParseContentHeader(payload []byte) (ContentHeader, error) {
	if len(payload) < contentHeaderSize {
		return ContentHeader{}, frameError(Frame{Type: FrameHeader, Payload: payload}, "unknown_frame")
	}
	if weight := binary.BigEndian.Uint16(payload[2:]); weight != 0 {
		return ContentHeader{}, ConnectionErrorf(UnexpectedFrame,
			"expected content header for class %d, got non content header frame instead", classBasic)
	}
	if class := binary.BigEndian.Uint16(payload); class != classBasic {
		return ContentHeader{}, ConnectionErrorf(UnexpectedFrame,
			"expected content header for class %d, got one for class %d instead", classBasic, class)
	}
	return ContentHeader{BodySize: binary.BigEndian.Uint64(payload[4:]), Properties: withKnownFlags(payload[contentHeaderSize:])}, nil
}

// Scan holds the properties that the broker itself needs. The byte slices alias the raw properties; slices without a
// Has field are nil when absent.
type Scan struct {
	DeliveryMode  uint8 // 2 is persistent, 0 when absent
	Priority      uint8
	HasPriority   bool
	Expiration    []byte // TTL-5: its text, unchecked
	HasExpiration bool
	Headers       []byte // an encoded table with its length word, for LookupField and DecodeTable, which cannot fail on it
	UserID        []byte
	HasUserID     bool
	ReplyTo       []byte
	CorrelationID []byte
	MessageID     []byte
	AppID         []byte
	HasAppID      bool
	Timestamp     uint64 // seconds
	HasTimestamp  bool
}

// Persistent reports whether raw properties, which have been checked, have the delivery mode 2.
func Persistent(raw []byte) bool {
	if len(raw) < 2 || binary.BigEndian.Uint16(raw)&FlagDeliveryMode == 0 {
		return false
	}
	flags, at, end := binary.BigEndian.Uint16(raw), uint64(2), uint64(len(raw))
	for _, flag := range [...]uint16{FlagContentType, FlagContentEncoding} { // the properties before it
		if flags&flag != 0 && at < end {
			at += 1 + uint64(raw[at])
		}
	}
	if flags&FlagHeaders != 0 && at+4 <= end {
		at += 4 + uint64(binary.BigEndian.Uint32(raw[at:]))
	}
	return at < end && raw[at] == 2
}

// ScanProperties walks once over raw properties and allocates nothing. It checks everything, the headers included, so
// that checked properties can be forwarded safely to consumers; invalid ones are *ConnectionError 501 (RabbitMQ answers
// 541 without a reason). The two lowest flag bits are ignored, as in RabbitMQ; an original is skipped.
func ScanProperties(raw []byte) (s Scan, err error) {
	if err = s.Read(raw); err != nil {
		return Scan{}, err
	}
	return s, nil
}

// Read is [ScanProperties] into a zero Scan, which does without a copy of it.
func (s *Scan) Read(raw []byte) error {
	list, _ := SplitOriginal(raw)
	c := cursor{b: list}
	rest := c.u16() & flagsKnown
	for rest != 0 && !c.bad {
		flag := uint16(1) << (bits.Len16(rest) - 1) // the properties follow in the order of their flags, highest first
		rest &^= flag
		switch flag {
		case FlagDeliveryMode:
			s.DeliveryMode = c.u8()
		case FlagPriority:
			s.Priority, s.HasPriority = c.u8(), true
		case FlagTimestamp:
			s.Timestamp, s.HasTimestamp = c.u64(), true
		case FlagHeaders:
			before := c.b
			c.bad = !checkFields(c.long(), 1, true) || c.bad
			s.Headers = before[:len(before)-len(c.b)]
		default:
			s.setText(flag, c.short())
		}
	}
	if c.bad || len(c.b) > 0 {
		return badProperties(raw)
	}
	return nil
}

// setText keeps the short strings that the broker needs.
func (s *Scan) setText(flag uint16, text []byte) {
	switch flag {
	case FlagCorrelationID:
		s.CorrelationID = text
	case FlagReplyTo:
		s.ReplyTo = text
	case FlagExpiration:
		s.Expiration, s.HasExpiration = text, true
	case FlagMessageID:
		s.MessageID = text
	case FlagUserID:
		s.UserID, s.HasUserID = text, true
	case FlagAppID:
		s.AppID, s.HasAppID = text, true
	}
}

// badProperties returns the error for properties that cannot be read; it blames basic.publish.
func badProperties(raw []byte) *ConnectionError {
	err := ConnectionErrorf(FrameErr, "cannot decode properties %s", term(raw, false))
	err.Class, err.Method = classBasic, 40
	return err
}
