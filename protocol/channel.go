package protocol

// Class 20: opening, pausing and closing a channel.

// newChannelMethod returns an empty method of class channel, nil for an unknown id.
func newChannelMethod(method uint16) decoder {
	switch method {
	case 10:
		return &ChannelOpen{}
	case 11:
		return &ChannelOpenOk{}
	case 20:
		return &ChannelFlow{}
	case 21:
		return &ChannelFlowOk{}
	case 40:
		return &ChannelClose{}
	case 41:
		return &ChannelCloseOk{}
	}
	return nil
}

// ChannelOpen opens the channel whose number the frame carries [AMQP 1.5.2.1]. Its reserved argument is read and forgotten.
type ChannelOpen struct{}

func (*ChannelOpen) ClassID() uint16  { return classChannel }
func (*ChannelOpen) MethodID() uint16 { return 10 }
func (*ChannelOpen) Name() string     { return "channel.open" }

// Append implements Method.
func (m *ChannelOpen) Append(dst []byte) []byte { return append(dst, 0) }

func (m *ChannelOpen) decode(c *cursor) { c.name() }

// ChannelOpenOk confirms channel.open [AMQP 1.5.2.2]. Its reserved argument is read and forgotten.
type ChannelOpenOk struct{}

func (*ChannelOpenOk) ClassID() uint16  { return classChannel }
func (*ChannelOpenOk) MethodID() uint16 { return 11 }
func (*ChannelOpenOk) Name() string     { return "channel.open-ok" }

// Append implements Method.
func (m *ChannelOpenOk) Append(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

func (m *ChannelOpenOk) decode(c *cursor) { c.long() }

// ChannelFlow asks the other side to pause or resume its contents [AMQP 1.5.2.3].
type ChannelFlow struct {
	Active bool // false: pause
}

func (*ChannelFlow) ClassID() uint16  { return classChannel }
func (*ChannelFlow) MethodID() uint16 { return 20 }
func (*ChannelFlow) Name() string     { return "channel.flow" }

// Append implements Method.
func (m *ChannelFlow) Append(dst []byte) []byte { return append(dst, octet(m.Active)) }

func (m *ChannelFlow) decode(c *cursor) { m.Active = bit(c.u8(), 0) }

// ChannelFlowOk confirms channel.flow [AMQP 1.5.2.4].
type ChannelFlowOk ChannelFlow

func (*ChannelFlowOk) ClassID() uint16  { return classChannel }
func (*ChannelFlowOk) MethodID() uint16 { return 21 }
func (*ChannelFlowOk) Name() string     { return "channel.flow-ok" }

// Append implements Method.
func (m *ChannelFlowOk) Append(dst []byte) []byte { return (*ChannelFlow)(m).Append(dst) }

func (m *ChannelFlowOk) decode(c *cursor) { (*ChannelFlow)(m).decode(c) }

// ChannelClose closes the channel, from either side [AMQP 1.5.2.5].
type ChannelClose ConnectionClose

func (*ChannelClose) ClassID() uint16  { return classChannel }
func (*ChannelClose) MethodID() uint16 { return 40 }
func (*ChannelClose) Name() string     { return "channel.close" }

// Append implements Method.
func (m *ChannelClose) Append(dst []byte) []byte { return (*ConnectionClose)(m).Append(dst) }

func (m *ChannelClose) decode(c *cursor) { (*ConnectionClose)(m).decode(c) }

// ChannelCloseOk confirms channel.close; the number may be opened again [AMQP 1.5.2.6].
type ChannelCloseOk struct{ noArguments }

func (*ChannelCloseOk) ClassID() uint16  { return classChannel }
func (*ChannelCloseOk) MethodID() uint16 { return 41 }
func (*ChannelCloseOk) Name() string     { return "channel.close-ok" }
