package protocol

// Property flags of class basic, in the order in which the properties follow [AMQP 4.2.6.1].
const (
	FlagContentType     uint16 = 1 << 15
	FlagContentEncoding uint16 = 1 << 14
	FlagHeaders         uint16 = 1 << 13
	FlagDeliveryMode    uint16 = 1 << 12
	FlagPriority        uint16 = 1 << 11
	FlagCorrelationID   uint16 = 1 << 10
	FlagReplyTo         uint16 = 1 << 9
	FlagExpiration      uint16 = 1 << 8
	FlagMessageID       uint16 = 1 << 7
	FlagTimestamp       uint16 = 1 << 6
	FlagType            uint16 = 1 << 5
	FlagUserID          uint16 = 1 << 4
	FlagAppID           uint16 = 1 << 3
	FlagClusterID       uint16 = 1 << 2

	flagsKnown uint16 = 0xFFFC // the two others mean nothing to clients; see original.go
)

// Properties are the properties of a message [AMQP 1.8.1]. Flags defines which of them are present; a field without its
// flag counts as absent, with any value.
type Properties struct {
	ContentType     string
	ContentEncoding string
	Headers         Table
	DeliveryMode    uint8 // 2 is persistent
	Priority        uint8
	CorrelationID   string
	ReplyTo         string
	Expiration      string // milliseconds as text (TTL-5)
	MessageID       string
	Timestamp       Timestamp
	Type            string
	UserID          string
	AppID           string
	ClusterID       string // reserved by the specification, forwarded
	Flags           uint16
}

// Has reports whether the properties of all the given flags are present.
func (p *Properties) Has(flags uint16) bool { return p.Flags&flags == flags }

// DecodeProperties copies all properties out of raw, the property flags and list of a content header frame. Malformed
// properties are *ConnectionError 501. An original is skipped.
func DecodeProperties(raw []byte) (Properties, error) {
	return SelectProperties(raw, flagsKnown, nil)
}

// SelectProperties is DecodeProperties limited to the properties in flags and, unless header is nil, the headers for
// which it returns true: other values are skipped.
func SelectProperties(raw []byte, flags uint16, header func(key []byte) bool) (Properties, error) {
	list, _ := SplitOriginal(raw)
	c := cursor{b: list}
	p := Properties{Flags: c.u16() & flagsKnown}
	p.ContentType = c.text(&p, FlagContentType, flags)
	p.ContentEncoding = c.text(&p, FlagContentEncoding, flags)
	switch {
	case !p.Has(FlagHeaders):
	case flags&FlagHeaders == 0:
		c.long()
	case header == nil:
		p.Headers = c.table()
	default:
		var ok bool
		p.Headers, ok = selectFields(c.long(), header)
		c.bad = c.bad || !ok
	}
	if p.Has(FlagDeliveryMode) {
		p.DeliveryMode = c.u8()
	}
	if p.Has(FlagPriority) {
		p.Priority = c.u8()
	}
	p.CorrelationID = c.text(&p, FlagCorrelationID, flags)
	p.ReplyTo = c.text(&p, FlagReplyTo, flags)
	p.Expiration = c.text(&p, FlagExpiration, flags)
	p.MessageID = c.text(&p, FlagMessageID, flags)
	if p.Has(FlagTimestamp) {
		p.Timestamp = Timestamp(c.u64())
	}
	p.Type = c.text(&p, FlagType, flags)
	p.UserID = c.text(&p, FlagUserID, flags)
	p.AppID = c.text(&p, FlagAppID, flags)
	p.ClusterID = c.text(&p, FlagClusterID, flags)
	if c.bad || len(c.b) > 0 {
		return Properties{}, badProperties(raw)
	}
	p.Flags &= flags
	return p, nil
}

// text returns a copy of the short string that is present if its flag is set, unless it is not wanted; properties need
// not be UTF-8.
func (c *cursor) text(p *Properties, flag, wanted uint16) string {
	if !p.Has(flag) {
		return ""
	}
	s := c.short()
	if wanted&flag == 0 {
		return ""
	}
	return string(s)
}

// selectFields decodes the fields of a table for whose keys wanted is true; ok is false if that is not possible.
func selectFields(b []byte, wanted func(key []byte) bool) (t Table, ok bool) {
	c := cursor{b: b}
	for len(c.b) > 0 {
		key := c.short()
		if wanted(key) {
			t = append(t, Field{Key: string(key), Value: c.value(1)})
		} else {
			c.take(valueSize(c.b))
		}
	}
	return t, !c.bad
}

// Append appends the raw form: flags and the properties present. Short strings are cut to 255 bytes; headers that
// AppendTable refuses are the caller's mistake and panic.
func (p Properties) Append(dst []byte) []byte {
	dst = appendU16(dst, p.Flags&flagsKnown)
	dst = p.appendText(dst, FlagContentType, p.ContentType)
	dst = p.appendText(dst, FlagContentEncoding, p.ContentEncoding)
	if p.Has(FlagHeaders) {
		dst = mustAppendTable(dst, p.Headers)
	}
	if p.Has(FlagDeliveryMode) {
		dst = append(dst, p.DeliveryMode)
	}
	if p.Has(FlagPriority) {
		dst = append(dst, p.Priority)
	}
	dst = p.appendText(dst, FlagCorrelationID, p.CorrelationID)
	dst = p.appendText(dst, FlagReplyTo, p.ReplyTo)
	dst = p.appendText(dst, FlagExpiration, p.Expiration)
	dst = p.appendText(dst, FlagMessageID, p.MessageID)
	if p.Has(FlagTimestamp) {
		dst = appendU64(dst, uint64(p.Timestamp))
	}
	dst = p.appendText(dst, FlagType, p.Type)
	dst = p.appendText(dst, FlagUserID, p.UserID)
	dst = p.appendText(dst, FlagAppID, p.AppID)
	return p.appendText(dst, FlagClusterID, p.ClusterID)
}

func (p *Properties) appendText(dst []byte, flag uint16, s string) []byte {
	if !p.Has(flag) {
		return dst
	}
	return appendShort(dst, s)
}
