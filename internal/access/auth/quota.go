package auth

import (
	"sync"

	"candlemark/protocol"
)

// Quota counts connections, channels and queues against the limits of the node, of virtual hosts and of users, and
// refuses more, in RabbitMQ's words. Its methods may be called from any goroutine.
type Quota struct {
	users *Users

	mu          sync.Mutex
	connections int            // of the node, negative for no limit
	nodeMax     int            // channels of the node, negative for no limit
	open        int            // connections
	opened      int            // channels
	byVHost     map[string]int // connections
	byUser      map[string]int // connections
	channels    map[string]int // by user
}

// NewQuota returns a Quota for the current limits in users. connections and channels are the node's own limits,
// negative for none.
func NewQuota(users *Users, connections, channels int) *Quota {
	return &Quota{users: users, connections: connections, nodeMax: channels, byVHost: map[string]int{}, byUser: map[string]int{}, channels: map[string]int{}}
}

// SetNode changes the node's own limits, negative for none. Open connections and channels stay, even above them.
func (q *Quota) SetNode(connections, channels int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.connections, q.nodeMax = connections, channels
}

// Connect counts a new connection. Error: a *protocol.ConnectionError 530; then it is not counted. Otherwise call
// Disconnect once.
func (q *Quota) Connect(user, vhost string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.connections >= 0 && q.open >= q.connections {
		return protocol.ConnectionErrorf(protocol.NotAllowed,
			"connection refused: node connection limit (%d) is reached", q.connections)
	}
	if v, ok := q.users.VHost(vhost); ok {
		if limit, reached := v.Limits.Reached(MaxConnections, q.byVHost[vhost]); reached {
			return protocol.ConnectionErrorf(protocol.NotAllowed,
				"access to vhost '%s' refused for user '%s': connection limit (%d) is reached", vhost, user, limit)
		}
	}
	if limit, reached := q.of(user).Reached(MaxConnections, q.byUser[user]); reached {
		return protocol.ConnectionErrorf(protocol.NotAllowed,
			"connection refused for user '%s': user connection limit (%d) is reached", user, limit)
	}
	q.open++
	q.byVHost[vhost]++
	q.byUser[user]++
	return nil
}

// Disconnect undoes Connect.
func (q *Quota) Disconnect(user, vhost string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	less(q.byVHost, vhost)
	less(q.byUser, user)
}

// OpenChannel counts a new channel, or AMQP 1.0 session, of the node of that name. Error: a *protocol.ConnectionError
// 530; then it is not counted. Otherwise call CloseChannel once.
func (q *Quota) OpenChannel(user, node string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if limit, reached := q.of(user).Reached(MaxChannels, q.channels[user]); reached {
		return protocol.ConnectionErrorf(protocol.NotAllowed,
			"number of channels opened for user '%s' has reached the maximum allowed user limit of (%d)", user, limit)
	}
	if q.nodeMax >= 0 && q.opened >= q.nodeMax {
		return protocol.ConnectionErrorf(protocol.NotAllowed,
			"number of channels opened on node '%s' has reached the maximum allowed limit of (%d)", node, q.nodeMax)
	}
	q.channels[user]++
	q.opened++
	return nil
}

// CloseChannel undoes OpenChannel.
func (q *Quota) CloseChannel(user string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	less(q.channels, user)
	q.opened--
}

// of returns the limits of a user.
func (q *Quota) of(user string) Limits {
	a, _ := q.users.Account(user)
	return a.Limits
}

// less decrements a count, and removes it at zero.
func less(counts map[string]int, name string) {
	if counts[name]--; counts[name] == 0 {
		delete(counts, name)
	}
}
