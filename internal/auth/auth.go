package auth

import (
	"errors"
	"net"
	"slices"

	"candlemark/protocol"
)

// ErrRefused says that name and password do not fit, or that the user may not
// come from where it comes. The client is told only that it was refused.
var ErrRefused = errors.New("login refused")

// User is somebody who has logged in. It is not altered afterwards.
type User struct {
	Name string
	Tags []string // "administrator", "policymaker", …
}

// HasTag reports whether the user has been given tag.
func (u User) HasTag(tag string) bool { return slices.Contains(u.Tags, tag) }

// Authenticator checks logins.
type Authenticator interface {
	// Mechanisms names the SASL mechanisms on offer, best first.
	Mechanisms() []string
	// Authenticate checks the response of a mechanism on offer. Errors: one
	// that wraps ErrRefused, or a *protocol.ConnectionError when the response
	// is malformed. A peer that is not a TCP address is on this machine.
	Authenticate(mechanism string, response []byte, peer net.Addr) (User, error)
}

// Permission is one of the three rights to a resource.
type Permission uint8

// The permissions.
const (
	Configure Permission = iota // declare and delete
	Write                       // publish to, bind as a destination
	Read                        // consume from, bind as a source, purge
)

// String is the word that stands in error texts.
func (p Permission) String() string { return [...]string{"configure", "write", "read"}[p] }

// Kind tells queues from exchanges.
type Kind uint8

// The kinds of resources.
const (
	Queue Kind = iota
	Exchange
)

// String is the word that stands in error texts.
func (k Kind) String() string { return [...]string{"queue", "exchange"}[k] }

// Resource is what a permission is for. The default exchange has the empty
// name.
type Resource struct {
	Kind Kind
	Name string
}

// Permissions checks what users may do.
type Permissions interface {
	// VHostAccess says whether user may open vhost: nil, or a
	// *protocol.ConnectionError 530.
	VHostAccess(user User, vhost string) error
	// Check says whether user has perm for resource in vhost: nil, or a
	// *protocol.ChannelError 403.
	Check(user User, vhost string, resource Resource, perm Permission) error
}

// RefuseVHost is the error of VHostAccess.
func RefuseVHost(user User, vhost string) error {
	return protocol.ConnectionErrorf(protocol.NotAllowed,
		"access to vhost '%s' refused for user '%s'", vhost, user.Name)
}

// Refuse is the error of Check. The default exchange is called amq.default in
// it, as in RabbitMQ.
func Refuse(user User, vhost string, r Resource, perm Permission) error {
	name := r.Name
	if r.Kind == Exchange && name == "" {
		name = "amq.default"
	}
	return protocol.ChannelErrorf(protocol.AccessRefused,
		"%s access to %s '%s' in vhost '%s' refused for user '%s'", perm, r.Kind, name, vhost, user.Name)
}
