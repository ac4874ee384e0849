package amqp10

import (
	"iter"
	"slices"
)

// Text is a string that aliases the encoded bytes.
type Text []byte

// SymbolText is a symbol that aliases the encoded bytes.
type SymbolText []byte

// Header is the section of how to deliver a message [AMQP 1.0 messaging 3.2.1].
type Header struct {
	Durable       bool
	Priority      Optional[uint8]  // 4 by the specification when absent
	TTL           Optional[uint32] // milliseconds
	FirstAcquirer bool
	DeliveryCount uint32 // attempts that failed
	Whole         bool   // all but Priority and TTL are written even if they have their default values; not set by reading
}

func (p *Header) fields(f *fields) {
	if f.writing && p.Whole {
		f.put(&p.Durable)
		optional(f, &p.Priority)
		optional(f, &p.TTL)
		f.put(&p.FirstAcquirer)
		f.put(&p.DeliveryCount)
		return
	}
	defaulted(f, &p.Durable, false)
	optional(f, &p.Priority)
	optional(f, &p.TTL)
	defaulted(f, &p.FirstAcquirer, false)
	defaulted(f, &p.DeliveryCount, 0)
}

// Properties are the standard properties of a message [AMQP 1.0 messaging 3.2.4]. Byte slices alias the encoded bytes
// and are nil when absent.
type Properties struct {
	MessageID          Value // a number without a fraction, uuid, binary or string
	UserID             []byte
	To                 Text
	Subject            Text
	ReplyTo            Text
	CorrelationID      Value // as MessageID
	ContentType        SymbolText
	ContentEncoding    SymbolText
	AbsoluteExpiryTime Optional[Timestamp]
	CreationTime       Optional[Timestamp]
	GroupID            Text
	GroupSequence      Optional[uint32]
	ReplyToGroupID     Text
}

func (p *Properties) fields(f *fields) {
	nullable(f, &p.MessageID)
	nullable(f, &p.UserID)
	nullable(f, &p.To)
	nullable(f, &p.Subject)
	nullable(f, &p.ReplyTo)
	nullable(f, &p.CorrelationID)
	nullable(f, &p.ContentType)
	nullable(f, &p.ContentEncoding)
	optional(f, &p.AbsoluteExpiryTime)
	optional(f, &p.CreationTime)
	nullable(f, &p.GroupID)
	optional(f, &p.GroupSequence)
	nullable(f, &p.ReplyToGroupID)
	f.messageID(p.MessageID)
	f.messageID(p.CorrelationID)
}

// messageID refuses values other than message ids. By the specification numbers are ulongs, but some clients send other
// types.
func (f *fields) messageID(id Value) {
	switch id.Type() {
	case TypeNone, TypeULong, TypeUInt, TypeUShort, TypeUByte, TypeLong, TypeInt, TypeShort, TypeByte, TypeUUID, TypeBinary, TypeString:
	default:
		f.cursor.fail(mismatch)
	}
}

// Sections are the sections of an encoded message, which they alias. Absent ones are nil. Scanned sections can be
// forwarded: everything was checked except the fields of Header and Properties, which their methods check.
//
//	│ header │ delivery annotations │ message annotations │ properties │ application properties │ body … │ footer │
//	                                                      └────────────── bare message ────────────────┘
type Sections struct {
	header     []byte // the whole sections
	properties []byte

	DeliveryAnnotations   Value // a map with symbols, strings or integers as keys
	MessageAnnotations    Value // a map with symbols, strings or integers as keys
	ApplicationProperties Value // a map with strings as keys
	Footer                Value // as annotations

	BodyKind      uint64 // SectionData, SectionSequence, SectionValue; 0 without a body
	body          []byte
	bodyAndFooter []byte

	BareStart, BareEnd int // where in the message the bare message begins and ends
}

// ScanSections finds the sections of a message, which is all of b, and allocates nothing. Errors are *Error:
// amqp:decode-error for bytes without a valid value, unknown sections, a wrong order, a section twice;
// amqp:invalid-field for a section of the wrong type. A message without a body is accepted: clients send them.
func ScanSections(b []byte) (s Sections, err error) {
	c := cursor{b: b}
	s.BareStart, s.BareEnd = len(b), len(b)
	last, at := uint64(0), 0
	for len(c.b) > 0 {
		at = len(b) - len(c.b)
		code := c.descriptor()
		if !follows(code, last) {
			c.fail(malformed)
		}
		v := c.value()
		if c.fault != sound || !s.add(code, b[at:len(b)-len(c.b)], v) {
			c.fail(mismatch)
			return Sections{}, Errorf(c.fault.condition(), "cannot decode the message at byte %d", at)
		}
		if code >= SectionProperties && s.BareStart == len(b) {
			s.BareStart = at
		}
		if code == SectionFooter {
			s.BareEnd = at
		}
		last = code
	}
	if s.body != nil {
		s.bodyAndFooter = s.body[:len(s.body)+len(b)-s.BareEnd]
	}
	s.body = s.body[:len(s.body):len(s.body)]
	return s, nil
}

