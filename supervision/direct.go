package supervision

import (
	"context"
	"fmt"
	"net"

	"candlemark/actors/connection"
	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/parameters"

	"github.com/asynkron/protoactor-go/actor"
)

// directConnection is a connection from the broker to itself. It needs no listener, and clients cannot open one.
type directConnection struct {
	net.Conn
	name string
	// user is logged in without credentials; nil: credentials are checked.
	user *auth.User
	// free: the user may do everything.
	free bool
}

// nobody is a user without a name, "none" as in RabbitMQ. It publishes messages for other users.
var nobody = auth.User{Name: "none", Tags: []string{"impersonator"}}

// dial connects a shovel to a broker: to this one if the address names none. Then a user without a password is
// accepted, and without a user everything in that virtual host is allowed, as in RabbitMQ: the creator's permissions
// were checked (parameters.Validate).
func dial(ctx context.Context, n *Node, to *parameters.URI) (net.Conn, error) {
	switch {
	case !to.Local() && n.cfg.Dial != nil:
		return n.cfg.Dial(ctx, to)
	case !to.Local():
		return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
	}
	i := &directConnection{name: fmt.Sprintf("shovel-%d", n.directConnections.Add(1))}
	switch {
	case to.User == "":
		i.user, i.free = &nobody, true
	case !to.HasPassword:
		account, known := n.cfg.Users.Account(to.User)
		if !known {
			return nil, fmt.Errorf("there is no user '%s'", to.User)
		}
		i.user = &auth.User{Name: account.Name, Tags: account.Tags}
	}
	var far net.Conn
	far, i.Conn = net.Pipe()
	n.Connect(i)
	return far, nil
}

// admit configures the login and timeouts of the connection. The shovel reads when it has room, however long that
// takes; both ends are in this process, so neither can fail unnoticed.
func (i *directConnection) admit(cfg *connection.Config) {
	cfg.NoHeartbeat, cfg.SendTimeout = true, -1
	if i.user != nil {
		cfg.Authenticator = i
	}
	if i.free {
		cfg.Permissions = auth.Unchecked{}
		spawn := cfg.NewChannel
		cfg.NewChannel = func(s connection.ChannelSpec) *actor.Props {
			s.Permissions = auth.Unchecked{}
			return spawn(s)
		}
	}
}

// RemoteAddr implements net.Conn: the address makes names of connections unique.
func (i *directConnection) RemoteAddr() net.Addr { return directName(i.name) }

type directName string

// Network implements net.Addr.
func (directName) Network() string { return "pipe" }

// String implements net.Addr.
func (n directName) String() string { return string(n) }

// Mechanisms implements auth.Authenticator.
func (i *directConnection) Mechanisms(auth.Peer) []string { return []string{"PLAIN"} }

// Authenticate implements auth.Authenticator.
func (i *directConnection) Authenticate(string, []byte, auth.Peer) (auth.User, error) {
	return *i.user, nil
}

// spawn makes the root spawn a single actor.
func spawn(ctx context.Context, n *Node, kind Kind, make func() actor.Actor) (mail.Address, error) {
	pid, err := askRoot(ctx, n, func(reply chan<- mail.Address) any { return openChild{kind, make, reply} })
	if err == nil && pid == nil {
		err = errStopping
	}
	return pid, err
}

// openChild asks for an actor; the answer is nil if it cannot be made.
type openChild struct {
	kind  Kind
	make  func() actor.Actor
	reply chan<- mail.Address
}

func (t *tree) openChild(ctx actor.Context, m openChild) mail.Address {
	t.serial++
	props := t.node.props(func(func() []any) actor.Actor { return m.make() })
	pid, err := ctx.SpawnNamed(props, fmt.Sprintf("%s/%d", m.kind, t.serial))
	if err != nil {
		t.node.cfg.Log.Error().Err(err).Str("kind", string(m.kind)).Msg("an actor could not be started")
		return nil
	}
	return pid
}
