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
	"candlemark/internal/measure/metrics"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/transport/stream"
	"candlemark/supervision/queries"
)

// broker answers the API. The parts of the broker answer most questions themselves; its methods are for the rest.
type broker struct {
	asked
	management.Policies
	management.PolicyEffects
	management.Moves
	management.Commands
	management.TestClock
	management.Process
	management.Backups
	management.Cluster
	management.Schedules
	*parameterKeeper
	monitored
	stream.Patience

	node *Node
}

// asked are the questions that queries.Queries answers.
type asked interface {
	management.Queues
	management.Topology
	management.Clients
	management.Messages
}

// Overview implements management.Broker.
func (b *broker) Overview(ctx context.Context) (management.Overview, error) {
	n := b.node
	o, err := n.queries.Overview(ctx)
	b.name(&o)
	if j, ok := n.cfg.Journal.(interface{ Stats() segment.Stats }); ok {
		s := j.Stats()
		o.DiskReads, o.DiskWrites = s.Reads, s.Records
	}
	return o, err
}

// Ahead implements management.Monitoring: the deadlines of queues, and the next run of each schedule.
func (b *broker) Ahead(ctx context.Context) ([]management.Ahead, error) {
	list, err := b.node.queries.Ahead(ctx)
	if err == nil {
		list, err = b.node.schedules.AddAhead(ctx, list)
	}
	return list, err
}

// name adds the names and the listeners of the node.
func (b *broker) name(o *management.Overview) {
	n := b.node
	o.Node, o.ClusterName, o.ProductVersion, o.Listeners = n.cfg.Name, n.parameters.clusterName(), n.cfg.ProductVersion, n.listening()
}

// Metrics implements management.Monitoring.
func (b *broker) Metrics(ctx context.Context) (management.Metrics, error) {
	n := b.node
	m, err := n.queries.Metrics(ctx)
	if err == nil {
		m.Machine, err = b.Machine(ctx)
	}
	b.name(&m.Overview)
	if err == nil {
		m.Schedules, err = n.schedules.States(ctx)
		m.ScheduleRuns, m.ScheduleLate = n.schedules.ScheduleRuns(), n.schedules.Stats().Late.Buckets()
	}
	m.Panics = n.Failures.Counts()
	load := n.dispatcher.Load()
	m.Actors = management.Actors{Busy: load.Actors, Mails: load.Mails, Longest: load.Longest}
	m.Logins = n.cfg.Users.Logins()
	_ = json.Unmarshal(n.parameters.globals.All()[clusterID], &m.ClusterID) // written by the broker itself
	if j, ok := n.cfg.Journal.(interface{ Stats() segment.Stats }); ok {
		s := j.Stats()
		m.Journal = &management.Journal{Commits: s.Commits, Records: s.Records, Written: s.Written, Bytes: s.Bytes, Live: s.Live}
	}
	return m, err
}

// Service implements management.Host.
func (b *broker) Service() management.Service {
	n := b.node
	s := management.Service{Connections: socketsUsed(&n.queries.Churn), Limit: n.sockets.Limit()}
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
func (b *broker) NodeName() string { return b.node.cfg.Name }

// Clock implements management.Host.
func (b *broker) Clock() *clock.Clock { return b.node.clock }

// OldestReadyAge implements management.Monitoring.
func (b *broker) OldestReadyAge() int64 {
	return queries.OldestReadyAge(&b.node.vhosts, b.node.clock.Now().Floor())
}

// WithTimeout implements management.Broker.
func (b *broker) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return b.node.clock.WithTimeout(parent, d)
}

// Machine implements management.Host.
func (b *broker) Machine(context.Context) (management.Machine, error) {
	n := b.node
	m := n.monitor.Machine()
	m.Uptime = (int64(n.clock.Real().Now()) - int64(n.started)) / 1e6
	m.SocketsUsed, m.SocketsMax = socketsUsed(&n.queries.Churn), n.sockets.Limit()
	m.Mechanisms, m.DataDirectory = n.cfg.Authenticator.Mechanisms(auth.Peer{}), n.cfg.DataDirectory
	return m, nil
}

// Connect implements management.Sockets.
func (b *broker) Connect(conn net.Conn) { b.node.Connect(conn) }

// VHosts implements management.Broker.
func (b *broker) VHosts(ctx context.Context) ([]string, error) { return b.node.queries.VHosts(ctx) }

// DeadLetters implements management.Host.
func (b *broker) DeadLetters() management.DeadLetters { return b.node.queries.DeadLetters() }

// Due implements management.Monitoring.
func (b *broker) Due(ctx context.Context) (*management.ExpiryCounts, error) {
	return b.node.queries.Due(ctx)
}

// Lateness implements management.Monitoring.
func (b *broker) Lateness() (expired, released metrics.Buckets) { return b.node.queries.Lateness() }

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
