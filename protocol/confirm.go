package protocol

// Class 85: publisher confirms, an extension of RabbitMQ.

// ConfirmSelect turns confirms on for the channel, for good [RabbitMQ].
type ConfirmSelect struct {
	NoWait bool
}

func (*ConfirmSelect) Key() Key { return classConfirm<<16 | 10 }

// Append implements Method.
func (m *ConfirmSelect) Append(dst []byte) []byte { return append(dst, octet(m.NoWait)) }

func (m *ConfirmSelect) decode(c *cursor) { m.NoWait = bit(c.u8(), 0) }

// ConfirmSelectOk confirms confirm.select [RabbitMQ].
type ConfirmSelectOk struct{ noArguments }

func (*ConfirmSelectOk) Key() Key { return classConfirm<<16 | 11 }
