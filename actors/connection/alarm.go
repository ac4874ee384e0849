package connection

import (
	"candlemark/actors/mail"
	"candlemark/internal/stream"
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

// calm waits, if what was read last had contents in it, until the broker has
// room for more; false says that the connection is closing. Who is in the middle of
// something may end it before.
func (r *reader) calm() bool {
	if r.isCalm() {
		return true
	}
	valve := r.c.cfg.Valve
	return r.pause(func() bool {
		if !valve.Wait(r.c.stopping) {
			return false
		}
		for valve.Shut() {
			r.c.post(&heldUp{})
			if r.mayEnd() {
				return true
			}
			select {
			case <-r.c.alarm.over:
			case <-r.c.arrivals.Changed():
			case <-r.c.stopping:
				return false
			}
		}
		return true
	})
}

// isCalm tells whether calm has nothing to wait for.
func (r *reader) isCalm() bool {
	valve := r.c.cfg.Valve
	if !valve.Shut() {
		r.until = 0
	}
	return !r.published || !valve.Full() && !valve.Shut()
}

// mayEnd reports whether the connection is read during an alarm because it holds
// memory with what it has begun: no further than it takes to end that. What it
// begins meanwhile takes of that, so that nobody gets round the alarm.
func (r *reader) mayEnd() bool {
	held := r.c.arrivals.Held()
	if held == 0 {
		return false
	}
	octets := r.in.Octets.Load()
	if r.until == 0 {
		r.until = octets + uint64(held+held/8) + stream.LargestRead
	}
	return octets < r.until
}

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
