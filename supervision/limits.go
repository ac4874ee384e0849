package supervision

import (
	"fmt"
	"sync/atomic"

	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
)

// Limits bounds the number of open objects of clients. The zero value means the defaults. Virtual hosts and users have
// their own limits (auth.Limits).
type Limits struct {
	Connections int    // open at a time; 0 for no limit
	Sockets     int    // accepted at a time, including connections without a login; 0 for as many as the file descriptors allow
	Channels    uint16 // of a connection; 2047
	Frame       uint32 // bytes, 4096 or more; 131072
	Heartbeat   uint16 // s; 60
	NoHeartbeat bool
	// NodeChannels are the channels and sessions of all connections, Consumers the consumers of a channel; 0 for no limit.
	NodeChannels, Consumers int
	Sessions                uint16 // of an AMQP 1.0 connection; 64
	Links                   uint32 // of a session; 256
	// VHosts, Queues and Exchanges limit such objects of the whole broker; 0 for no limit.
	VHosts, Queues, Exchanges int
	// Parameters are the maximum numbers of parameters by component, in all virtual hosts; "policy" and "operator_policy"
	// limit policies.
	Parameters map[string]int
}

// counted are the limits of the broker's definitions that can change while it runs; 0 for no limit.
type counted struct{ vhosts, queues, exchanges atomic.Int64 }

// SetLimits changes the limits of open connections and channels, of virtual hosts, queues and exchanges. Objects above
// them stay. Other limits are ignored.
func (n *Node) SetLimits(l Limits) {
	n.quota.SetNode(orAny(l.Connections), orAny(l.NodeChannels))
	n.counted.set(l)
}

func (c *counted) set(l Limits) {
	c.vhosts.Store(int64(l.VHosts))
	c.queues.Store(int64(l.Queues))
	c.exchanges.Store(int64(l.Exchanges))
}

// quota returns a quota with the limits of node, virtual hosts and users.
func (l Limits) quota(users *auth.Users) *auth.Quota {
	return auth.NewQuota(users, orAny(l.Connections), orAny(l.NodeChannels))
}

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

// allQueues returns the limit of the queues of all virtual hosts, and whether it is reached.
func (c *counted) allQueues(vhosts *topology.VHosts) (limit int64, reached bool) {
	return reaches(c.queues.Load(), vhosts, (*topology.Directory).QueueCount)
}

// allExchanges does the same as allQueues for exchanges, including predefined ones.
func (c *counted) allExchanges(vhosts *topology.VHosts) (limit int64, reached bool) {
	return reaches(c.exchanges.Load(), vhosts, (*topology.Directory).ExchangeCount)
}

func reaches(limit int64, vhosts *topology.VHosts, count func(*topology.Directory) int) (the int64, reached bool) {
	if limit == 0 {
		return 0, false
	}
	all := 0
	for _, v := range vhosts.List("") {
		all += count(v.Directory())
	}
	return limit, int64(all) >= limit
}

// checkVHost refuses a new virtual host beyond the limit, in RabbitMQ's words.
func (c *counted) checkVHost(users *auth.Users, name string) error {
	limit := c.vhosts.Load()
	if _, known := users.VHost(name); known || limit == 0 || int64(len(users.VHosts())) < limit {
		return nil
	}
	return auth.TooManyVHosts(fmt.Sprintf("cannot create vhost '%s': vhost limit of %d is reached", name, limit))
}
