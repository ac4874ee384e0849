package config

import (
	"errors"
	"flag"
	"fmt"
)

// Limits bound what clients may open and send.
type Limits struct {
	// Connections is how many may be open; 0 for any number.
	Connections int
	// Channels is how many one connection may have open.
	Channels uint
	// Frame is the largest frame in bytes.
	Frame uint
	// Heartbeat is the interval proposed to clients, in s; 0 for none.
	Heartbeat uint
	// Message is the largest body in bytes.
	Message uint
}

// Ranges of limits. The largest body is RabbitMQ's.
const (
	leastFrame   = 4096     // [AMQP 4.2.3]
	largestFrame = 16 << 20 // a reader has room for a whole one
	largestShort = 1<<16 - 1
	largestBody  = 512 << 20
)

func defaultLimits() Limits {
	return Limits{Channels: 2047, Frame: 128 << 10, Heartbeat: 60, Message: 16 << 20}
}

func (l *Limits) define(flags *flag.FlagSet) {
	flags.IntVar(&l.Connections, "connection-max", l.Connections, "how many connections may be open; 0 for any number")
	flags.UintVar(&l.Channels, "channel-max", l.Channels, "how many channels a connection may have open, 1 to 65535")
	flags.UintVar(&l.Frame, "frame-max", l.Frame, "largest frame in bytes, 4096 to 16777216")
	flags.UintVar(&l.Heartbeat, "heartbeat", l.Heartbeat, "proposed to clients, in `seconds`; 0 for none")
	flags.UintVar(&l.Message, "max-message-size", l.Message, "largest body in bytes, 1 to 536870912")
}

func (l Limits) validate() error {
	var failed error
	check := func(name string, value, least, most uint) {
		if value < least || value > most {
			failed = errors.Join(failed, fmt.Errorf("%s: %d is not between %d and %d", name, value, least, most))
		}
	}
	if l.Connections < 0 {
		failed = fmt.Errorf("connection-max: %d is negative", l.Connections)
	}
	check("channel-max", l.Channels, 1, largestShort)
	check("frame-max", l.Frame, leastFrame, largestFrame)
	check("heartbeat", l.Heartbeat, 0, largestShort)
	check("max-message-size", l.Message, 1, largestBody)
	return failed
}
