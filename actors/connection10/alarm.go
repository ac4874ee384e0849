package connection10

import (
	"candlemark/protocol"
)

// shown returns the state for administrators: during an alarm "blocked" for a connection that has published,
// "blocking" for others.
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

// Excused implements budget.Peer: a client is not to blame for waiting for the broker's queues or for others, unless
// it does not read.
func (b begun) Excused() bool {
	return b.c.reader.Crowded.Load() && b.c.outbox.HasRoom()
}

// Evict implements budget.Peer.
func (b begun) Evict() {
	b.c.post(&failed{err: protocol.ConnectionErrorf(protocol.ResourceError,
		"what was begun has not been ended in time while memory is short")})
}