// FooterLast returns a message whose footer stands before its body, where some clients put it, with the footer at its end; false for other messages.
func FooterLast(b []byte) (ordered []byte, ok bool) {
	for c := (cursor{b: b}); len(c.b) > 0; {
		at := len(b) - len(c.b)
		code := c.descriptor()
		c.value()
		end := len(b) - len(c.b)
		switch {
		case c.fault != sound:
			return nil, false
		case code == SectionFooter:
			return slices.Concat(b[:at], b[end:], b[at:end]), end < len(b)
		}
	}
	return nil, false
}

// follows reports whether a section may follow another, 0 at the start.
func follows(code, last uint64) bool {
	switch code {
	case SectionData, SectionSequence:
		return last == code || last < SectionData
	case SectionValue:
		return last < SectionData
	}
	return code >= SectionHeader && code <= SectionFooter && code > last
}

// add keeps a section whose value is v; false if it has not the type that it must have.
func (s *Sections) add(code uint64, section []byte, v Value) bool {
	switch code {
	case SectionHeader:
		s.header = section
		return v.Type() == TypeList
	case SectionDeliveryAnnotations:
		s.DeliveryAnnotations = v
		return annotations(v)
	case SectionMessageAnnotations:
		s.MessageAnnotations = v
		return annotations(v)
	case SectionProperties:
		s.properties = section
		return v.Type() == TypeList
	case SectionApplicationProperties:
		s.ApplicationProperties = v
		return applicationKeys(v)
	case SectionFooter:
		s.Footer = v
		return annotations(v)
	}
	s.BodyKind = code
	if s.body == nil {
		s.body = section
	} else {
		s.body = s.body[:len(s.body)+len(section)] // they are contiguous
	}
	return code == SectionValue || code == SectionData && v.Type() == TypeBinary || code == SectionSequence && v.Type() == TypeList
}

// annotations reports whether v is a map as annotations and footers are. By the specification keys are symbols or ulongs, but there are
// clients that send strings, above all in footers, and other integers.
func annotations(v Value) bool {
	for key := range v.Entries() {
		switch key.Type() {
		case TypeSymbol, TypeString, TypeULong, TypeLong, TypeUInt, TypeInt, TypeUShort, TypeShort, TypeUByte, TypeByte:
		default:
			return false
		}
	}
	return v.Type() == TypeMap
}

// applicationKeys reports whether v is a map with strings as keys.
func applicationKeys(v Value) bool {
	for key := range v.Entries() {
		if key.Type() != TypeString {
			return false
		}
	}
	return v.Type() == TypeMap
}

// Described returns the size of the sections that describe the message to the broker: message annotations, properties and application
// properties.
func (s *Sections) Described() int {
	return len(s.MessageAnnotations) + len(s.properties) + len(s.ApplicationProperties)
}

// HasHeader reports whether the message has a header.
func (s *Sections) HasHeader() bool { return s.header != nil }

// HasProperties reports whether the message has properties.
func (s *Sections) HasProperties() bool { return s.properties != nil }

// Header reads the header; an empty one if there is none. The error is *Error amqp:invalid-field.
func (s *Sections) Header() (h Header, err error) {
	if s.header != nil {
		_, err = DecodeInto(s.header, &h)
	}
	return h, err
}

// Properties reads the properties into p, which alias the message. The error is *Error amqp:invalid-field.
func (s *Sections) Properties(p *Properties) (err error) {
	*p = Properties{}
	if s.properties != nil {
		_, err = DecodeInto(s.properties, p)
	}
	return err
}

// Body returns all sections of the body, encoded.
func (s *Sections) Body() []byte { return s.body }

// BodyAndFooter returns all sections of the body and the footer, encoded; nil without a body.
func (s *Sections) BodyAndFooter() []byte { return s.bodyAndFooter }

// BodyValues yields the contents of the sections of the body: binaries, lists, or one value of any type; end is where
// in [Sections.Body] each ends.
func (s *Sections) BodyValues() iter.Seq2[int, Value] {
	return func(yield func(end int, v Value) bool) {
		for c := (cursor{b: s.body}); len(c.b) > 0; {
			if _, v := c.next().Described(); !yield(len(s.body)-len(c.b), v) {
				return
			}
		}
	}
}

// AppendSection appends a section that is not a composite: code is its descriptor, v its contents.
func AppendSection(dst []byte, code uint64, v Value) []byte {
	return append(AppendDescriptor(dst, code), v...)
}

// AppendComposite appends a composite: a header or properties.
func AppendComposite(dst []byte, p Composite) []byte {
	f := fields{out: dst}
	f.writeComposite(p)
	return f.out
}

// AppendDataHead appends the beginning of a data section; size bytes must follow it.
func AppendDataHead(dst []byte, size int) []byte {
	return appendLength(AppendDescriptor(dst, SectionData), TypeBinary, size)
}
