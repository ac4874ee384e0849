package protocol

// Class 10: the handshake of a connection, how it closes, and RabbitMQ's blocked, unblocked and update-secret.

// newConnectionMethod returns an empty method of class connection, nil for an unknown id.
func newConnectionMethod(method uint16) decoder {
	switch method {
	case 10:
		return &ConnectionStart{}
	case 11:
		return &ConnectionStartOk{}
	case 20:
		return &ConnectionSecure{}
	case 21:
		return &ConnectionSecureOk{}
	case 30:
		return &ConnectionTune{}
	case 31:
		return &ConnectionTuneOk{}
	case 40:
		return &ConnectionOpen{}
	case 41:
		return &ConnectionOpenOk{}
	case 50:
		return &ConnectionClose{}
	case 51:
		return &ConnectionCloseOk{}
	case 60:
		return &ConnectionBlocked{}
	case 61:
		return &ConnectionUnblocked{}
	case 70:
		return &ConnectionUpdateSecret{}
	case 71:
		return &ConnectionUpdateSecretOk{}
	}
	return nil
}

// ConnectionStart opens the handshake: the server offers its SASL mechanisms and locales, each list separated by spaces
// [AMQP 1.4.2.1]. The version is 0 and 9.
type ConnectionStart struct {
	VersionMajor, VersionMinor uint8
	ServerProperties           Table
	Mechanisms, Locales        string
}

func (*ConnectionStart) ClassID() uint16  { return classConnection }
func (*ConnectionStart) MethodID() uint16 { return 10 }
func (*ConnectionStart) Name() string     { return "connection.start" }

// Append implements Method.
func (m *ConnectionStart) Append(dst []byte) []byte {
	dst = mustAppendTable(append(dst, m.VersionMajor, m.VersionMinor), m.ServerProperties)
	return appendLong(appendLong(dst, m.Mechanisms), m.Locales)
}

func (m *ConnectionStart) decode(c *cursor) {
	m.VersionMajor, m.VersionMinor = c.u8(), c.u8()
	m.ServerProperties = c.table()
	m.Mechanisms, m.Locales = string(c.long()), string(c.long())
}

// ConnectionStartOk is the client's choice of mechanism and locale, with its first SASL response [AMQP 1.4.2.2].
type ConnectionStartOk struct {
	ClientProperties Table
	Mechanism        string
	Response         []byte // may hold a password: never log it
	Locale           string
}

func (*ConnectionStartOk) ClassID() uint16  { return classConnection }
func (*ConnectionStartOk) MethodID() uint16 { return 11 }
func (*ConnectionStartOk) Name() string     { return "connection.start-ok" }

// Append implements Method.
func (m *ConnectionStartOk) Append(dst []byte) []byte {
	dst = appendShort(mustAppendTable(dst, m.ClientProperties), m.Mechanism)
	return appendShort(appendLong(dst, m.Response), m.Locale)
}

func (m *ConnectionStartOk) decode(c *cursor) {
	m.ClientProperties, m.Mechanism = c.table(), c.name()
	m.Response, m.Locale = c.bytes(), c.name()
}

// ConnectionSecure is a further SASL challenge [AMQP 1.4.2.3].
type ConnectionSecure struct {
	Challenge []byte
}

func (*ConnectionSecure) ClassID() uint16  { return classConnection }
func (*ConnectionSecure) MethodID() uint16 { return 20 }
func (*ConnectionSecure) Name() string     { return "connection.secure" }

// Append implements Method.
func (m *ConnectionSecure) Append(dst []byte) []byte { return appendLong(dst, m.Challenge) }

func (m *ConnectionSecure) decode(c *cursor) { m.Challenge = c.bytes() }

// ConnectionSecureOk answers a SASL challenge [AMQP 1.4.2.4].
type ConnectionSecureOk struct {
	Response []byte // may hold a password: never log it
}

func (*ConnectionSecureOk) ClassID() uint16  { return classConnection }
func (*ConnectionSecureOk) MethodID() uint16 { return 21 }
func (*ConnectionSecureOk) Name() string     { return "connection.secure-ok" }

// Append implements Method.
func (m *ConnectionSecureOk) Append(dst []byte) []byte { return appendLong(dst, m.Response) }

func (m *ConnectionSecureOk) decode(c *cursor) { m.Response = c.bytes() }

// ConnectionTune proposes limits [AMQP 1.4.2.5]; 0 means none.
type ConnectionTune struct {
	ChannelMax uint16 // channels
	FrameMax   uint32 // bytes of a whole frame
	Heartbeat  uint16 // seconds
}

func (*ConnectionTune) ClassID() uint16  { return classConnection }
func (*ConnectionTune) MethodID() uint16 { return 30 }
func (*ConnectionTune) Name() string     { return "connection.tune" }

// Append implements Method.
func (m *ConnectionTune) Append(dst []byte) []byte {
	return appendU16(appendU32(appendU16(dst, m.ChannelMax), m.FrameMax), m.Heartbeat)
}

func (m *ConnectionTune) decode(c *cursor) {
	m.ChannelMax, m.FrameMax, m.Heartbeat = c.u16(), c.u32(), c.u16()
}

// ConnectionTuneOk settles the limits [AMQP 1.4.2.6].
type ConnectionTuneOk ConnectionTune

