package config

import (
	"fmt"
	"strconv"
	"strings"
)

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
	// Consumers is the maximum number of consumers of a channel, NodeChannels of channels and sessions of all connections,
	// VHosts, Queues and Exchanges of such objects in the broker; 0 for no limit.
	Consumers, NodeChannels, VHosts, Queues, Exchanges int
	// Sessions is the maximum number of AMQP 1.0 sessions of a connection, Links of links of a session.
	Sessions, Links uint
	// Parameters are texts such as shovel=10: the maximum number of parameters of a component. See ParameterLimits.
	Parameters []string
}

// Ranges of limits. The largest body is RabbitMQ's.
const (
	minFrame = 4096     // [AMQP 4.2.3]
	maxFrame = 16 << 20 // a reader must hold a whole frame
	maxShort = 1<<16 - 1
	maxBody  = 512 << 20
	maxLinks = 1<<32 - 1 // [AMQP 1.0 transport 2.7.2]

	minSegment, maxSegment = 4 << 20, 1 << 30
)

func defaultLimits() Limits {
	return Limits{Channels: 2047, Frame: 128 << 10, Heartbeat: 60, Message: 16 << 20, Sessions: 64, Links: 256}
}

func (l Limits) check(wrong *problems) {
	for _, one := range []struct {
		setting string
		value   int
	}{
		{"connection-max", l.Connections},
		{"consumer-max-per-channel", l.Consumers},
		{"channel-max-per-node", l.NodeChannels},
		{"vhost-max", l.VHosts},
		{"cluster-queue-limit", l.Queues},
		{"cluster-exchange-limit", l.Exchanges},
	} {
		if one.value < 0 {
			wrong.add(one.setting, "%d is negative", one.value)
		}
	}
	wrong.between("session-max-per-connection", l.Sessions, 1, maxShort)
	wrong.between("link-max-per-session", l.Links, 1, maxLinks)
	if _, err := l.ParameterLimits(); err != nil {
		wrong.add("parameter-limits", "%v", err)
	}
	wrong.between("channel-max", l.Channels, 1, maxShort)
	wrong.between("frame-max", l.Frame, minFrame, maxFrame)
	wrong.between("heartbeat", l.Heartbeat, 0, maxShort)
	wrong.between("max-message-size", l.Message, 1, maxBody)
}

// ParameterLimits reads the limits of parameters, by component; "policy" and "operator_policy" limit policies.
func (l Limits) ParameterLimits() (map[string]int, error) {
	all := map[string]int{}
	for _, text := range l.Parameters {
		component, number, _ := strings.Cut(text, "=")
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil || component == "" {
			return nil, fmt.Errorf("%q is not of the form COMPONENT=NUMBER", text)
		}
		all[component] = int(n)
	}
	return all, nil
}

// ofComponent reads the limit of the component that is the last segment of the key.
func ofComponent(value, last, _ string) (string, error) {
	if _, err := strconv.ParseUint(value, 10, 31); err != nil {
		return "", fmt.Errorf("%q is not a number of parameters", value)
	}
	return last + "=" + value, nil
}
