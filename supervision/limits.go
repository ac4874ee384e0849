package supervision

import (
	"candlemark/internal/auth"
)

// Limits bounds the number of open objects of clients. The zero value means the defaults. Virtual hosts and users have
// their own limits (auth.Limits).
type Limits struct {
	Connections int    // open at a time; 0 for no limit
	Sockets     int    // accepted at a time, including those not logged in; 0 for as many as the file descriptors allow
	Channels    uint16 // of a connection; 2047
	Frame       uint32 // bytes, 4096 or more; 131072
	Heartbeat   uint16 // s; 60
	NoHeartbeat bool
}

// quota returns a quota with the limits of node, virtual hosts and users.
func (l Limits) quota(users *auth.Users) *auth.Quota {
	return auth.NewQuota(users, orAny(l.Connections))
}

// SetConnectionMax changes Limits.Connections. Open connections stay.
func (n *Node) SetConnectionMax(limit int) { n.quota.SetConnections(orAny(limit)) }

// orAny converts a limit, of which 0 means none, to a limit for a quota.
func orAny(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}

// maxQueues returns the maximum number of queues of a virtual host.
func (n *Node) maxQueues(vhost string) (limit int64, limited bool) {
	v, _ := n.cfg.Users.VHost(vhost)
	return v.Limits.Of(auth.MaxQueues)
}
