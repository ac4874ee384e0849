package supervision

import (
	"context"
	"net"
	"strings"
	"time"

	"candlemark/actors/client/channel"
	"candlemark/actors/client/command"
	"candlemark/actors/client/connection"
	"candlemark/actors/client/connection10"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/client/session10"
	"candlemark/actors/movers/republish"
	"candlemark/actors/names/exchange"
	"candlemark/actors/names/policy"
	"candlemark/actors/names/vhost"
	"candlemark/actors/queue"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/admin/httpapi/effects"
	"candlemark/internal/admin/httpapi/messages"
	"candlemark/internal/admin/httpapi/node"
	"candlemark/internal/admin/httpapi/schedules"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/numbers"
	"candlemark/internal/storage/store"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// This file makes the actors of each kind and passes them the addresses of others.

func (n *Node) registryProps() *actor.Props {
	return n.props(func(func() []any) actor.Actor {
		return policy.New(policy.Config{
			Limits: n.cfg.Limits.Parameters, Objects: n.monitor.Objects(), Meta: n.meta, Stored: n.recovery.policies, History: n.recovery.history, Now: n.clock.Wall, Log: n.cfg.Log, Events: n.parameters.events,
		})
	})
}

func (n *Node) deadLetterProps(v *topology.VHost) *actor.Props {
	return n.props(func(func() []any) actor.Actor {
		return republish.New(republish.Config{
			VHost: v, Stats: &n.queries.Deaths, Events: n.parameters.events, Log: n.cfg.Log.With().Str("vhost", v.Name).Logger(), Copies: n.monitor.Copies(), Clock: n.clock, Works: n.works,
		})
	})
}

func (n *Node) adminProps(v *topology.VHost) *actor.Props {
	return n.props(func(func() []any) actor.Actor {
		return command.New(command.Config{VHost: v, Registry: n.registry, Clock: n.clock, Log: n.cfg.Log, Carry: n.carry(v.Name)})
	})
}

// carry carries out jobs that came over AMQP. Answers are written one at a time, so that large ones take only one
// processor, and memory for one.
func (n *Node) carry(vhost string) func(context.Context, command.Command) []byte {
	return func(ctx context.Context, c command.Command) []byte {
		ctx = events.WithOrigin(ctx, c.Origin)
		by := management.Asker{User: c.User, Connection: c.Connection, Channel: c.Channel}
		var write func() []byte
		if strings.HasPrefix(c.Key, "clock.") {
			write = node.ClockCommand(ctx, n.api, c.User, vhost, c.Key, c.Body)
		} else if strings.HasPrefix(c.Key, "schedule.") {
			write = schedules.Command(ctx, n.api, c.User, vhost, c.Key, c.Body)
		} else if topology.IsOpenCommand([]byte(c.Key)) {
			write = messages.Command(ctx, n.api, by, vhost, c.Key, c.Body)
		} else {
			write = effects.Command(ctx, n.api, c.User, vhost, c.Key, c.Body)
		}
		n.answering <- struct{}{}
		defer func() { <-n.answering }()
		return write()
	}
}

// systemExchanges are the broker's own exchanges in each virtual host.
var systemExchanges = []mail.DeclareExchange{{Name: topology.AdminExchange, Type: "fanout", Durable: true}}

func (n *Node) vhostProps(v *topology.VHost) *actor.Props {
	log := n.cfg.Log.With().Str("vhost", v.Name).Logger()
	newQueue := queueProps(n, v, &log)
	return n.props(func(close func() []any) actor.Actor {
		return vhost.New(vhost.Config{
			VHost: v, Registry: n.registry, Close: close, Log: log, Events: n.parameters.events, Further: eventExchanges(n.cfg.EventsIn, v.Name),
			SystemExchanges: systemExchanges,
			MaxQueues:       func() (int64, bool) { return n.maxQueues(v.Name) },
			AllQueues:       func() (int64, bool) { return n.counted.allQueues(&n.vhosts) },
			AllExchanges:    func() (int64, bool) { return n.counted.allExchanges(&n.vhosts) },
			Objects:         n.monitor.Objects(),
			Incarnation:     func() uint64 { return n.incarnations.Add(1) },
			Meta:            n.meta, Stored: n.takeStored(v.Name), Messages: n.messages, Empty: n.recovery.empty(), Retire: n.retire,
			NewDown: func() *actor.Props {
				return n.props(func(func() []any) actor.Actor { return actorlib.Down{} })
			},
			NewQueue: newQueue,
			NewExchange: func(s vhost.ExchangeSpec) *actor.Props {
				return n.props(func(close func() []any) actor.Actor {
					return exchange.New(exchange.Config{
						Exchange: s.Exchange, VHost: s.VHost, Settings: s.Settings, Events: n.parameters.events, Close: close,
						Clock: n.clock, Room: n.monitor.Histories(), Valve: n.monitor.Valve(), Copies: n.monitor.Copies(), Objects: n.monitor.Objects(),
					})
				})
			},
		})
	})
}

// queueProps returns a function for the Props of a virtual host's queues, which spawns one at a time: the next one's
// spec is passed first.
func queueProps(n *Node, v *topology.VHost, log *zerolog.Logger) func(vhost.QueueSpec) *actor.Props {
	var next vhost.QueueSpec
	// The numbers of earlier starts are lower even if the machine's clock was set back (ADR 28). In old versions numbers were times in ns
	// since 1970; now they begin above such times, in the year 2043.
	newest := numbers.Begin + n.starts*numbers.Each
	shared := &queue.Shared{
		VHost: v, Metrics: &n.queries.Sums, Journal: n.journal, Budget: n.monitor.Budget(), Clock: n.clock, Log: log, Post: n.asker.Post,
		Died: func(reason string, count uint64) { n.queries.Deaths.ByReason(reason).Disabled.Add(count) },
	}
	if j, ok := n.cfg.Journal.(store.Replicated); ok {
		shared.Current = j.Current
	}
	props := propsOfMany(n, func(close func() []any) actor.Actor {
		s := next
		next = vhost.QueueSpec{}
		return queue.New(queue.Config{
			Shared: shared, Queue: s.Queue, Effective: s.Effective, Settings: s.Settings, Recovered: s.Messages,
			Recovering: s.Recovering, Revived: s.Revived, Newest: max(s.Newest, newest), Notes: s.Notes, Close: close,
		})
	})
	return func(s vhost.QueueSpec) *actor.Props {
		if next = s; !s.Queue.Holds() {
			n.queries.Churn.QueuesMade.Add(1)
		}
		return props
	}
}

func (n *Node) connectionProps(conn net.Conn) *actor.Props {
	cfg := connection.Config{
		Settings: connectionSettings(n, conn), NewChannel: n.channelProps, Product: n.cfg.Product, ClusterName: n.parameters.clusterName(), ChannelMax: n.cfg.Limits.Channels,
		Heartbeat: n.cfg.Limits.Heartbeat, NoHeartbeat: n.cfg.Limits.NoHeartbeat, Handover: func(from mail.Address, conn net.Conn, read []byte) { n.asker.Post(n.root, handover{from, conn, read}) },
	}
	if i, ok := conn.(*directConnection); ok {
		i.admit(&cfg)
	}
	return n.props(func(func() []any) actor.Actor { return connection.New(cfg) })
}

// connectionSettings returns the settings of connections of both protocols.
func connectionSettings(n *Node, conn net.Conn) lifecycle.Settings {
	return lifecycle.Settings{
		Conn: conn, Authenticator: n.cfg.Authenticator, Permissions: n.cfg.Permissions, Quota: n.quota, VHost: n.VHost, Carry: n.dispatcher.Carry,
		Clock: n.clock, Log: n.cfg.Log, Events: n.parameters.events, Node: n.cfg.Name, ProductVersion: n.cfg.ProductVersion, HandshakeTimeout: n.cfg.Handshake, SendTimeout: n.cfg.SendTimeout,
		FrameMax: n.cfg.Limits.Frame, InFlightLimit: n.monitor.InFlight(), Valve: n.monitor.Valve(), Intake: n.monitor.Intake(), Unread: n.monitor.Unread(), Objects: n.monitor.Objects(),
	}
}

// connection10Props returns the Props of an AMQP 1.0 connection; read is what the connection before it has read from
// the socket.
func connection10Props(n *Node, conn net.Conn, read []byte) *actor.Props {
	cfg := connection10.Config{
		Settings: connectionSettings(n, conn), Read: read, NewSession: func(s connection10.SessionSpec) *actor.Props { return sessionProps(n, s) }, Container: n.parameters.clusterName(), SessionMax: n.cfg.Limits.Sessions, EntitySessionMax: n.cfg.Limits.Channels, LinkMax: n.cfg.Limits.Links, Statuses: n.parameters.Shovels.Statuses(), Silence: n.cfg.Limits.Heartbeat, NoSilence: n.cfg.Limits.NoHeartbeat,
	}
	return n.props(func(func() []any) actor.Actor { return connection10.New(cfg) })
}

func sessionProps(n *Node, s connection10.SessionSpec) *actor.Props {
	n.queries.Churn.ChannelsOpened.Add(1)
	var token func(text string) (auth.User, sas.Token, error)
	if users, ok := n.cfg.Authenticator.(*auth.Users); ok {
		token = func(text string) (auth.User, sas.Token, error) {
			return users.AuthenticateToken(text, time.UnixMilli(n.clock.Real().Wall()), s.Peer)
		}
	}
	return n.props(func(close func() []any) actor.Actor {
		return session10.New(session10.Config{
			Channel: s.Channel, Connection: s.Connection, ConnectionName: s.Name, Container: s.Container, Node: n.cfg.Name, Outbox: s.Outbox, Gate: s.Gate, Arrivals: s.Arrivals, Copies: n.monitor.Copies(), Unread: s.Unread, Objects: s.Objects,
			FrameMax: s.FrameMax, NextOutgoingID: s.Begin.NextOutgoingID, IncomingWindow: s.Begin.IncomingWindow, HandleMax: s.Begin.HandleMax,
			VHost: s.VHost, User: s.User, By: s.By, Events: n.parameters.events, Permissions: n.cfg.Permissions, Token: token, Tokens: s.Tokens, Statuses: n.parameters.Shovels.Statuses(), Transactions: s.Transactions, MaxMessage: n.cfg.MaxMessage, MaxEntityMessage: n.cfg.MaxEntityMessage, Clock: n.clock,
			Log: s.Log.With().Uint16("channel", s.Channel).Logger(), Post: n.asker.Post, Ended: n.queries.SessionEnded, Close: close,
		})
	})
}

func (n *Node) channelProps(s connection.ChannelSpec) *actor.Props {
	n.queries.Churn.ChannelsOpened.Add(1)
	if s.Permissions == nil {
		s.Permissions = n.cfg.Permissions
	}
	if s.Log == nil {
		log := n.cfg.Log.With().Str("vhost", s.VHost.Name).Str("user", s.User.Name).Logger()
		s.Log = &log
	}
	return n.props(func(close func() []any) actor.Actor {
		return channel.New(channel.Config{
			ID: s.ID, Connection: s.Connection, ConnectionName: s.Name, Node: n.cfg.Name, Outbox: s.Outbox, Gate: s.Gate, Arrivals: s.Arrivals, Copies: n.monitor.Copies(), Unread: s.Unread, Replies: s.Replies, Objects: s.Objects, FrameMax: s.FrameMax,
			VHost: s.VHost, User: s.User, ClientProduct: s.ClientProduct, CancelNotify: s.Capabilities.ConsumerCancelNotify,
			By: s.By, Events: n.parameters.events, Permissions: s.Permissions, MaxMessage: n.cfg.MaxMessage, MaxConsumers: n.cfg.Limits.Consumers, Clock: n.clock,
			Log:  s.Log.With().Uint16("channel", s.ID).Logger(),
			Post: n.asker.Post, Ended: n.queries.ChannelEnded, Close: close,
		})
	})
}
