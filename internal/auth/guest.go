package auth

import (
	"crypto/subtle"
	"fmt"
	"net"
)

// Guest is the broker's one user: guest with the password guest, administrator,
// from this machine only, with all permissions on every virtual host.
type Guest struct{ user User }

// NewGuest makes a Guest.
func NewGuest() *Guest {
	return &Guest{user: User{Name: "guest", Tags: []string{"administrator"}}}
}

// Mechanisms implements Authenticator.
func (g *Guest) Mechanisms() []string { return []string{"PLAIN", "AMQPLAIN"} }

// Authenticate implements Authenticator.
func (g *Guest) Authenticate(mechanism string, response []byte, peer net.Addr) (User, error) {
	name, password, err := Credentials(mechanism, response)
	if err != nil {
		return User{}, err
	}
	if name != g.user.Name || subtle.ConstantTimeCompare([]byte(password), []byte("guest")) != 1 {
		return User{}, fmt.Errorf("user '%s': invalid credentials: %w", name, ErrRefused)
	}
	if tcp, ok := peer.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return User{}, fmt.Errorf("user '%s' can only connect via localhost: %w", name, ErrRefused)
	}
	return g.user, nil
}

// VHostAccess implements Permissions.
func (g *Guest) VHostAccess(User, string) error { return nil }

// Check implements Permissions.
func (g *Guest) Check(User, string, Resource, Permission) error { return nil }
