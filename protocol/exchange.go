package protocol

// Class 40. The ticket that the requests begin with is read and forgotten.

// ExchangeDeclare creates an exchange, or with Passive asks whether it exists [AMQP 1.6.2.1].
type ExchangeDeclare struct {
	Exchange, Type                                 string
	Passive, Durable, AutoDelete, Internal, NoWait bool
	Arguments                                      Table
}

func (*ExchangeDeclare) Key() Key { return classExchange<<16 | 10 }

// Append implements Method.
func (m *ExchangeDeclare) Append(dst []byte) []byte {
	dst = appendShort(appendShort(append(dst, 0, 0), m.Exchange), m.Type)
	dst = append(dst, octet(m.Passive, m.Durable, m.AutoDelete, m.Internal, m.NoWait))
	return mustAppendTable(dst, m.Arguments)
}

func (m *ExchangeDeclare) decode(c *cursor) {
	c.u16()
	m.Exchange, m.Type = c.name(), c.name()
	b := c.u8()
	m.Passive, m.Durable, m.AutoDelete, m.Internal, m.NoWait = bit(b, 0), bit(b, 1), bit(b, 2), bit(b, 3), bit(b, 4)
	m.Arguments = c.table()
}

// ExchangeDeclareOk confirms exchange.declare [AMQP 1.6.2.2].
type ExchangeDeclareOk struct{ noArguments }

func (*ExchangeDeclareOk) Key() Key { return classExchange<<16 | 11 }

// ExchangeDelete deletes an exchange [AMQP 1.6.2.3].
type ExchangeDelete struct {
	Exchange         string
	IfUnused, NoWait bool
}

func (*ExchangeDelete) Key() Key { return classExchange<<16 | 20 }

// Append implements Method.
func (m *ExchangeDelete) Append(dst []byte) []byte {
	return append(appendShort(append(dst, 0, 0), m.Exchange), octet(m.IfUnused, m.NoWait))
}

func (m *ExchangeDelete) decode(c *cursor) {
	c.u16()
	m.Exchange = c.name()
	b := c.u8()
	m.IfUnused, m.NoWait = bit(b, 0), bit(b, 1)
}

// ExchangeDeleteOk confirms exchange.delete [AMQP 1.6.2.4].
type ExchangeDeleteOk struct{ noArguments }

func (*ExchangeDeleteOk) Key() Key { return classExchange<<16 | 21 }

// ExchangeBind binds exchange Destination to exchange Source [RabbitMQ].
type ExchangeBind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       Table
}

func (*ExchangeBind) Key() Key { return classExchange<<16 | 30 }

// Append implements Method.
func (m *ExchangeBind) Append(dst []byte) []byte {
	dst = appendShort(append(dst, 0, 0), m.Destination)
	dst = appendShort(appendShort(dst, m.Source), m.RoutingKey)
	return mustAppendTable(append(dst, octet(m.NoWait)), m.Arguments)
}

func (m *ExchangeBind) decode(c *cursor) {
	c.u16()
	m.Destination, m.Source, m.RoutingKey = c.name(), c.name(), c.name()
	m.NoWait, m.Arguments = bit(c.u8(), 0), c.table()
}

// ExchangeBindOk confirms exchange.bind [RabbitMQ].
type ExchangeBindOk struct{ noArguments }

func (*ExchangeBindOk) Key() Key { return classExchange<<16 | 31 }

// ExchangeUnbind takes an exchange.bind with the same key and arguments back [RabbitMQ].
type ExchangeUnbind ExchangeBind

func (*ExchangeUnbind) Key() Key { return classExchange<<16 | 40 }

// Append implements Method.
func (m *ExchangeUnbind) Append(dst []byte) []byte { return (*ExchangeBind)(m).Append(dst) }

func (m *ExchangeUnbind) decode(c *cursor) { (*ExchangeBind)(m).decode(c) }

// ExchangeUnbindOk confirms exchange.unbind; its id is 51, not 41 [RabbitMQ].
type ExchangeUnbindOk struct{ noArguments }

func (*ExchangeUnbindOk) Key() Key { return classExchange<<16 | 51 }
