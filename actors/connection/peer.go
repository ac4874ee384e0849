package connection

import (
	"net"
	"syscall"
	"time"

	"candlemark/protocol"
)

// peerLook is how often a connection that is not read looks whether its peer is
// still there. That a host has died is found out by the system (Listen).
const peerLook = 5 * time.Second

// watchPeer prepares for that, if the socket can tell.
func (r *reader) watchPeer() {
	conn := r.c.cfg.Conn
	for above, ok := conn.(interface{ NetConn() net.Conn }); ok; above, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = above.NetConn()
	}
	owner, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := owner.SyscallConn()
	if err != nil {
		return
	}
	r.looking = time.AfterFunc(time.Hour, func() {
		if err := failure(raw); err != nil {
			r.c.post(&lost{err})
			return
		}
		r.looking.Reset(peerLook)
	})
	r.looking.Stop()
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
