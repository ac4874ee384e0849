package supervision

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store/segment"
	"candlemark/supervision/queries"
)

var _ management.Broker = (*Node)(nil)

// Overview implements management.Broker.
func (n *Node) Overview(ctx context.Context) (management.Overview, error) {
	o, err := n.Queries.Overview(ctx)
	nameOverview(n, &o)
	if j, ok := n.cfg.Journal.(interface{ Stats() segment.Stats }); ok {
		s := j.Stats()
		o.DiskReads, o.DiskWrites = s.Reads, s.Records
	}
	return o, err
}

func nameOverview(n *Node, o *management.Overview) {
	o.Node, o.ClusterName, o.ProductVersion, o.Listeners = n.cfg.Name, n.clusterName(), n.cfg.ProductVersion, n.listening()
}

// Metrics implements management.Monitoring.
func (n *Node) Metrics(ctx context.Context) (management.Metrics, error) {
	m, err := n.Queries.Metrics(ctx)
	if err == nil {
		m.Machine, err = n.Machine(ctx)
	}
	nameOverview(n, &m.Overview)
	m.Panics = n.Failures.Counts()
	load := n.dispatcher.Load()
	m.Actors = management.Actors{Busy: load.Actors, Mails: load.Mails, Longest: load.Longest}
	m.Logins = n.cfg.Users.Logins()
	_ = json.Unmarshal(n.globals.All()[clusterID], &m.ClusterID) // written by the broker itself
	if j, ok := n.cfg.Journal.(interface{ Stats() segment.Stats }); ok {
		s := j.Stats()
		m.Journal = &management.Journal{Commits: s.Commits, Records: s.Records, Written: s.Written, Bytes: s.Bytes, Live: s.Live}
	}
	return m, err
}

// Service implements management.Host.
func (n *Node) Service() management.Service {
	s := management.Service{Connections: socketsUsed(&n.Churn), Limit: n.sockets.Limit()}
	if limit := n.cfg.Limits.Connections; limit > 0 {
		s.Limit = min(s.Limit, limit)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Open = !n.stopping && len(n.listeners) > 0
	return s
}

func socketsUsed(c *queries.Churn) int {
	return int(c.ConnectionsOpened.Load() - c.ConnectionsClosed.Load())
}

// NodeName implements management.Host.
func (n *Node) NodeName() string { return n.cfg.Name }

// Clock implements management.Host.
func (n *Node) Clock() *clock.Clock { return n.clock }

// OldestReadyAge implements management.Monitoring.
func (n *Node) OldestReadyAge() int64 {
	return queries.OldestReadyAge(&n.vhosts, n.clock.Now().Floor())
}

// WithTimeout implements management.Broker.
func (n *Node) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return n.clock.WithTimeout(parent, d)
}

// Machine implements management.Host.
func (n *Node) Machine(context.Context) (management.Machine, error) {
	m := n.monitor.Machine()
	m.Uptime = (int64(n.clock.Real().Now()) - int64(n.started)) / 1e6
	m.SocketsUsed, m.SocketsMax = socketsUsed(&n.Churn), n.sockets.Limit()
	m.Mechanisms, m.DataDirectory = n.cfg.Authenticator.Mechanisms(auth.Peer{}), n.cfg.DataDirectory
	return m, nil
}

// announced is a listener of another part of the program.
type announced struct {
	management.Listener
	config *tls.Config
}

// Announce adds a listener of another part of the program to the listeners that the node shows; config is nil without
// TLS.
func (n *Node) Announce(name string, at net.Addr, config *tls.Config) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announced = append(n.announced, announced{listenerAt(name, at), config})
}

func (n *Node) listening() []management.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []management.Listener
	for _, l := range n.announced {
		l.Expires = expires(l.config)
		list = append(list, l.Listener)
	}
	for _, l := range n.listeners {
		secure, ok := l.(*secureListener)
		if !ok {
			list = append(list, listenerAt("amqp", l.Addr()))
			continue
		}
		at := listenerAt("amqp/ssl", l.Addr())
		at.Expires = expires(secure.config)
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b management.Listener) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Address, b.Address))
	})
	return list
}

func listenerAt(name string, at net.Addr) management.Listener {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return management.Listener{Protocol: name, Address: at.String()}
	}
	number, _ := strconv.Atoi(port)
	return management.Listener{Protocol: name, Address: host, Port: number}
}
