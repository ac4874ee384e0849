package protocol

// Class 30: left over from AMQP 0-8. RabbitMQ grants every request the ticket 1 and never looks at tickets again.

// newAccessMethod returns an empty method of class access, nil for an unknown id.
func newAccessMethod(method uint16) decoder {
	switch method {
	case 10:
		return &AccessRequest{}
	case 11:
		return &AccessRequestOk{}
	}
	return nil
}

// AccessRequest asks for a ticket [AMQP 0-8].
type AccessRequest struct {
	Realm                                   string
	Exclusive, Passive, Active, Write, Read bool
}

func (*AccessRequest) ClassID() uint16  { return classAccess }
func (*AccessRequest) MethodID() uint16 { return 10 }
func (*AccessRequest) Name() string     { return "access.request" }

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

func (*AccessRequestOk) ClassID() uint16  { return classAccess }
func (*AccessRequestOk) MethodID() uint16 { return 11 }
func (*AccessRequestOk) Name() string     { return "access.request-ok" }

// Append implements Method.
func (m *AccessRequestOk) Append(dst []byte) []byte { return appendU16(dst, m.Ticket) }

func (m *AccessRequestOk) decode(c *cursor) { m.Ticket = c.u16() }
