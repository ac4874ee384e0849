package auth

import (
	"fmt"
)

// Stored is the complete content of Users, as read from the store.
type Stored struct {
	VHosts      []VHost
	Accounts    []Account
	Grants      []Grant
	TopicGrants []TopicGrant
}

// Stored lists everything, sorted by names.
func (u *Users) Stored() Stored {
	return Stored{u.VHosts(), u.Accounts(), u.Grants("", ""), u.TopicGrants("", "")}
}

// Load replaces the contents of Users by stored ones, without calling the observer. Errors, which name the permission:
// ErrNoUser, ErrNoVHost, or *pattern.Error for an invalid expression; then nothing has changed.
func (u *Users) Load(s Stored) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	next := &snapshot{revision: u.Revision() + 1, replaced: make(chan struct{}), users: map[string]*user{}, vhosts: map[string]VHost{}}
	for _, v := range s.VHosts {
		v.Tags = list(v.Tags)
		next.vhosts[v.Name] = v
	}
	for _, a := range s.Accounts {
		a.Tags = list(a.Tags)
		next.users[a.Name] = &user{account: a, login: next.revision, grants: map[string]*grant{}, topics: map[string]map[string]*topicGrant{}}
	}
	for _, g := range s.Grants {
		compiled, err := u.compile(g)
		if err == nil {
			_, err = next.holder(g.User, g.VHost)
		}
		if err != nil {
			return fmt.Errorf("permission of user '%s' in vhost '%s': %w", g.User, g.VHost, err)
		}
		next.users[g.User].grants[g.VHost] = compiled
	}
	for _, g := range s.TopicGrants {
		compiled, err := u.compileTopic(g)
		if err == nil {
			_, err = next.holder(g.User, g.VHost)
		}
		if err != nil {
			return fmt.Errorf("topic permission of user '%s' in vhost '%s': %w", g.User, g.VHost, err)
		}
		topics := next.users[g.User].topics
		if topics[g.VHost] == nil {
			topics[g.VHost] = map[string]*topicGrant{}
		}
		topics[g.VHost][g.Exchange] = compiled
	}
	close(u.now.Swap(next).replaced)
	return nil
}

// list returns tags in the form of the running broker.
func list(tags []string) []string {
	if tags == nil {
		return []string{}
	}
	return tags
}
