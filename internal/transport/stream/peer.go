package stream

import (
	"net"
	"syscall"
	"time"
)

// PeerLook is the time between checks whether the peer of a connection that is not read still exists. The operating
// system detects dead hosts.
const PeerLook = 5 * time.Second

// WatchPeer returns a stopped timer that checks a socket every PeerLook once it is started. lost is called once when
// the peer has gone. Nil for a socket that cannot report this.
func WatchPeer(conn net.Conn, lost func(error)) *time.Timer {
	for above, ok := conn.(interface{ NetConn() net.Conn }); ok; above, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = above.NetConn()
	}
	owner, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := owner.SyscallConn()
	if err != nil {
		return nil
	}
	var looking *time.Timer
	looking = time.AfterFunc(time.Hour, func() {
		if err := failure(raw); err != nil {
			lost(err)
			return
		}
		looking.Reset(PeerLook)
	})
	looking.Stop()
	return looking
}
