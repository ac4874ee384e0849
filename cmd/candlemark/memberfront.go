package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"candlemark/cmd/candlemark/replace"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/httpapi/exposition"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/transport/forward"
	"candlemark/supervision/resources"
)

// listen opens the listeners for clients, which accept whoever leads (CLU-20).
func (m *member) listen() error {
	kept := replace.Listeners(m.log)
	defer kept.Close()
	m.front = forward.New(forward.Config{Listen: kept.Listen, Dial: m.dial, SendTimeout: m.cfg.SendTimeout, Most: resources.ForwardedSockets(), Log: m.log})
	opened := 0
	open := func(kind, address string) error {
		if address == "" {
			return nil
		}
		if err := m.front.Open(kind, address); err != nil {
			return fmt.Errorf("%s: %w", kind, remedied(err, settingOf(kind), address))
		}
		at := m.front.Addresses(kind)
		m.log.Info().Stringer("address", at[len(at)-1]).Str("listener", kind).Msg(startedAt[kind])
		opened++
		return nil
	}
	for _, address := range m.cfg.AMQP {
		if err := open(forward.AMQP, address); err != nil && !optional(address, opened) {
			return err
		}
	}
	if err := open(forward.Metrics, m.cfg.Metrics); err != nil {
		return err
	}
	for _, address := range m.cfg.AMQPS {
		if err := open(forward.AMQPS, address); err != nil {
			return err
		}
	}
	return errors.Join(
		open(forward.HTTP, m.cfg.HTTP), open(forward.HTTPS, m.cfg.HTTPS),
		open(forward.ServiceBus, m.cfg.ServiceBusHTTP), open(forward.ServiceBusTLS, m.cfg.ServiceBusHTTPS),
	)
}

// addresses returns where this node serves clients, each kind=host:port: it is known to all nodes. A listener on all addresses of the machine is
// found at the host that the other nodes know.
func (m *member) addresses() (list []string) {
	host, _, _ := net.SplitHostPort(m.cfg.Cluster.Addresses()[m.cfg.Cluster.Node]) // "" if the node has to find out
	for _, kind := range []string{forward.AMQP, forward.AMQPS, forward.HTTP, forward.HTTPS, forward.Metrics, forward.ServiceBus, forward.ServiceBusTLS} {
		for _, at := range m.front.Addresses(kind) {
			tcp, is := at.(*net.TCPAddr)
			if !is {
				continue
			}
			address := tcp.String()
			if tcp.IP.IsUnspecified() {
				address = net.JoinHostPort(host, strconv.Itoa(tcp.Port))
			}
			list = append(list, kind+"="+address)
		}
	}
	return list
}

// dial connects with the leader for a client.
func (m *member) dial(l forward.Leader, c forward.Client) (net.Conn, error) {
	return m.node.DialLeader(cluster.Leader(l), wire.Client{Listener: c.Kind, Remote: c.Remote.String(), Local: c.Local.String()})
}

// onLeader tells the front where clients belong.
func (m *member) onLeader(l cluster.Leader) {
	switch l.Name() {
	case "":
		m.log.Warn().Msg("no node leads the cluster")
	case m.cfg.Cluster.Node:
		l = cluster.Leader{}
	default:
		m.log.Info().Str("leader", l.Name()).Uint64("term", l.Term).Msg("another node leads the cluster")
	}
	m.front.Follow(forward.Leader(l))
}

// Admits implements cluster.Clients.
func (m *member) Admits(c wire.Client) error {
	if !m.front.Serves(c.Listener) {
		return fmt.Errorf("%s does not serve clients of %s", m.cfg.Cluster.Node, c.Listener)
	}
	_, err := clientOf(c)
	return err
}

// Take implements cluster.Clients.
func (m *member) Take(conn net.Conn, c wire.Client) {
	client, err := clientOf(c)
	if err != nil {
		_ = conn.Close()
		return
	}
	m.front.Take(conn, client)
}

// clientOf returns a client of another node.
func clientOf(c wire.Client) (forward.Client, error) {
	remote, err := netip.ParseAddrPort(c.Remote)
	local, failed := netip.ParseAddrPort(c.Local)
	return forward.Client{Kind: c.Listener, Remote: net.TCPAddrFromAddrPort(remote), Local: net.TCPAddrFromAddrPort(local)}, errors.Join(err, failed)
}

// follow answers HTTP requests while no broker runs: most of them are passed on to the leader (CLU-21).
func (m *member) follow() error {
	resources.Bound(alarmsFor(m.cfg, nil))
	own := httpapi.Checks(m.node.Leader)
	own["/metrics"] = exposition.Nodes(m.ClusterState)
	api := httpapi.NewFollowerServer(httpapi.Follower{
		Dial: func(ctx context.Context, remote, local net.Addr) (net.Conn, error) {
			return m.front.Dial(ctx, forward.Client{Kind: forward.HTTP, Remote: remote, Local: local})
		},
		Pass:   func(conn net.Conn, read []byte) { m.front.Pass(forward.HTTP, conn, read) },
		Leader: m.node.Leader, Own: own,
	}, resources.HTTPSockets())
	err := m.answer(forward.HTTP, m.cfg.HTTP, api)
	if err == nil {
		err = m.answer(forward.Metrics, m.cfg.Metrics, httpapi.NewFollowerMetricsServer(sitesOf(m.cfg, m), metricsSockets, m.ClusterState))
	}
	return err
}

// answer serves the connections of a listener while no broker does.
func (m *member) answer(kind, address string, server *http.Server) error {
	if address == "" {
		return nil
	}
	l, err := m.front.Local(kind, address)
	if err != nil {
		return err
	}
	m.idle = append(m.idle, server)
	go func() { _ = server.Serve(l) }()
	return nil
}

// unfollow ends what follow has begun.
func (m *member) unfollow() {
	for _, s := range m.idle {
		_ = s.Close()
	}
	m.idle = nil
}
