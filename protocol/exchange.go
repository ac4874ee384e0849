package protocol

// Class 40. The ticket that the requests begin with is read and forgotten.

// newExchangeMethod returns an empty method of class exchange, nil for an unknown id.
func newExchangeMethod(method uint16) decoder {
	switch method {
	case 10:
		return &ExchangeDeclare{}
	case 11:
		return &ExchangeDeclareOk{}
	case 20:
		return &ExchangeDelete{}
	case 21:
		return &ExchangeDeleteOk{}
	case 30:
		return &ExchangeBind{}
	case 31:
		return &ExchangeBindOk{}
	case 40:
		return &ExchangeUnbind{}
	case 51:
		return &ExchangeUnbindOk{}
	}
	return nil
}

// ExchangeDeclare creates an exchange, or with Passive asks whether it is there [AMQP 1.6.2.1].
type ExchangeDeclare struct {
	Exchange, Type                                 string
	Passive, Durable, AutoDelete, Internal, NoWait bool
	Arguments                                      Table
}

func (*ExchangeDeclare) ClassID() uint16  { return classExchange }
func (*ExchangeDeclare) MethodID() uint16 { return 10 }
func (*ExchangeDeclare) Name() string     { return "exchange.declare" }

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

func (*ExchangeDeclareOk) ClassID() uint16  { return classExchange }
func (*ExchangeDeclareOk) MethodID() uint16 { return 11 }
func (*ExchangeDeclareOk) Name() string     { return "exchange.declare-ok" }

// ExchangeDelete deletes an exchange [AMQP 1.6.2.3].
type ExchangeDelete struct {
	Exchange         string
	IfUnused, NoWait bool
}

func (*ExchangeDelete) ClassID() uint16  { return classExchange }
func (*ExchangeDelete) MethodID() uint16 { return 20 }
func (*ExchangeDelete) Name() string     { return "exchange.delete" }

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

func (*ExchangeDeleteOk) ClassID() uint16  { return classExchange }
func (*ExchangeDeleteOk) MethodID() uint16 { return 21 }
func (*ExchangeDeleteOk) Name() string     { return "exchange.delete-ok" }

// ExchangeBind binds exchange Destination to exchange Source [RabbitMQ].
type ExchangeBind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       Table
}

func (*ExchangeBind) ClassID() uint16  { return classExchange }
func (*ExchangeBind) MethodID() uint16 { return 30 }
func (*ExchangeBind) Name() string     { return "exchange.bind" }

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

func (*ExchangeBindOk) ClassID() uint16  { return classExchange }
func (*ExchangeBindOk) MethodID() uint16 { return 31 }
func (*ExchangeBindOk) Name() string     { return "exchange.bind-ok" }

// ExchangeUnbind takes an exchange.bind with the same key and arguments back [RabbitMQ].
type ExchangeUnbind ExchangeBind

func (*ExchangeUnbind) ClassID() uint16  { return classExchange }
func (*ExchangeUnbind) MethodID() uint16 { return 40 }
func (*ExchangeUnbind) Name() string     { return "exchange.unbind" }

// Append implements Method.
func (m *ExchangeUnbind) Append(dst []byte) []byte { return (*ExchangeBind)(m).Append(dst) }

func (m *ExchangeUnbind) decode(c *cursor) { (*ExchangeBind)(m).decode(c) }

// ExchangeUnbindOk confirms exchange.unbind; its id is 51, not 41 [RabbitMQ].
type ExchangeUnbindOk struct{ noArguments }

func (*ExchangeUnbindOk) ClassID() uint16  { return classExchange }
func (*ExchangeUnbindOk) MethodID() uint16 { return 51 }
func (*ExchangeUnbindOk) Name() string     { return "exchange.unbind-ok" }
