package protocol

// Class 20: opening, pausing and closing a channel.

// ChannelOpen opens the channel whose number the frame carries [AMQP 1.5.2.1]. Its reserved argument is read and forgotten.
type ChannelOpen struct{}

func (*ChannelOpen) Key() Key { return classChannel<<16 | 10 }

// Append implements Method.
func (m *ChannelOpen) Append(dst []byte) []byte { return append(dst, 0) }

func (m *ChannelOpen) decode(c *cursor) { c.name() }

// ChannelOpenOk confirms channel.open [AMQP 1.5.2.2]. Its reserved argument is read and forgotten.
type ChannelOpenOk struct{}

func (*ChannelOpenOk) Key() Key { return classChannel<<16 | 11 }

// Append implements Method.
func (m *ChannelOpenOk) Append(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

func (m *ChannelOpenOk) decode(c *cursor) { c.long() }

// ChannelFlow asks the other side to pause or resume its contents [AMQP 1.5.2.3].
type ChannelFlow struct {
	Active bool // false: pause
}

func (*ChannelFlow) Key() Key { return classChannel<<16 | 20 }

// Append implements Method.
func (m *ChannelFlow) Append(dst []byte) []byte { return append(dst, octet(m.Active)) }

func (m *ChannelFlow) decode(c *cursor) { m.Active = bit(c.u8(), 0) }

// ChannelFlowOk confirms channel.flow [AMQP 1.5.2.4].
type ChannelFlowOk ChannelFlow

func (*ChannelFlowOk) Key() Key { return classChannel<<16 | 21 }

// Append implements Method.
func (m *ChannelFlowOk) Append(dst []byte) []byte { return (*ChannelFlow)(m).Append(dst) }

func (m *ChannelFlowOk) decode(c *cursor) { (*ChannelFlow)(m).decode(c) }

// ChannelClose closes the channel, from either side [AMQP 1.5.2.5].
type ChannelClose ConnectionClose

func (*ChannelClose) Key() Key { return classChannel<<16 | 40 }

// Append implements Method.
func (m *ChannelClose) Append(dst []byte) []byte { return (*ConnectionClose)(m).Append(dst) }

func (m *ChannelClose) decode(c *cursor) { (*ConnectionClose)(m).decode(c) }

// ChannelCloseOk confirms channel.close; the number may be opened again [AMQP 1.5.2.6].
type ChannelCloseOk struct{ noArguments }

func (*ChannelCloseOk) Key() Key { return classChannel<<16 | 41 }
