package auth

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// VHost is a stored virtual host.
type VHost struct {
	Name        string
	Description string
	Tags        []string
	// DefaultQueueType is the type of queues declared without one: classic (or empty) or quorum.
	DefaultQueueType string
	// Tracing: the firehose is on.
	Tracing bool
	// Protected: it cannot be deleted until this is reset.
	Protected bool
	// Limits: MaxConnections, MaxQueues. Users hold nil when there are none.
	Limits Limits
}

// TooManyVHosts is the reason why there is no room for another virtual host.
type TooManyVHosts string

// Error implements error.
func (e TooManyVHosts) Error() string { return string(e) }

// PutVHost creates or replaces a virtual host; it keeps its limits if the given ones are nil. The error describes an
// invalid virtual host.
func (u *Users) PutVHost(v VHost) (created bool, err error) {
	if err := v.Validate(); err != nil {
		return false, err
	}
	if v.Tags == nil {
		v.Tags = []string{}
	}
	err = u.change(func(next *snapshot, c *Change) error {
		before, known := next.vhosts[v.Name]
		if created = !known; created {
			v.DefaultQueueType = cmp.Or(v.DefaultQueueType, u.options.DefaultQueueType)
		}
		if v.Limits, err = before.Limits.changed(v.Limits, ParseVHostLimits); err != nil {
			return err
		}
		next.vhosts = maps.Clone(next.vhosts)
		if next.vhosts == nil {
			next.vhosts = map[string]VHost{}
		}
		next.vhosts[v.Name] = v
		c.Put = append(c.Put, v)
		return nil
	})
	return created, err
}

// Validate checks a virtual host.
func (v VHost) Validate() error {
	switch v.DefaultQueueType {
	case "", "classic", "quorum":
	default:
		return fmt.Errorf("%s is not a valid queue type", v.DefaultQueueType)
	}
	if v.Name == "" {
		return errors.New("vhost cannot be an empty string")
	}
	if len(v.Name) > 255 { // a short string in connection.open
		return errors.New("a vhost name may have at most 255 bytes")
	}
	return nil
}

// DeleteVHost removes a virtual host and all permissions for it. Error:
// ErrNoVHost, ErrProtected.
func (u *Users) DeleteVHost(name string) error {
	return u.change(func(next *snapshot, c *Change) error {
		v, known := next.vhosts[name]
		if !known {
			return ErrNoVHost
		}
		if v.Protected {
			return ErrProtected
		}
		next.vhosts = maps.Clone(next.vhosts)
		delete(next.vhosts, name)
		next.users = maps.Clone(next.users)
		for who, x := range next.users {
			if deleted := x.grantsFor(name); deleted != nil {
				next.users[who] = x.without(name)
				c.Deleted = append(c.Deleted, deleted...)
			}
		}
		c.Deleted = append(c.Deleted, VHost{Name: name})
		return nil
	})
}

// VHost finds a virtual host.
func (u *Users) VHost(name string) (VHost, bool) {
	v, ok := u.now.Load().vhosts[name]
	return v, ok
}

// VHosts returns all virtual hosts, by name.
func (u *Users) VHosts() []VHost {
	vhosts := u.now.Load().vhosts
	all := make([]VHost, 0, len(vhosts))
	for _, name := range slices.Sorted(maps.Keys(vhosts)) {
		all = append(all, vhosts[name])
	}
	return all
}
