package protocol

// Class 50. The ticket that the requests begin with is read and forgotten. An empty Queue means the channel's last declared one (DEC-9).

// QueueDeclare creates a queue, or with Passive asks whether it exists [AMQP 1.7.2.1].
type QueueDeclare struct {
	Queue                                           string // empty: the server makes a name
	Passive, Durable, Exclusive, AutoDelete, NoWait bool
	Arguments                                       Table
}

func (*QueueDeclare) Key() Key { return classQueue<<16 | 10 }

// Append implements Method.
func (m *QueueDeclare) Append(dst []byte) []byte {
	dst = appendShort(append(dst, 0, 0), m.Queue)
	dst = append(dst, octet(m.Passive, m.Durable, m.Exclusive, m.AutoDelete, m.NoWait))
	return mustAppendTable(dst, m.Arguments)
}

func (m *QueueDeclare) decode(c *cursor) {
	c.u16()
	m.Queue = c.name()
	b := c.u8()
	m.Passive, m.Durable, m.Exclusive, m.AutoDelete, m.NoWait = bit(b, 0), bit(b, 1), bit(b, 2), bit(b, 3), bit(b, 4)
	m.Arguments = c.table()
}

// QueueDeclareOk confirms queue.declare with the ready messages and the consumers [AMQP 1.7.2.2].
type QueueDeclareOk struct {
	Queue                       string
	MessageCount, ConsumerCount uint32
}

func (*QueueDeclareOk) Key() Key { return classQueue<<16 | 11 }

// Append implements Method.
func (m *QueueDeclareOk) Append(dst []byte) []byte {
	return appendU32(appendU32(appendShort(dst, m.Queue), m.MessageCount), m.ConsumerCount)
}

func (m *QueueDeclareOk) decode(c *cursor) {
	m.Queue, m.MessageCount, m.ConsumerCount = c.name(), c.u32(), c.u32()
}

// QueueBind binds a queue to an exchange [AMQP 1.7.2.3].
type QueueBind struct {
	Queue, Exchange, RoutingKey string
	NoWait                      bool
	Arguments                   Table
}

func (*QueueBind) Key() Key { return classQueue<<16 | 20 }

// Append implements Method.
func (m *QueueBind) Append(dst []byte) []byte {
	dst = appendShort(append(dst, 0, 0), m.Queue)
	dst = appendShort(appendShort(dst, m.Exchange), m.RoutingKey)
	return mustAppendTable(append(dst, octet(m.NoWait)), m.Arguments)
}

func (m *QueueBind) decode(c *cursor) {
	c.u16()
	m.Queue, m.Exchange, m.RoutingKey = c.name(), c.name(), c.name()
	m.NoWait, m.Arguments = bit(c.u8(), 0), c.table()
}

// QueueBindOk confirms queue.bind [AMQP 1.7.2.4].
type QueueBindOk struct{ noArguments }

func (*QueueBindOk) Key() Key { return classQueue<<16 | 21 }

// QueuePurge drops the ready messages of a queue [AMQP 1.7.2.7].
type QueuePurge struct {
	Queue  string
	NoWait bool
}

func (*QueuePurge) Key() Key { return classQueue<<16 | 30 }

// Append implements Method.
func (m *QueuePurge) Append(dst []byte) []byte {
	return append(appendShort(append(dst, 0, 0), m.Queue), octet(m.NoWait))
}

func (m *QueuePurge) decode(c *cursor) {
	c.u16()
	m.Queue, m.NoWait = c.name(), bit(c.u8(), 0)
}

// QueuePurgeOk returns the number of messages that queue.purge dropped [AMQP 1.7.2.8].
type QueuePurgeOk struct {
	MessageCount uint32
}

func (*QueuePurgeOk) Key() Key { return classQueue<<16 | 31 }

// Append implements Method.
func (m *QueuePurgeOk) Append(dst []byte) []byte { return appendU32(dst, m.MessageCount) }

func (m *QueuePurgeOk) decode(c *cursor) { m.MessageCount = c.u32() }

// QueueDelete deletes a queue [AMQP 1.7.2.9].
type QueueDelete struct {
	Queue                     string
	IfUnused, IfEmpty, NoWait bool
}

func (*QueueDelete) Key() Key { return classQueue<<16 | 40 }

// Append implements Method.
func (m *QueueDelete) Append(dst []byte) []byte {
	return append(appendShort(append(dst, 0, 0), m.Queue), octet(m.IfUnused, m.IfEmpty, m.NoWait))
}

func (m *QueueDelete) decode(c *cursor) {
	c.u16()
	m.Queue = c.name()
	b := c.u8()
	m.IfUnused, m.IfEmpty, m.NoWait = bit(b, 0), bit(b, 1), bit(b, 2)
}

// QueueDeleteOk returns the number of ready messages in the deleted queue [AMQP 1.7.2.10].
type QueueDeleteOk struct {
	MessageCount uint32
}

func (*QueueDeleteOk) Key() Key { return classQueue<<16 | 41 }

// Append implements Method.
func (m *QueueDeleteOk) Append(dst []byte) []byte { return appendU32(dst, m.MessageCount) }

func (m *QueueDeleteOk) decode(c *cursor) { m.MessageCount = c.u32() }

// QueueUnbind takes a queue.bind with the same key and arguments back; it has no no-wait [AMQP 1.7.2.5].
type QueueUnbind struct {
	Queue, Exchange, RoutingKey string
	Arguments                   Table
}

func (*QueueUnbind) Key() Key { return classQueue<<16 | 50 }

// Append implements Method.
func (m *QueueUnbind) Append(dst []byte) []byte {
	dst = appendShort(append(dst, 0, 0), m.Queue)
	dst = appendShort(appendShort(dst, m.Exchange), m.RoutingKey)
	return mustAppendTable(dst, m.Arguments)
}

func (m *QueueUnbind) decode(c *cursor) {
	c.u16()
	m.Queue, m.Exchange, m.RoutingKey = c.name(), c.name(), c.name()
	m.Arguments = c.table()
}

// QueueUnbindOk confirms queue.unbind [AMQP 1.7.2.6].
type QueueUnbindOk struct{ noArguments }

func (*QueueUnbindOk) Key() Key { return classQueue<<16 | 51 }
