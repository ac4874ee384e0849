package connection

import (
	"candlemark/actors/client/lifecycle"
	"candlemark/protocol"
)

// Alarmed implements lifecycle.Protocol: it sends connection.blocked at the first publish during an alarm, if the
// client supports it, and connection.unblocked after the alarm to a client that has received it. A change of the
// reasons matters only to clients not yet informed.
func (c *connection) Alarmed() {
	switch a := c.Alarm; {
	case a == lifecycle.Alarm{}:
		if c.informed && c.State == lifecycle.Running {
			c.send(&protocol.ConnectionUnblocked{})
		}
		c.informed = false
	case a.Held && !c.informed && a.Reason != "" && c.State == lifecycle.Running && c.session.capabilities.ConnectionBlocked:
		c.informed = true
		c.send(&protocol.ConnectionBlocked{Reason: a.Reason})
	}
}
