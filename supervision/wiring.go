package supervision

import (
	"cmp"
	"context"

	"candlemark/actors/client/connection"
	"candlemark/actors/movers/move"
	"candlemark/actors/system/mail"
	"candlemark/internal/admin/backup"
	"candlemark/internal/admin/management"
	"candlemark/supervision/ask"
	"candlemark/supervision/localchannel"
	"candlemark/supervision/queries"
	"candlemark/supervision/resources"
	"candlemark/supervision/testclock"

	"github.com/asynkron/protoactor-go/actor"
)

// This file connects the packages below this one with the tree.

// wire creates their objects. The root does not exist yet.
func (n *Node) wire() {
	n.asker = &ask.Asker{System: n.system, Clock: n.clock}
	n.registry = n.system.NewLocalPID(rootName + "/" + string(KindRegistry))
	n.queries = queries.New(queries.Config{
		Asker: n.asker, VHosts: &n.vhosts, Registry: n.registry, Permissions: n.cfg.Permissions, Connections: n.connections, Events: n.parameters.events,
		SystemExchanges: systemExchanges,
		SpawnMove: func(ctx context.Context, cfg move.Config) (mail.Address, error) {
			cfg.Copies = n.monitor.Copies()
			return spawn(ctx, n, KindMove, func() actor.Actor { return move.New(cfg) })
		},
	})
	n.moves = movesOf(testclock.Config{
		Clock: n.clock, File: n.cfg.ClockFile, Quiet: n.dispatcher.Quiet, Outside: func() bool { return n.publishing != nil && n.publishing() },
		Busy: n.busy, Down: func() []string { return downQueues(&n.vhosts) }, Events: n.parameters.events, Log: n.cfg.Log,
	}, n.works, n.queries, n.schedules.Stats(), func(ctx context.Context) ([]management.Ahead, error) { return n.api.Ahead(ctx) })
	n.sockets = resources.NewSockets(n.cfg.Limits.Sockets, n.cfg.Log)
	n.monitor = resources.NewMonitor(n.cfg.Alarms, resources.Broker{
		Name: n.cfg.Name, MaxMessage: n.cfg.MaxMessage, Clock: n.clock, Log: n.cfg.Log, Events: n.parameters.events,
		Block: func(reason string) {
			if reason == "" {
				n.asker.Post(n.root, &mail.Unblock{})
				return
			}
			n.asker.Post(n.root, &mail.Block{Reason: reason})
		},
		Trim: func() { n.sendToQueues(&mail.Trim{}) },
		Queues: func() (count int) {
			for _, v := range n.vhosts.List("") {
				count += v.Directory().QueueCount()
			}
			return count
		},
	})
	commands := localchannel.New(localchannel.Config{
		Asker: n.asker, VHosts: &n.vhosts, Permissions: n.cfg.Permissions, Spawn: n.spawnLocalChannel,
	})
	n.api = &broker{
		asked: n.queries, Policies: n.queries.Policies, PolicyEffects: n.queries.Policies, Moves: n.queries.Moves, Commands: commands, TestClock: n.moves, Process: n.cfg.Process,
		Cluster:   cmp.Or[management.Cluster](n.cfg.Cluster, management.Alone{}),
		Backups:   cmp.Or[management.Backups](n.cfg.Backups, backup.NewKeeper(backup.Config{})),
		Schedules: n.schedules, parameterKeeper: &n.parameters, monitored: monitored{n.monitor}, Patience: n.patience, node: n,
	}
}

// sendToQueues sends mail to all queues, including the holders of delayed exchanges.
func (n *Node) sendToQueues(what any) {
	for _, v := range n.vhosts.List("") {
		for q := range v.Directory().Keepers() {
			n.asker.Post(q.PID, what)
		}
	}
}

// connections returns the addresses of the connections of a name, of all for "".
func (n *Node) connections(ctx context.Context, name string) ([]mail.Address, error) {
	return askRoot(ctx, n, func(reply chan<- []mail.Address) any { return listConnections{name, reply} })
}

// spawnLocalChannel makes the root spawn a channel without a connection.
func (n *Node) spawnLocalChannel(ctx context.Context, spec connection.ChannelSpec) (mail.Address, error) {
	pid, err := askRoot(ctx, n, func(reply chan<- mail.Address) any { return openLocalChannel{spec, reply} })
	if err == nil && pid == nil {
		err = errStopping
	}
	return pid, err
}

// askRoot sends the root a request and waits for the answer. The error is ctx's.
func askRoot[T any](ctx context.Context, n *Node, what func(reply chan<- T) any) (answer T, err error) {
	reply := make(chan T, 1)
	n.asker.Post(n.root, what(reply))
	select {
	case answer = <-reply:
		return answer, nil
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}
