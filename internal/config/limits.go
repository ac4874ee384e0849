package config

// Limits are the limits of what clients open and send.
type Limits struct {
	// Connections is the maximum number of open connections; 0 for no limit.
	Connections int
	// Channels is the maximum number of open channels of a connection.
	Channels uint
	// Frame is the largest frame in bytes.
	Frame uint
	// Heartbeat is the interval proposed to clients, in s, or 0 if there is none.
	Heartbeat uint
	// Message is the largest body in bytes.
	Message uint
}

// Ranges of limits. The largest body is RabbitMQ's.
const (
	minFrame = 4096     // [AMQP 4.2.3]
	maxFrame = 16 << 20 // a reader must hold a whole frame
	maxShort = 1<<16 - 1
	maxBody  = 512 << 20

	minSegment, maxSegment = 4 << 20, 1 << 30
)

func defaultLimits() Limits {
	return Limits{Channels: 2047, Frame: 128 << 10, Heartbeat: 60, Message: 16 << 20}
}

func (l Limits) check(wrong *problems) {
	if l.Connections < 0 {
		wrong.add("connection-max", "%d is negative", l.Connections)
	}
	wrong.between("channel-max", l.Channels, 1, maxShort)
	wrong.between("frame-max", l.Frame, minFrame, maxFrame)
	wrong.between("heartbeat", l.Heartbeat, 0, maxShort)
	wrong.between("max-message-size", l.Message, 1, maxBody)
}
