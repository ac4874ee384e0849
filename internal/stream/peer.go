package stream

import (
	"net"
	"syscall"
	"time"
)

// PeerLook is how often a connection that is not read looks whether its peer is
// still there. That a host has died is found out by the system.
const PeerLook = 5 * time.Second

// WatchPeer makes a timer, stopped, that has a socket looked at after PeerLook and from then on until it is stopped.
// lost is called once when the peer has gone. Nil for a socket that cannot report this.
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