func (*ConnectionTuneOk) ClassID() uint16  { return classConnection }
func (*ConnectionTuneOk) MethodID() uint16 { return 31 }
func (*ConnectionTuneOk) Name() string     { return "connection.tune-ok" }

// Append implements Method.
func (m *ConnectionTuneOk) Append(dst []byte) []byte { return (*ConnectionTune)(m).Append(dst) }

func (m *ConnectionTuneOk) decode(c *cursor) { (*ConnectionTune)(m).decode(c) }

// ConnectionOpen chooses the virtual host [AMQP 1.4.2.7]. Its two reserved arguments are read and forgotten.
type ConnectionOpen struct {
	VirtualHost string
}

func (*ConnectionOpen) ClassID() uint16  { return classConnection }
func (*ConnectionOpen) MethodID() uint16 { return 40 }
func (*ConnectionOpen) Name() string     { return "connection.open" }

// Append implements Method.
func (m *ConnectionOpen) Append(dst []byte) []byte {
	return append(appendShort(dst, m.VirtualHost), 0, 0)
}

func (m *ConnectionOpen) decode(c *cursor) {
	m.VirtualHost = c.name()
	c.name()
	c.u8()
}

// ConnectionOpenOk ends the handshake [AMQP 1.4.2.8]. Its reserved argument is read and forgotten.
type ConnectionOpenOk struct{}

func (*ConnectionOpenOk) ClassID() uint16  { return classConnection }
func (*ConnectionOpenOk) MethodID() uint16 { return 41 }
func (*ConnectionOpenOk) Name() string     { return "connection.open-ok" }

// Append implements Method.
func (*ConnectionOpenOk) Append(dst []byte) []byte { return append(dst, 0) }

func (*ConnectionOpenOk) decode(c *cursor) { c.name() }

// ConnectionClose closes the connection, from either side [AMQP 1.4.2.9].
type ConnectionClose struct {
	ReplyCode     uint16
	ReplyText     string // at most 255 bytes
	Class, Method uint16 // what failed, 0 and 0 when nothing in particular did
}

func (*ConnectionClose) ClassID() uint16  { return classConnection }
func (*ConnectionClose) MethodID() uint16 { return 50 }
func (*ConnectionClose) Name() string     { return "connection.close" }

// Append implements Method.
func (m *ConnectionClose) Append(dst []byte) []byte {
	dst = appendShort(appendU16(dst, m.ReplyCode), m.ReplyText)
	return appendU16(appendU16(dst, m.Class), m.Method)
}

func (m *ConnectionClose) decode(c *cursor) {
	m.ReplyCode, m.ReplyText, m.Class, m.Method = c.u16(), c.name(), c.u16(), c.u16()
}

// ConnectionCloseOk confirms a close; nothing follows it [AMQP 1.4.2.10].
type ConnectionCloseOk struct{ noArguments }

func (*ConnectionCloseOk) ClassID() uint16  { return classConnection }
func (*ConnectionCloseOk) MethodID() uint16 { return 51 }
func (*ConnectionCloseOk) Name() string     { return "connection.close-ok" }

// ConnectionBlocked tells a client that announced the capability connection.blocked that its publishes wait [RabbitMQ].
type ConnectionBlocked struct {
	Reason string // "low on memory"
}

func (*ConnectionBlocked) ClassID() uint16  { return classConnection }
func (*ConnectionBlocked) MethodID() uint16 { return 60 }
func (*ConnectionBlocked) Name() string     { return "connection.blocked" }

// Append implements Method.
func (m *ConnectionBlocked) Append(dst []byte) []byte { return appendShort(dst, m.Reason) }

func (m *ConnectionBlocked) decode(c *cursor) { m.Reason = c.name() }

// ConnectionUnblocked takes connection.blocked back [RabbitMQ].
type ConnectionUnblocked struct{ noArguments }

func (*ConnectionUnblocked) ClassID() uint16  { return classConnection }
func (*ConnectionUnblocked) MethodID() uint16 { return 61 }
func (*ConnectionUnblocked) Name() string     { return "connection.unblocked" }

// ConnectionUpdateSecret replaces the credentials of a connection that stays open [RabbitMQ].
type ConnectionUpdateSecret struct {
	NewSecret []byte // never log it
	Reason    string
}

func (*ConnectionUpdateSecret) ClassID() uint16  { return classConnection }
func (*ConnectionUpdateSecret) MethodID() uint16 { return 70 }
func (*ConnectionUpdateSecret) Name() string     { return "connection.update-secret" }

// Append implements Method.
func (m *ConnectionUpdateSecret) Append(dst []byte) []byte {
	return appendShort(appendLong(dst, m.NewSecret), m.Reason)
}

func (m *ConnectionUpdateSecret) decode(c *cursor) { m.NewSecret, m.Reason = c.bytes(), c.name() }

// ConnectionUpdateSecretOk confirms connection.update-secret [RabbitMQ].
type ConnectionUpdateSecretOk struct{ noArguments }

func (*ConnectionUpdateSecretOk) ClassID() uint16  { return classConnection }
func (*ConnectionUpdateSecretOk) MethodID() uint16 { return 71 }
func (*ConnectionUpdateSecretOk) Name() string     { return "connection.update-secret-ok" }
