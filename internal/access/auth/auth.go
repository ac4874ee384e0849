package auth

import (
	"errors"
	"slices"

	"candlemark/protocol"
)

// ErrRefused means that name and password do not match, or that the user may not log in from the client's address.
// The client learns only that the login was refused.
var ErrRefused = errors.New("login refused")

// User is a logged-in user. It is immutable.
type User struct {
	Name string
	Tags []string // "administrator", "policymaker", …
}

// HasTag reports whether the user has tag.
func (u User) HasTag(tag string) bool { return slices.Contains(u.Tags, tag) }

// Authenticator checks logins.
type Authenticator interface {
	// Mechanisms names the SASL mechanisms on offer to a peer, best first.
	Mechanisms(peer Peer) []string
	// Authenticate checks the response of a mechanism on offer, which may take 5 s after failed logins from the same
	// source. Errors: a *LoginError, or a *protocol.ConnectionError when the response is malformed.
	Authenticate(mechanism string, response []byte, peer Peer) (User, error)
}

// Permission is one of the three rights to a resource.
type Permission uint8

// The permissions.
const (
	Configure Permission = iota // declare and delete
	Write                       // publish to, bind as a destination
	Read                        // consume from, bind as a source, purge
)

// String returns the word used in error texts.
func (p Permission) String() string { return [...]string{"configure", "write", "read"}[p] }

// Kind is the kind of a resource: queue or exchange.
type Kind uint8

// The kinds of resources.
const (
	Queue Kind = iota
	Exchange
)

// String returns the word used in error texts.
func (k Kind) String() string { return [...]string{"queue", "exchange"}[k] }

// Resource is the object of a permission. The default exchange has the empty
// name.
type Resource struct {
	Kind Kind
	Name string
}

// Permissions checks what users may do.
type Permissions interface {
	// Generation grows with every change: permissions may have been revoked since. Callers that cache answers compare
	// it.
	Generation() uint64
	// VHostAccess reports whether user may open vhost: nil, or a *protocol.ConnectionError 530.
	VHostAccess(user User, vhost string) error
	// Check reports whether user has perm for resource in vhost: nil, or a *protocol.ChannelError 403.
	Check(user User, vhost string, resource Resource, perm Permission) error
	// HasTopics reports whether CheckTopic can refuse the user anything at the exchange. If not, callers need not check
	// every message.
	HasTopics(user User, vhost, exchange string) bool
	// CheckTopic reports whether user may write messages with the routing key to a topic exchange, or bind with it to
	// read: nil, or a *protocol.ChannelError 403.
	CheckTopic(user User, vhost, exchange, key string, perm Permission) error
}

// defaultExchange is the name of the default exchange in permissions and errors.
const defaultExchange = "amq.default"

// RefuseVHost returns the error of VHostAccess.
func RefuseVHost(user User, vhost string) error {
	return protocol.ConnectionErrorf(protocol.NotAllowed,
		"access to vhost '%s' refused for user '%s'", vhost, user.Name)
}

// Refuse returns the error of Check. The default exchange is called amq.default in it, as in RabbitMQ.
func Refuse(user User, vhost string, r Resource, perm Permission) error {
	name := r.Name
	if r.Kind == Exchange && name == "" {
		name = defaultExchange
	}
	return protocol.ChannelErrorf(protocol.AccessRefused,
		"%s access to %s '%s' in vhost '%s' refused for user '%s'", perm, r.Kind, name, vhost, user.Name)
}

// RefuseTopic returns the error of CheckTopic.
func RefuseTopic(user User, vhost, exchange, key string, perm Permission) error {
	return protocol.ChannelErrorf(protocol.AccessRefused,
		"%s access to topic '%s' in exchange '%s' in vhost '%s' refused for user '%s'", perm, key, exchange, vhost, user.Name)
}
