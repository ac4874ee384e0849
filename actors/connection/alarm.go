package connection

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// alarm is the connection's view of a resource alarm. As in RabbitMQ it concerns connections that publish: at the
// first publish during an alarm the client is informed, and nothing is read until it is over. Readers learn of it
// from the valve, at once; the actor by mail.
type alarm struct {
	over chan struct{} // capacity 1: a token means "check again"

	// For the actor only:
	reason string // "" without an alarm
	held   bool   // the reader waits
	told   bool   // connection.blocked was sent
}

// heldUp is private mail: the reader has met a publish during an alarm and has stopped reading.
type heldUp struct{}

// block starts an alarm, or changes its reasons, which matters only to clients that were not informed yet.
func (c *connection) block(m *mail.Block) {
	c.alarm.reason = m.Reason
	c.sendBlocked()
}

// heldUp records that the reader waits. The mail with the reason may come later; if the alarm is over, the reader
// knows already.
func (c *connection) heldUp() {
	c.alarm.held = c.alarm.reason != "" || c.cfg.Valve.Shut()
	c.sendBlocked()
}

// sendBlocked sends connection.blocked if the client supports it and has not got it.
func (c *connection) sendBlocked() {
	a := &c.alarm
	if a.held && !a.told && a.reason != "" && c.state == running && c.session.capabilities.ConnectionBlocked {
		a.told = true
		c.send(&protocol.ConnectionBlocked{Reason: a.reason})
	}
}

// unblock ends the alarm.
func (c *connection) unblock() {
	a := &c.alarm
	select {
	case a.over <- struct{}{}:
	default:
	}
	if a.told && c.state == running {
		c.send(&protocol.ConnectionUnblocked{})
	}
	a.reason, a.held, a.told = "", false, false
}

// shown returns the state for administrators: during an alarm "blocked" for a connection that has published,
// "blocking" for others.
func (c *connection) shown() string {
	switch {
	case c.state != running || c.alarm.reason == "":
		return c.state.String()
	case c.alarm.held:
		return "blocked"
	}
	return "blocking"
}
