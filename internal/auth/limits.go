package auth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits bound what may be open or there at a time, by their RabbitMQ names. A
// negative number is kept, and is no limit. What is above a limit when that is
// set stays; only more of it is refused. Nobody alters one that is in Users.
type Limits map[string]int64

// The names of limits. Virtual hosts know the first two, users the first and the
// last.
const (
	MaxConnections = "max-connections"
	MaxQueues      = "max-queues"
	MaxChannels    = "max-channels"
)

var (
	vhostLimits = []string{MaxConnections, MaxQueues}
	userLimits  = []string{MaxConnections, MaxChannels}
)

// Of is the limit of a name; false if there is none.
func (l Limits) Of(name string) (limit int64, limited bool) {
	limit, limited = l[name]
	return limit, limited && limit >= 0
}

// Reached says whether count is as much as the limit of a name allows, and what
// that is.
func (l Limits) Reached(name string, count int) (limit int64, reached bool) {
	limit, limited := l.Of(name)
	return limit, limited && int64(count) >= limit
}

// validate says, in RabbitMQ's words, which names are not among the known ones.
func (l Limits) validate(what string, known []string) error {
	var strange []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if !slices.Contains(known, name) {
			strange = append(strange, fmt.Sprintf("{<<%q>>,%d}", name, l[name]))
		}
	}
	if strange == nil {
		return nil
	}
	return fmt.Errorf("Unrecognised terms [%s] in %s", strings.Join(strange, ",\n                    "), what)
}

// SetVHostLimits replaces the limits of a virtual host by what f makes of a copy
// of them. Errors: ErrNoVHost, or what is wrong with the result.
func (u *Users) SetVHostLimits(name string, f func(Limits) Limits) error {
	return u.change(func(next *snapshot, c *Change) error {
		v, known := next.vhosts[name]
		if !known {
			return ErrNoVHost
		}
		limits, err := v.Limits.changed(f, "limits", vhostLimits)
		if err != nil || maps.Equal(limits, v.Limits) {
			return err
		}
		v.Limits = limits
		next.vhosts = maps.Clone(next.vhosts)
		next.vhosts[name] = v
		c.Put = append(c.Put, v)
		return nil
	})
}

// SetUserLimits replaces the limits of a user by what f makes of a copy of them.
// Errors: ErrNoUser, or what is wrong with the result.
func (u *Users) SetUserLimits(name string, f func(Limits) Limits) error {
	return u.change(func(next *snapshot, c *Change) error {
		before := next.users[name]
		if before == nil {
			return ErrNoUser
		}
		limits, err := before.account.Limits.changed(f, "user-limits", userLimits)
		if err != nil || maps.Equal(limits, before.account.Limits) {
			return err
		}
		after := *before
		after.account.Limits = limits
		next.put(&after)
		c.Put = append(c.Put, after.account)
		return nil
	})
}

// changed is what f makes of a copy, nil when that is empty.
func (l Limits) changed(f func(Limits) Limits, what string, known []string) (Limits, error) {
	after := Limits{}
	maps.Copy(after, l)
	after = f(after)
	if len(after) == 0 {
		return nil, nil
	}
	return after, after.validate(what, known)
}

// kept are the limits of something that is put in place of what had before: nil
// limits say nothing about them.
func (l Limits) kept(before Limits, what string, known []string) (Limits, error) {
	switch {
	case l == nil:
		return before, nil
	case len(l) == 0:
		return nil, nil
	}
	return l, l.validate(what, known)
}
