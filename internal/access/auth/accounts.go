package auth

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"candlemark/internal/access/sas"
)

// Account is a stored user.
type Account struct {
	Name string
	// Tags: administrator, monitoring, policymaker and management give access to the HTTP API, impersonator allows
	// publishing under another user's name.
	Tags []string
	// Hash is salt and digest of the password; an account with an empty hash cannot log in with a password.
	Hash      []byte
	Algorithm string // of the hash; empty for SHA256
	// Limits: MaxConnections, MaxChannels. Users hold nil when there are none.
	Limits Limits
	// Keys sign tokens of Azure Service Bus; empty for a user without keys.
	Keys sas.Keys
}

// PutAccount creates or replaces a user; its permissions stay, and so do its limits and keys if the given ones are nil
// or empty. The error describes an invalid account.
func (u *Users) PutAccount(a Account) (created bool, err error) {
	if err := a.Validate(); err != nil {
		return false, err
	}
	a.Algorithm = cmp.Or(a.Algorithm, SHA256)
	if a.Tags == nil {
		a.Tags = []string{}
	}
	err = u.change(func(next *snapshot, c *Change) error {
		after := &user{login: next.revision}
		var had Limits
		if before := next.users[a.Name]; before != nil {
			after.grants, after.topics, had = before.grants, before.topics, before.account.Limits
			sameKeys := a.Keys == (sas.Keys{}) || a.Keys == before.account.Keys
			if bytes.Equal(a.Hash, before.account.Hash) && a.Algorithm == before.account.Algorithm && sameKeys {
				after.login = before.login
			}
		} else {
			created = true
		}
		if a.Limits, err = had.changed(a.Limits, ParseUserLimits); err != nil {
			return err
		}
		if before := next.users[a.Name]; before != nil && a.Keys == (sas.Keys{}) {
			a.Keys = before.account.Keys
		}
		after.account = a
		next.put(after)
		c.Put = append(c.Put, a)
		return nil
	})
	return created, err
}

// Validate checks an account except for its limits.
func (a Account) Validate() error {
	if a.Name == "" {
		return errors.New("user cannot be an empty string")
	}
	if hashes[cmp.Or(a.Algorithm, SHA256)] == nil {
		return fmt.Errorf("the password hashing algorithm '%s' is not known", a.Algorithm)
	}
	return a.Keys.Validate()
}

// DeleteAccount removes a user and all its permissions. Error: ErrNoUser.
func (u *Users) DeleteAccount(name string) error {
	return u.change(func(next *snapshot, c *Change) error {
		gone := next.users[name]
		if gone == nil {
			return ErrNoUser
		}
		next.users = maps.Clone(next.users)
		delete(next.users, name)
		c.Deleted = append(c.Deleted, Account{Name: name})
		for _, g := range gone.grants {
			c.Deleted = append(c.Deleted, g.Grant)
		}
		for _, exchanges := range gone.topics {
			for _, t := range exchanges {
				c.Deleted = append(c.Deleted, t.TopicGrant)
			}
		}
		return nil
	})
}

// Account finds a user.
func (u *Users) Account(name string) (Account, bool) {
	if known := u.now.Load().users[name]; known != nil {
		return known.account, true
	}
	return Account{}, false
}

// HasPassword reports whether a user exists and has that password.
func (u *Users) HasPassword(name, password string) bool {
	known := u.now.Load().users[name]
	return known != nil && known.account.Fits(password)
}

// Accounts returns all users, by name.
func (u *Users) Accounts() []Account {
	users := u.now.Load().users
	all := make([]Account, 0, len(users))
	for _, name := range slices.Sorted(maps.Keys(users)) {
		all = append(all, users[name].account)
	}
	return all
}

// put replaces one user.
func (s *snapshot) put(x *user) {
	s.users = maps.Clone(s.users)
	if s.users == nil {
		s.users = map[string]*user{}
	}
	s.users[x.account.Name] = x
}
