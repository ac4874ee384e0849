package connection10

import (
	"candlemark/internal/stream"
	"candlemark/protocol"
)

// calm waits, if what was read last had transfers in it, until the broker has
// room for more; false says that the connection is closing. As in 0-9-1 it concerns connections that publish. Who is in
// the middle of something may end it before.
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
			case <-r.c.alarmOver:
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

// shown is the state as an administrator sees it: a connection that has not
// published during an alarm is "blocking", one that has is "blocked".
func (c *connection) shown() string {
	switch {
	case c.state != running || c.reason == "":
		return c.state.String()
	case c.held:
		return "blocked"
	}
	return "blocking"
}

// begun is a connection as the broker's intake sees it.
type begun struct{ c *connection }

// Excused implements budget.Peer: waiting for the broker's queues or for others is no
// fault of the client, unless it waits because it does not read.
func (b begun) Excused() bool {
	return b.c.reader.crowded.Load() && b.c.outbox.HasRoom()
}

// Evict implements budget.Peer.
func (b begun) Evict() {
	b.c.post(&failed{err: protocol.ConnectionErrorf(protocol.ResourceError,
		"what was begun has not been ended in time while memory is short")})
}
