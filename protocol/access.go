package protocol

// Class 30: left over from AMQP 0-8. RabbitMQ grants every request the ticket 1 and never looks at tickets again.

// AccessRequest asks for a ticket [AMQP 0-8].
type AccessRequest struct {
	Realm                                   string
	Exclusive, Passive, Active, Write, Read bool
}

func (*AccessRequest) Key() Key { return classAccess<<16 | 10 }

// Append implements Method.
func (m *AccessRequest) Append(dst []byte) []byte {
	return append(appendShort(dst, m.Realm), octet(m.Exclusive, m.Passive, m.Active, m.Write, m.Read))
}

func (m *AccessRequest) decode(c *cursor) {
	m.Realm = c.name()
	b := c.u8()
	m.Exclusive, m.Passive, m.Active, m.Write, m.Read = bit(b, 0), bit(b, 1), bit(b, 2), bit(b, 3), bit(b, 4)
}

// AccessRequestOk grants a ticket [AMQP 0-8].
type AccessRequestOk struct {
	Ticket uint16
}

func (*AccessRequestOk) Key() Key { return classAccess<<16 | 11 }

// Append implements Method.
func (m *AccessRequestOk) Append(dst []byte) []byte { return appendU16(dst, m.Ticket) }

func (m *AccessRequestOk) decode(c *cursor) { m.Ticket = c.u16() }
