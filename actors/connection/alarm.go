package connection

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// alarm holds what a connection knows of a resource alarm. As in RabbitMQ
// it concerns connections that publish: at the first publish during an alarm the
// client is told, and nothing is read until it is over. Readers learn of it from
// the valve, at once; the actor by mail.
type alarm struct {
	over chan struct{} // capacity 1: a token means "look again"

	// The actor's own:
	reason string // "" without an alarm
	held   bool   // the reader waits
	told   bool   // the client was
}

// heldUp is private mail: the reader has met a publish during an alarm and reads
// no more.
type heldUp struct{}

// block begins an alarm, or says that it has other reasons now: that concerns
// those who do not know of it yet.
func (c *connection) block(m *mail.Block) {
	c.alarm.reason = m.Reason
	c.tellHeld()
}

// heldUp notes that the reader waits. The mail that tells why may still come; if
// there is no alarm any more, the reader knows already.
func (c *connection) heldUp() {
	c.alarm.held = c.alarm.reason != "" || c.cfg.Valve.Shut()
	c.tellHeld()
}

// tellHeld tells the client, if it wants to know, why it is no longer heard.
func (c *connection) tellHeld() {
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

// shown is the state as an administrator sees it: a connection that has not
// published during an alarm is "blocking", one that has is "blocked".
func (c *connection) shown() string {
	switch {
	case c.state != running || c.alarm.reason == "":
		return c.state.String()
	case c.alarm.held:
		return "blocked"
	}
	return "blocking"
}
