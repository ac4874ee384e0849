package protocol

// Class 60: contents and how they are fetched. Consumers are in consume.go, acks and their kind in settle.go, the hot path in hotpath.go.

// BasicPublish sends a content to an exchange [AMQP 1.8.3.7]. On the hot path see DecodePublish.
type BasicPublish struct {
	Exchange, RoutingKey string
	Mandatory            bool
	Immediate            bool // refused by RabbitMQ (TTL-7)
}

func (*BasicPublish) Key() Key { return classBasic<<16 | 40 }

// Append implements Method.
func (m *BasicPublish) Append(dst []byte) []byte {
	dst = appendShort(appendShort(append(dst, 0, 0), m.Exchange), m.RoutingKey)
	return append(dst, octet(m.Mandatory, m.Immediate))
}

func (m *BasicPublish) decode(c *cursor) {
	c.u16()
	m.Exchange, m.RoutingKey = string(c.short()), string(c.short())
	b := c.u8()
	m.Mandatory, m.Immediate = bit(b, 0), bit(b, 1)
}

// BasicReturn brings a mandatory content back that found no queue [AMQP 1.8.3.8].
type BasicReturn struct {
	ReplyCode                       uint16
	ReplyText, Exchange, RoutingKey string
}

func (*BasicReturn) Key() Key { return classBasic<<16 | 50 }

// Append implements Method.
func (m *BasicReturn) Append(dst []byte) []byte {
	dst = appendShort(appendU16(dst, m.ReplyCode), m.ReplyText)
	return appendShort(appendShort(dst, m.Exchange), m.RoutingKey)
}

func (m *BasicReturn) decode(c *cursor) {
	m.ReplyCode, m.ReplyText = c.u16(), string(c.short())
	m.Exchange, m.RoutingKey = string(c.short()), string(c.short())
}

// BasicDeliver brings a content to a consumer [AMQP 1.8.3.9]. On the hot path see AppendDeliverFrame.
type BasicDeliver struct {
	ConsumerTag          string
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey string
}

func (*BasicDeliver) Key() Key { return classBasic<<16 | 60 }

// Append implements Method.
func (m *BasicDeliver) Append(dst []byte) []byte {
	dst = appendU64(appendShort(dst, m.ConsumerTag), m.DeliveryTag)
	return appendShort(appendShort(append(dst, octet(m.Redelivered)), m.Exchange), m.RoutingKey)
}

func (m *BasicDeliver) decode(c *cursor) {
	m.ConsumerTag, m.DeliveryTag, m.Redelivered = string(c.short()), c.u64(), bit(c.u8(), 0)
	m.Exchange, m.RoutingKey = string(c.short()), string(c.short())
}

// BasicGet asks for one message [AMQP 1.8.3.10].
type BasicGet struct {
	Queue string
	NoAck bool
}

func (*BasicGet) Key() Key { return classBasic<<16 | 70 }

// Append implements Method.
func (m *BasicGet) Append(dst []byte) []byte {
	return append(appendShort(append(dst, 0, 0), m.Queue), octet(m.NoAck))
}

func (m *BasicGet) decode(c *cursor) {
	c.u16()
	m.Queue, m.NoAck = c.name(), bit(c.u8(), 0)
}

// BasicGetOk brings the content that basic.get asked for; MessageCount are the ready messages still there [AMQP 1.8.3.11].
type BasicGetOk struct {
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey string
	MessageCount         uint32
}

func (*BasicGetOk) Key() Key { return classBasic<<16 | 71 }

// Append implements Method.
func (m *BasicGetOk) Append(dst []byte) []byte {
	dst = append(appendU64(dst, m.DeliveryTag), octet(m.Redelivered))
	return appendU32(appendShort(appendShort(dst, m.Exchange), m.RoutingKey), m.MessageCount)
}

func (m *BasicGetOk) decode(c *cursor) {
	m.DeliveryTag, m.Redelivered = c.u64(), bit(c.u8(), 0)
	m.Exchange, m.RoutingKey, m.MessageCount = string(c.short()), string(c.short()), c.u32()
}

// BasicGetEmpty says that no message was ready [AMQP 1.8.3.12]. Its reserved argument is read and ignored.
type BasicGetEmpty struct{}

func (*BasicGetEmpty) Key() Key { return classBasic<<16 | 72 }

// Append implements Method.
func (m *BasicGetEmpty) Append(dst []byte) []byte { return append(dst, 0) }

func (m *BasicGetEmpty) decode(c *cursor) { c.name() }
