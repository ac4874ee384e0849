package supervision

import (
	"fmt"
	"net"

	"candlemark/actors/client/connection"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// tree is the root actor: it spawns the others and counts connections.
type tree struct {
	node        *Node
	ready       chan<- error              // gets nil or an error for every virtual host at the start
	connections map[string]openConnection // by the ids of their actors
	serial      uint64
	vhosts      map[string]*vhostTree // virtual hosts by name
	alarm       *mail.Block           // nil without one
	closing     *closeAll
}

// accepted: a listener has a new connection.
type accepted struct{ conn net.Conn }

// handover: a connection passes its socket to an AMQP 1.0 connection.
type handover struct {
	from mail.Address
	conn net.Conn
	read []byte // already read from it
}

// closeAll ends all connections; gone is closed when there are none.
type closeAll struct {
	reason error
	gone   chan struct{}
}

// openLocalChannel asks for a channel; the answer is nil if it cannot be made.
type openLocalChannel struct {
	spec  connection.ChannelSpec
	reply chan<- mail.Address
}

// openConnection is the actor of a connection.
type openConnection struct {
	pid  *actor.PID
	name string
}

// listConnections asks for the addresses of the connections of a name, of all for "".
type listConnections struct {
	name  string
	reply chan<- []mail.Address
}

// Receive handles one mail.
func (t *tree) Receive(ctx actor.Context) {
	defer t.survive(ctx)
	switch m := ctx.Message().(type) {
	case *actor.Started:
		t.connections, t.vhosts = map[string]openConnection{}, map[string]*vhostTree{}
		if err := t.spawnInitial(ctx); err != nil {
			t.ready <- err
		}
	case *mail.TopologyReply:
		t.vhostStarted(ctx, m)
	case startVHost:
		t.startVHost(ctx, m)
	case stopVHost:
		t.stopVHost(ctx, m)
	case *mail.CloseConnection:
		t.sendAll(ctx, m)
	case accepted:
		t.accept(ctx, m.conn)
	case handover:
		t.handOver(ctx, m)
	case *mail.Block:
		t.alarm = m
		t.sendAll(ctx, m)
	case *mail.Unblock:
		t.alarm = nil
		t.sendAll(ctx, m)
	case closeAll:
		t.closing = &m
		t.sendAll(ctx, &mail.CloseConnection{Err: m.reason})
		t.checkEmpty()
	case openLocalChannel:
		m.reply <- t.receive(ctx, m)
	case openChild:
		m.reply <- t.openChild(ctx, m)
	case listConnections:
		m.reply <- t.list(m.name)
	case *actor.Terminated:
		if _, ours := t.connections[m.Who.Id]; ours {
			t.dismiss(m.Who)
			t.node.queries.Churn.ConnectionsClosed.Add(1)
			t.node.sockets.Leave()
			t.checkEmpty()
			return
		}
		t.actorEnded(ctx, m.Who)
	}
}

// survive keeps the root, which has no parent, from being restarted: which would end everything below it. A panic loses
// only the current mail.
func (t *tree) survive(ctx actor.Context) {
	reason := recover()
	if reason == nil {
		return
	}
	what := ctx.Message()
	t.node.cfg.Log.Error().Str("actor", ctx.Self().Id).Type("mail", what).Any("reason", reason).Msg("actor panicked")
	switch m := what.(type) {
	case accepted:
		t.node.refuseConnection(m.conn)
	case handover:
		_ = m.conn.Close()
	}
	select {
	case t.ready <- fmt.Errorf("the broker did not start: %v", reason):
	default: // it already has a value
	}
}

// spawnInitial spawns the actors that exist from the beginning.
func (t *tree) spawnInitial(ctx actor.Context) error {
	n := t.node
	if _, err := ctx.SpawnNamed(n.registryProps(), string(KindRegistry)); err != nil {
		return err
	}
	list := n.cfg.Users.VHosts()
	for _, v := range list {
		t.startVHost(ctx, startVHost{v.Name, t.ready})
	}
	if len(list) == 0 {
		t.ready <- nil
	}
	return nil
}

func (t *tree) accept(ctx actor.Context, conn net.Conn) {
	if t.closing != nil {
		t.node.refuseConnection(conn)
		return
	}
	t.serial++
	pid, err := ctx.SpawnNamed(t.node.connectionProps(conn), fmt.Sprintf("%s/%d", KindConnection, t.serial))
	if err != nil {
		t.node.cfg.Log.Error().Err(err).Msg("connection could not be started")
		t.node.refuseConnection(conn)
		return
	}
	t.admit(ctx, pid, conn)
	t.node.queries.Churn.ConnectionsOpened.Add(1)
}

// handOver replaces a connection, which ends, by another. If that fails, it closes the socket.
func (t *tree) handOver(ctx actor.Context, m handover) {
	defer ctx.Stop(actorlib.PID(m.from))
	pid, err := (*actor.PID)(nil), errStopping
	if t.serial++; t.closing == nil {
		pid, err = ctx.SpawnNamed(connection10Props(t.node, m.conn, m.read), fmt.Sprintf("%s/%d", KindConnection, t.serial))
	}
	if err != nil {
		t.node.cfg.Log.Warn().Err(err).Msg("connection could not be started")
		_ = m.conn.Close()
		return
	}
	t.dismiss(m.from)
	t.admit(ctx, pid, m.conn)
}

// admit counts a connection, and notifies it of the alarm.
func (t *tree) admit(ctx actor.Context, pid *actor.PID, conn net.Conn) {
	t.connections[pid.Id] = openConnection{pid, lifecycle.NameOf(conn)}
	if t.alarm != nil {
		ctx.Send(pid, t.alarm)
	}
}

// dismiss forgets a connection.
func (t *tree) dismiss(pid mail.Address) {
	delete(t.connections, pid.GetId())
}

// list returns the connections of a name, all for "".
func (t *tree) list(name string) []mail.Address {
	var list []mail.Address
	for _, c := range t.connections {
		if name == "" || c.name == name {
			list = append(list, c.pid)
		}
	}
	return list
}

// receive spawns a local channel; nil if that fails.
func (t *tree) receive(ctx actor.Context, m openLocalChannel) mail.Address {
	if t.closing != nil {
		return nil
	}
	t.serial++
	pid, err := ctx.SpawnNamed(t.node.channelProps(m.spec), fmt.Sprintf("%s/%d", KindChannel, t.serial))
	if err != nil {
		t.node.cfg.Log.Error().Err(err).Msg("channel could not be started")
		return nil
	}
	return pid
}

// sendAll sends mail to all connections.
func (t *tree) sendAll(ctx actor.Context, what any) {
	for _, c := range t.connections {
		ctx.Send(c.pid, what)
	}
}

func (t *tree) checkEmpty() {
	if t.closing != nil && t.closing.gone != nil && len(t.connections) == 0 {
		close(t.closing.gone)
		t.closing.gone = nil
	}
}
