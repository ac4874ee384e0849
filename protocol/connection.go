package protocol

// Class 10: the handshake of a connection, how it closes, and RabbitMQ's blocked, unblocked and update-secret.

// ConnectionStart opens the handshake: the server offers its SASL mechanisms and locales, each list separated by spaces
// [AMQP 1.4.2.1]. The version is 0 and 9.
type ConnectionStart struct {
	VersionMajor, VersionMinor uint8
	ServerProperties           Table
	Mechanisms, Locales        string
}

func (*ConnectionStart) Key() Key { return classConnection<<16 | 10 }

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

func (*ConnectionStartOk) Key() Key { return classConnection<<16 | 11 }

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

func (*ConnectionSecure) Key() Key { return classConnection<<16 | 20 }

// Append implements Method.
func (m *ConnectionSecure) Append(dst []byte) []byte { return appendLong(dst, m.Challenge) }

func (m *ConnectionSecure) decode(c *cursor) { m.Challenge = c.bytes() }

// ConnectionSecureOk answers a SASL challenge [AMQP 1.4.2.4].
type ConnectionSecureOk struct {
	Response []byte // may hold a password: never log it
}

func (*ConnectionSecureOk) Key() Key { return classConnection<<16 | 21 }

// Append implements Method.
func (m *ConnectionSecureOk) Append(dst []byte) []byte { return appendLong(dst, m.Response) }

func (m *ConnectionSecureOk) decode(c *cursor) { m.Response = c.bytes() }

// ConnectionTune proposes limits [AMQP 1.4.2.5]; 0 means none.
type ConnectionTune struct {
	ChannelMax uint16 // channels
	FrameMax   uint32 // bytes of a whole frame
	Heartbeat  uint16 // seconds
}

func (*ConnectionTune) Key() Key { return classConnection<<16 | 30 }

// Append implements Method.
func (m *ConnectionTune) Append(dst []byte) []byte {
	return appendU16(appendU32(appendU16(dst, m.ChannelMax), m.FrameMax), m.Heartbeat)
}

func (m *ConnectionTune) decode(c *cursor) {
	m.ChannelMax, m.FrameMax, m.Heartbeat = c.u16(), c.u32(), c.u16()
}

// ConnectionTuneOk settles the limits [AMQP 1.4.2.6].
type ConnectionTuneOk ConnectionTune

func (*ConnectionTuneOk) Key() Key { return classConnection<<16 | 31 }

// Append implements Method.
func (m *ConnectionTuneOk) Append(dst []byte) []byte { return (*ConnectionTune)(m).Append(dst) }

func (m *ConnectionTuneOk) decode(c *cursor) { (*ConnectionTune)(m).decode(c) }

// ConnectionOpen chooses the virtual host [AMQP 1.4.2.7]. Its two reserved arguments are read and forgotten.
type ConnectionOpen struct {
	VirtualHost string
}

func (*ConnectionOpen) Key() Key { return classConnection<<16 | 40 }

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

func (*ConnectionOpenOk) Key() Key { return classConnection<<16 | 41 }

// Append implements Method.
func (*ConnectionOpenOk) Append(dst []byte) []byte { return append(dst, 0) }

func (*ConnectionOpenOk) decode(c *cursor) { c.name() }

// ConnectionClose closes the connection, from either side [AMQP 1.4.2.9].
type ConnectionClose struct {
	ReplyCode     uint16
	ReplyText     string // at most 255 bytes
	Class, Method uint16 // the failed method, 0 and 0 if none
}

func (*ConnectionClose) Key() Key { return classConnection<<16 | 50 }

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

func (*ConnectionCloseOk) Key() Key { return classConnection<<16 | 51 }

// ConnectionBlocked informs a client that announced the capability connection.blocked that its publishes wait
// [RabbitMQ].
type ConnectionBlocked struct {
	Reason string // "low on memory"
}

func (*ConnectionBlocked) Key() Key { return classConnection<<16 | 60 }

// Append implements Method.
func (m *ConnectionBlocked) Append(dst []byte) []byte { return appendShort(dst, m.Reason) }

func (m *ConnectionBlocked) decode(c *cursor) { m.Reason = c.name() }

// ConnectionUnblocked takes connection.blocked back [RabbitMQ].
type ConnectionUnblocked struct{ noArguments }

func (*ConnectionUnblocked) Key() Key { return classConnection<<16 | 61 }

// ConnectionUpdateSecret replaces the credentials of a connection that stays open [RabbitMQ].
type ConnectionUpdateSecret struct {
	NewSecret []byte // never log it
	Reason    string
}

func (*ConnectionUpdateSecret) Key() Key { return classConnection<<16 | 70 }

// Append implements Method.
func (m *ConnectionUpdateSecret) Append(dst []byte) []byte {
	return appendShort(appendLong(dst, m.NewSecret), m.Reason)
}

func (m *ConnectionUpdateSecret) decode(c *cursor) { m.NewSecret, m.Reason = c.bytes(), c.name() }

// ConnectionUpdateSecretOk confirms connection.update-secret [RabbitMQ].
type ConnectionUpdateSecretOk struct{ noArguments }

func (*ConnectionUpdateSecretOk) Key() Key { return classConnection<<16 | 71 }
