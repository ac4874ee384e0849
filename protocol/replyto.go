package protocol

import "math/bits"

// ReplaceReplyTo returns raw, properties that were scanned and have a reply-to, with another reply-to of at most 255
// bytes. Everything else is unchanged, byte for byte.
func ReplaceReplyTo(raw []byte, to string) []byte {
	c := cursor{b: raw}
	before := c.u16() &^ (FlagReplyTo<<1 - 1) // the properties in front of it
	for before != 0 {
		flag := uint16(1) << (bits.Len16(before) - 1)
		before &^= flag
		switch flag {
		case FlagDeliveryMode, FlagPriority:
			c.u8()
		case FlagHeaders:
			c.long()
		default:
			c.short()
		}
	}
	at := len(raw) - len(c.b)
	c.short()
	b := make([]byte, 0, at+1+len(to)+len(c.b))
	return append(appendShort(append(b, raw[:at]...), to), c.b...)
}

// HasReplyTo reports whether raw properties have reply-to.
func HasReplyTo(raw []byte) bool { return len(raw) >= 2 && raw[0]&byte(FlagReplyTo>>8) != 0 }
