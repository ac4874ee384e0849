package protocol

// Class 85: publisher confirms, an extension of RabbitMQ.

// newConfirmMethod returns an empty method of class confirm, nil for an unknown id.
func newConfirmMethod(method uint16) decoder {
	switch method {
	case 10:
		return &ConfirmSelect{}
	case 11:
		return &ConfirmSelectOk{}
	}
	return nil
}

// ConfirmSelect turns confirms on for the channel, for good [RabbitMQ].
type ConfirmSelect struct {
	NoWait bool
}

func (*ConfirmSelect) ClassID() uint16  { return classConfirm }
func (*ConfirmSelect) MethodID() uint16 { return 10 }
func (*ConfirmSelect) Name() string     { return "confirm.select" }

// Append implements Method.
func (m *ConfirmSelect) Append(dst []byte) []byte { return append(dst, octet(m.NoWait)) }

func (m *ConfirmSelect) decode(c *cursor) { m.NoWait = bit(c.u8(), 0) }

// ConfirmSelectOk confirms confirm.select [RabbitMQ].
type ConfirmSelectOk struct{ noArguments }

func (*ConfirmSelectOk) ClassID() uint16  { return classConfirm }
func (*ConfirmSelectOk) MethodID() uint16 { return 11 }
func (*ConfirmSelectOk) Name() string     { return "confirm.select-ok" }
