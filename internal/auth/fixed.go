package auth

import (
	"crypto/subtle"
	"slices"
)

// Fixed is a table of users for tests. It allows everything that it does not explicitly refuse.
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
	Resource   Resource
	Permission Permission
}

// Mechanisms implements Authenticator.
func (f *Fixed) Mechanisms(Peer) []string { return []string{"PLAIN", "AMQPLAIN"} }

// Authenticate implements Authenticator.
func (f *Fixed) Authenticate(mechanism string, response []byte, _ Peer) (User, error) {
	name, password, err := Credentials(mechanism, response)
	if err != nil {
		return User{}, err
	}
	want, known := f.Passwords[name]
	if !known || subtle.ConstantTimeCompare([]byte(password), []byte(want)) != 1 {
		return User{}, refuseLogin("user '%s' - invalid credentials", name)
	}
	return User{Name: name, Tags: f.Tags[name]}, nil
}

// VHostAccess implements Permissions.
func (f *Fixed) VHostAccess(user User, vhost string) error {
	if slices.Contains(f.NoVHost[user.Name], vhost) {
		return RefuseVHost(user, vhost)
	}
	return nil
}

// Check implements Permissions.
func (f *Fixed) Check(user User, vhost string, r Resource, perm Permission) error {
	if slices.Contains(f.Refused, Refusal{User: user.Name, Resource: r, Permission: perm}) {
		return Refuse(user, vhost, r, perm)
	}
	return nil
}

// Generation implements Permissions.
func (f *Fixed) Generation() uint64 { return f.Changes }

// HasTopics implements Permissions.
func (f *Fixed) HasTopics(_ User, _, exchange string) bool { return f.Topics[exchange] != nil }

// CheckTopic implements Permissions.
func (f *Fixed) CheckTopic(user User, vhost, exchange, key string, perm Permission) error {
	if slices.Contains(f.Topics[exchange], key) {
		return RefuseTopic(user, vhost, exchange, key, perm)
	}
	return nil
}
