package protocol

// Class 60, the methods that settle deliveries and publishes; the others are in basic.go.

// BasicAck acknowledges deliveries, or, from the server, confirms publishes [AMQP 1.8.3.13]. On the hot path see DecodeAck.
type BasicAck struct {
	DeliveryTag uint64 // 0 with Multiple: all so far
	Multiple    bool   // this one and all before it
}

func (*BasicAck) Key() Key { return classBasic<<16 | 80 }

// Append implements Method.
func (m *BasicAck) Append(dst []byte) []byte {
	return append(appendU64(dst, m.DeliveryTag), octet(m.Multiple))
}

func (m *BasicAck) decode(c *cursor) { m.DeliveryTag, m.Multiple = c.u64(), bit(c.u8(), 0) }

// BasicReject refuses one delivery; without Requeue it is dead-lettered or dropped [AMQP 1.8.3.14].
type BasicReject struct {
	DeliveryTag uint64
	Requeue     bool
}

func (*BasicReject) Key() Key { return classBasic<<16 | 90 }

// Append implements Method.
func (m *BasicReject) Append(dst []byte) []byte {
	return append(appendU64(dst, m.DeliveryTag), octet(m.Requeue))
}

func (m *BasicReject) decode(c *cursor) { m.DeliveryTag, m.Requeue = c.u64(), bit(c.u8(), 0) }

// BasicRecoverAsync requeues unsettled deliveries of the channel, without an answer [AMQP 1.8.3.15].
type BasicRecoverAsync struct {
	Requeue bool // RabbitMQ refuses false (DEC-15)
}

func (*BasicRecoverAsync) Key() Key { return classBasic<<16 | 100 }

// Append implements Method.
func (m *BasicRecoverAsync) Append(dst []byte) []byte { return append(dst, octet(m.Requeue)) }

func (m *BasicRecoverAsync) decode(c *cursor) { m.Requeue = bit(c.u8(), 0) }

// BasicRecover requeues unsettled deliveries of the channel [AMQP 1.8.3.16].
type BasicRecover BasicRecoverAsync

func (*BasicRecover) Key() Key { return classBasic<<16 | 110 }

// Append implements Method.
func (m *BasicRecover) Append(dst []byte) []byte { return (*BasicRecoverAsync)(m).Append(dst) }

func (m *BasicRecover) decode(c *cursor) { (*BasicRecoverAsync)(m).decode(c) }

// BasicRecoverOk confirms basic.recover [AMQP 1.8.3.17].
type BasicRecoverOk struct{ noArguments }

func (*BasicRecoverOk) Key() Key { return classBasic<<16 | 111 }

// BasicNack refuses deliveries like basic.reject, several at once with Multiple, or, from the server, refuses publishes [RabbitMQ].
type BasicNack struct {
	DeliveryTag       uint64 // 0 with Multiple: all so far
	Multiple, Requeue bool
}

func (*BasicNack) Key() Key { return classBasic<<16 | 120 }

// Append implements Method.
func (m *BasicNack) Append(dst []byte) []byte {
	return append(appendU64(dst, m.DeliveryTag), octet(m.Multiple, m.Requeue))
}

func (m *BasicNack) decode(c *cursor) {
	m.DeliveryTag = c.u64()
	b := c.u8()
	m.Multiple, m.Requeue = bit(b, 0), bit(b, 1)
}
