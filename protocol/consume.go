package protocol

// Class 60, the methods about consumers; the others are in basic.go. The ticket is read and forgotten.

// BasicQos limits the messages in flight [AMQP 1.8.3.1].
type BasicQos struct {
	PrefetchSize  uint32 // bytes; RabbitMQ accepts 0 only
	PrefetchCount uint16 // messages, 0 for no limit
	Global        bool   // for the whole channel instead of each new consumer
}

func (*BasicQos) Key() Key { return classBasic<<16 | 10 }

// Append implements Method.
func (m *BasicQos) Append(dst []byte) []byte {
	return append(appendU16(appendU32(dst, m.PrefetchSize), m.PrefetchCount), octet(m.Global))
}

func (m *BasicQos) decode(c *cursor) {
	m.PrefetchSize, m.PrefetchCount, m.Global = c.u32(), c.u16(), bit(c.u8(), 0)
}

// BasicQosOk confirms basic.qos [AMQP 1.8.3.2].
type BasicQosOk struct{ noArguments }

func (*BasicQosOk) Key() Key { return classBasic<<16 | 11 }

// BasicConsume starts a consumer [AMQP 1.8.3.3].
type BasicConsume struct {
	Queue                             string
	ConsumerTag                       string // empty: the server makes one
	NoLocal, NoAck, Exclusive, NoWait bool
	Arguments                         Table
}

func (*BasicConsume) Key() Key { return classBasic<<16 | 20 }

// Append implements Method.
func (m *BasicConsume) Append(dst []byte) []byte {
	dst = appendShort(appendShort(append(dst, 0, 0), m.Queue), m.ConsumerTag)
	dst = append(dst, octet(m.NoLocal, m.NoAck, m.Exclusive, m.NoWait))
	return mustAppendTable(dst, m.Arguments)
}

func (m *BasicConsume) decode(c *cursor) {
	c.u16()
	m.Queue, m.ConsumerTag = c.name(), c.name()
	b := c.u8()
	m.NoLocal, m.NoAck, m.Exclusive, m.NoWait = bit(b, 0), bit(b, 1), bit(b, 2), bit(b, 3)
	m.Arguments = c.table()
}

// BasicConsumeOk confirms basic.consume; deliveries come after it [AMQP 1.8.3.4].
type BasicConsumeOk struct {
	ConsumerTag string
}

func (*BasicConsumeOk) Key() Key { return classBasic<<16 | 21 }

// Append implements Method.
func (m *BasicConsumeOk) Append(dst []byte) []byte { return appendShort(dst, m.ConsumerTag) }

func (m *BasicConsumeOk) decode(c *cursor) { m.ConsumerTag = c.name() }

// BasicCancel ends a consumer; sent by the server when its queue is gone [AMQP 1.8.3.5, RabbitMQ consumer_cancel_notify].
type BasicCancel struct {
	ConsumerTag string
	NoWait      bool
}

func (*BasicCancel) Key() Key { return classBasic<<16 | 30 }

// Append implements Method.
func (m *BasicCancel) Append(dst []byte) []byte {
	return append(appendShort(dst, m.ConsumerTag), octet(m.NoWait))
}

func (m *BasicCancel) decode(c *cursor) { m.ConsumerTag, m.NoWait = c.name(), bit(c.u8(), 0) }

// BasicCancelOk confirms basic.cancel; no delivery comes after it [AMQP 1.8.3.6].
type BasicCancelOk BasicConsumeOk

func (*BasicCancelOk) Key() Key { return classBasic<<16 | 31 }

// Append implements Method.
func (m *BasicCancelOk) Append(dst []byte) []byte { return (*BasicConsumeOk)(m).Append(dst) }

func (m *BasicCancelOk) decode(c *cursor) { (*BasicConsumeOk)(m).decode(c) }
