package users

import (
	"slices"

	"candlemark/internal/access/auth"
)

// Fixed is an auth.Authenticator and Permissions. It allows everything that it does not explicitly refuse.
type Fixed struct {
	Passwords map[string]string   // by user name
	Tags      map[string][]string // by user name
	// NoVHost names virtual hosts by user.
	NoVHost map[string][]string
	Refused []Refusal
	// Topics are the routing keys refused to all users, by exchange.
	Topics map[string][]string
	// Changes is the Generation.
	Changes uint64
}

// Refusal denies one permission to one user, in every virtual host.
type Refusal struct {
	User       string
	Resource   auth.Resource
	Permission auth.Permission
}

// Mechanisms implements Authenticator.
func (f *Fixed) Mechanisms(auth.Peer) []string { return []string{"PLAIN", "AMQPLAIN"} }

// Authenticate implements Authenticator.
func (f *Fixed) Authenticate(mechanism string, response []byte, _ auth.Peer) (auth.User, error) {
	name, password, err := auth.Credentials(mechanism, response)
	if err != nil {
		return auth.User{}, err
	}
	want, known := f.Passwords[name]
	if !known || password != want {
		return auth.User{}, &auth.LoginError{Reason: "user '" + name + "' - invalid credentials"}
	}
	return auth.User{Name: name, Tags: f.Tags[name]}, nil
}

// VHostAccess implements Permissions.
func (f *Fixed) VHostAccess(user auth.User, vhost string) error {
	if slices.Contains(f.NoVHost[user.Name], vhost) {
		return auth.RefuseVHost(user, vhost)
	}
	return nil
}

// Check implements Permissions.
func (f *Fixed) Check(user auth.User, vhost string, r auth.Resource, perm auth.Permission) error {
	if slices.Contains(f.Refused, Refusal{User: user.Name, Resource: r, Permission: perm}) {
		return auth.Refuse(user, vhost, r, perm)
	}
	return nil
}

// Generation implements Permissions.
func (f *Fixed) Generation() uint64 { return f.Changes }

// HasTopics implements Permissions.
func (f *Fixed) HasTopics(_ auth.User, _, exchange string) bool { return f.Topics[exchange] != nil }

// CheckTopic implements Permissions.
func (f *Fixed) CheckTopic(user auth.User, vhost, exchange, key string, perm auth.Permission) error {
	if slices.Contains(f.Topics[exchange], key) {
		return auth.RefuseTopic(user, vhost, exchange, key, perm)
	}
	return nil
}
