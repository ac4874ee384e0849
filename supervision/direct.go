package supervision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/transport/forward"
	"candlemark/supervision/shovels"

	"github.com/asynkron/protoactor-go/actor"
)

// directConnection is a connection from a shovel to this broker. It needs no listener, and clients cannot open one.
type directConnection struct {
	net.Conn
	name string
	// user is logged in without credentials; nil: credentials are checked by login, for a client that is on this machine
	// only if trusted.
	user    *auth.User
	login   auth.Authenticator
	trusted bool
	// Permissions of the user.
	permissions auth.Permissions
	// impersonates: it may publish messages with the user-ids of others.
	impersonates bool
}

// nobody is the user of shovels that the operator has set, "none" as in RabbitMQ.
var nobody = auth.User{Name: "none"}

// Reasons why a shovel does not run (ACC-1, ACC-2, ACC-4).
var (
	errNoSetter = errors.New("the user who created this shovel, and thus its permissions, are unknown: create the shovel again, or add a user and a password to its URI")
	errNoLogin  = errors.New("a URI of this machine needs a user and a password")
)

// dial connects a shovel to a broker. An address that leads to this broker becomes a direct connection.
func dial(ctx context.Context, n *Node, to *parameters.URI, as shovels.Login) (conn net.Conn, direct bool, err error) {
	if to.Local() {
		conn, err = dialDirect(n, to, as)
		return conn, true, err
	}
	if n.cfg.Dial != nil {
		conn, err = n.cfg.Dial(ctx, to)
		return conn, false, err
	}
	machine := shovels.Machine{Lookup: lookup, Interfaces: net.InterfaceAddrs, Listeners: func() []net.Addr { return listenerAddresses(n) }, Nodes: func() []string { return nodeAddresses(n) }}
	place, err := machine.Find(ctx, to.Host, uint16(to.Port))
	switch {
	case err != nil:
		return nil, false, err
	case place.Broker:
		conn, err = dialDirect(n, to, as)
		return conn, true, err
	case place.Machine && to.NoLogin: // guest's password is well known
		return nil, false, errNoLogin
	}
	var failures []error
	for _, at := range place.Addresses {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", at.String()); err == nil {
			return conn, false, nil
		}
		failures = append(failures, err)
	}
	return nil, false, errors.Join(failures...)
}

func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// listenerAddresses returns the addresses of the listeners for AMQP.
func listenerAddresses(n *Node) (all []net.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.listeners {
		all = append(all, l.Addr())
	}
	return all
}

// nodeAddresses returns the addresses at which other nodes of the cluster accept AMQP for this broker.
func nodeAddresses(n *Node) (all []string) {
	if n.cfg.Cluster == nil {
		return nil
	}
	for _, m := range n.cfg.Cluster.ClusterState().Members {
		for _, client := range m.Clients {
			if kind, address, _ := strings.Cut(client, "="); kind == forward.AMQP || kind == forward.AMQPS {
				all = append(all, address)
			}
		}
	}
	return all
}

// dialDirect connects a shovel to this broker, with the rights of who has set it or of the user in its address.
func dialDirect(n *Node, to *parameters.URI, as shovels.Login) (net.Conn, error) {
	setter, known := n.cfg.Users.Account(as.Setter.User)
	rules := as.Setter.Operator || known && (auth.User{Tags: setter.Tags}).HasTag("administrator")
	i := &directConnection{
		name: fmt.Sprintf("shovel-%d", n.directConnections.Add(1)), login: n.cfg.Authenticator, permissions: shovelPermissions{n.cfg.Permissions},
		impersonates: as.Checked, trusted: rules || known && to.User == setter.Name,
	}
	switch {
	case !to.NoLogin && to.HasPassword:
	case as.Setter == parameters.Setter{}:
		return nil, errNoSetter
	case to.NoLogin && as.Setter.Operator:
		i.user, i.permissions, i.impersonates = &nobody, shovelPermissions{auth.Unchecked{}}, true
	case to.NoLogin, to.User == as.Setter.User, rules:
		name := to.User
		if to.NoLogin {
			name = as.Setter.User
		}
		account, known := n.cfg.Users.Account(name)
		if !known {
			return nil, fmt.Errorf("there is no user '%s'", name)
		}
		i.user = &auth.User{Name: account.Name, Tags: account.Tags}
	default:
		return nil, fmt.Errorf("the URI needs a password for user '%s', because user '%s' created the shovel", to.User, as.Setter.User)
	}
	var far net.Conn
	far, i.Conn = net.Pipe()
	n.Connect(i)
	return far, nil
}

// mayShovel returns why a parameter may not have a shovel: its setter could no longer set it.
func mayShovel(n *Node, p parameters.Parameter) error {
	if p.Setter.User == "" {
		return nil // the operator, or not known
	}
	name := p.Setter.User
	account, known := n.cfg.Users.Account(name)
	user := auth.User{Name: name, Tags: account.Tags}
	switch {
	case !known:
		return fmt.Errorf("user '%s', who created the shovel, no longer exists", name)
	case !user.MayChange(auth.Policies):
		return fmt.Errorf("user '%s', who created the shovel, may no longer create shovels", name)
	case !user.HasTag("administrator") && n.cfg.Permissions.VHostAccess(user, p.VHost) != nil:
		return fmt.Errorf("user '%s', who created the shovel, has no access to virtual host '%s'", name, p.VHost)
	}
	return nil
}

// shovelPermissions are the permissions of a user whose shovel connects: it cannot send admin commands (ACC-3).
type shovelPermissions struct{ auth.Permissions }

// Check implements auth.Permissions.
func (p shovelPermissions) Check(user auth.User, vhost string, r auth.Resource, perm auth.Permission) error {
	if r.Name == topology.AdminExchange {
		return auth.Refuse(user, vhost, r, perm)
	}
	return p.Permissions.Check(user, vhost, r, perm)
}

// admit configures the login and timeouts of the connection. The shovel reads when it has room, however long that
// takes; both ends are in this process, so neither can fail unnoticed.
func (i *directConnection) admit(cfg *connection.Config) {
	cfg.NoHeartbeat, cfg.SendTimeout, cfg.Handover = true, -1, nil
	cfg.Authenticator, cfg.Permissions = i, i.permissions
	spawn := cfg.NewChannel
	cfg.NewChannel = func(s connection.ChannelSpec) *actor.Props {
		s.Permissions = i.permissions
		return spawn(s)
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

// Authenticate implements auth.Authenticator. Of the user's tags only impersonator counts (ACC-1).
func (i *directConnection) Authenticate(mechanism string, response []byte, peer auth.Peer) (auth.User, error) {
	user := auth.User{}
	if i.user != nil {
		user = *i.user
	} else {
		var err error
		peer.Elsewhere = !i.trusted
		if user, err = i.login.Authenticate(mechanism, response, peer); err != nil {
			return user, err
		}
	}
	impersonates := i.impersonates || user.HasTag("impersonator")
	user.Tags = nil
	if impersonates {
		user.Tags = []string{"impersonator"}
	}
	return user, nil
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
