package supervision

import (
	"candlemark/internal/auth"
)

// Limits bound what clients may have open. The zero value stands for the defaults. Virtual hosts and users have their
// own (auth.Limits).
type Limits struct {
	Connections int    // open at a time; 0 for any number
	Sockets     int    // accepted at a time, also such as have not logged in; 0 for what the file descriptors allow
	Channels    uint16 // of a connection; 2047
	Frame       uint32 // bytes, 4096 or more; 131072
	Heartbeat   uint16 // s; 60
	NoHeartbeat bool
}

// quota counts against the limits of node, virtual hosts and users.
func (l Limits) quota(users *auth.Users) *auth.Quota {
	return auth.NewQuota(users, orAny(l.Connections))
}

// SetConnectionMax changes Limits.Connections. Connections that are open stay.
func (n *Node) SetConnectionMax(limit int) { n.quota.SetConnections(orAny(limit)) }

// orAny returns a limit for a quota, where 0 stands for any number.
func orAny(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}

// maxQueues returns how many queues a virtual host may have.
func (n *Node) maxQueues(vhost string) (limit int64, limited bool) {
	v, _ := n.cfg.Users.VHost(vhost)
	return v.Limits.Of(auth.MaxQueues)
}
