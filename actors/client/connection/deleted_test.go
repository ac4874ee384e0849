package connection_test

import (
	"testing"
	"testing/synctest"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// first returns a function that is true only in its first call, as if the object was deleted then.
func first() func() bool {
	asked := 0
	return func() bool { asked++; return asked == 1 }
}

// revoked is a permission check that grants access to a virtual host only once.
type revoked struct {
	users.Fixed
	allowed func() bool
}

func (r *revoked) VHostAccess(user auth.User, vhost string) error {
	if r.allowed() {
		return nil
	}
	return auth.RefuseVHost(user, vhost)
}

// The connection itself detects a deletion between connection.open and its first mail, before it sends open-ok.
func TestDeletedDuringHandshake(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*connection.Config)
		code   uint16
		text   string
	}{
		"vhost": {func(cfg *connection.Config) {
			there, find := first(), cfg.VHost
			cfg.VHost = func(name string) (*topology.VHost, bool) {
				v, ok := find(name)
				return v, ok && there()
			}
		}, 320, "CONNECTION_FORCED - vhost '/' is deleted"},
		"vhost made anew": {func(cfg *connection.Config) {
			there, find := first(), cfg.VHost
			cfg.VHost = func(name string) (*topology.VHost, bool) {
				if there() {
					return find(name)
				}
				return topology.NewVHost(name), true
			}
		}, 320, "CONNECTION_FORCED - vhost '/' is deleted"},
		"user": {
			func(cfg *connection.Config) { cfg.Permissions = &revoked{allowed: first()} },
			530, "NOT_ALLOWED - access to vhost '/' refused for user 'lim'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, test.change, func(r *rig) {
				r.sayOpen(protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, "/")
				r.expectClose(test.code, test.text, 0, 0)
				r.sendMethods(0, &protocol.ConnectionCloseOk{})
				r.isOver()
			})
		})
	}
}

// A close for a virtual host or a user applies to its own connections only, and not to connections without a login.
func TestCloseOfOthers(t *testing.T) {
	forced := protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '/' is deleted")
	running(t, nil, func(r *rig) {
		for _, m := range []mail.CloseConnection{{VHost: "other"}, {User: "guest"}, {VHost: "/", User: "guest"}} {
			m.Err = forced
			r.system.Root.Send(r.conn, &m)
		}
		synctest.Wait()
		r.openChannel(1)
		r.system.Root.Send(r.conn, &mail.CloseConnection{Err: forced, VHost: "/", User: "lim"})
		r.expectClose(320, "CONNECTION_FORCED - vhost '/' is deleted", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
	bubble(t, nil, func(r *rig) {
		r.system.Root.Send(r.conn, &mail.CloseConnection{Err: forced, VHost: "/"})
		r.login(protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072})
		r.openChannel(1)
	})
}
