package connection

import (
	"sync/atomic"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// alarm is what the actor and the reader share of a shortage of the broker.
// As in RabbitMQ it concerns connections that publish: at the first publish
// during an alarm the client is told, and nothing is read until it is over.
type alarm struct {
	on   atomic.Bool
	over chan struct{} // capacity 1: a token means "look again"

	// The actor's own:
	reason string // "" without an alarm
	held   bool   // the reader waits
	told   bool   // the client was
}

// heldUp is private mail: the reader has met a publish during an alarm and reads
// no more.
type heldUp struct{}

// calm waits, if this connection has published during an alarm, until that is
// over; false says that the connection is closing.
func (r *reader) calm() bool {
	if !r.published {
		return true
	}
	r.published = false
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	for r.c.alarm.on.Load() {
		r.c.post(&heldUp{})
		select {
		case <-r.c.alarm.over:
		case <-r.c.stopping:
			return false
		}
	}
	return true
}

// block begins an alarm. Another one during it changes nothing.
func (c *connection) block(m *mail.Block) {
	if c.alarm.reason == "" {
		c.alarm.reason = m.Reason
		c.alarm.on.Store(true)
	}
}

// heldUp tells the client, if it wants to know, why it is no longer heard.
func (c *connection) heldUp() {
	a := &c.alarm
	if a.reason == "" || c.state != running {
		return
	}
	a.held = true
	if !a.told && c.session.capabilities.ConnectionBlocked {
		a.told = true
		c.send(&protocol.ConnectionBlocked{Reason: a.reason})
	}
}

// unblock ends the alarm.
func (c *connection) unblock() {
	a := &c.alarm
	a.on.Store(false)
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
