package auth

import (
	"crypto/subtle"
	"fmt"
	"net"
	"slices"
)

// Fixed is a table of users for tests. What is not refused is allowed.
type Fixed struct {
	Passwords map[string]string   // by user name
	Tags      map[string][]string // by user name
	// NoVHost names virtual hosts by user.
	NoVHost map[string][]string
	Refused []Refusal
}

// Refusal takes one permission from one user, in every virtual host.
type Refusal struct {
	User       string
	Resource   Resource
	Permission Permission
}

// Mechanisms implements Authenticator.
func (f *Fixed) Mechanisms() []string { return []string{"PLAIN", "AMQPLAIN"} }

// Authenticate implements Authenticator.
func (f *Fixed) Authenticate(mechanism string, response []byte, _ net.Addr) (User, error) {
	name, password, err := Credentials(mechanism, response)
	if err != nil {
		return User{}, err
	}
	want, known := f.Passwords[name]
	if !known || subtle.ConstantTimeCompare([]byte(password), []byte(want)) != 1 {
		return User{}, fmt.Errorf("user '%s': invalid credentials: %w", name, ErrRefused)
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
