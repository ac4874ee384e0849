package auth

import (
	"cmp"
	"maps"
	"slices"

	"candlemark/policies/pattern"
)

// Grant defines what a user may do in a virtual host: three expressions, which match names of queues and exchanges
// anywhere in the name. An empty expression allows nothing.
type Grant struct {
	User, VHost            string
	Configure, Write, Read string
}

// grant is a Grant with compiled expressions.
type grant struct {
	Grant
	expressions [3]*pattern.Pattern // by Permission
}

// PutGrant sets a user's permissions in a virtual host and replaces earlier ones. Errors: ErrNoUser, ErrNoVHost,
// *pattern.Error.
func (u *Users) PutGrant(g Grant) (created bool, err error) {
	compiled, err := u.compile(g)
	if err != nil {
		return false, err
	}
	err = u.change(func(next *snapshot, c *Change) error {
		x, err := next.holder(g.User, g.VHost)
		if err != nil {
			return err
		}
		created = x.grants[g.VHost] == nil
		x.grants = maps.Clone(x.grants)
		if x.grants == nil {
			x.grants = map[string]*grant{}
		}
		x.grants[g.VHost] = compiled
		next.put(x)
		c.Put = append(c.Put, g)
		return nil
	})
	return created, err
}

func (u *Users) compile(g Grant) (compiled *grant, err error) {
	compiled = &grant{Grant: g}
	for i, source := range [...]string{Configure: g.Configure, Write: g.Write, Read: g.Read} {
		if compiled.expressions[i], err = u.expression(source); err != nil {
			return nil, err
		}
	}
	return compiled, nil
}

// DeleteGrant removes a user's permissions in a virtual host, if any. Errors: ErrNoUser, ErrNoVHost.
func (u *Users) DeleteGrant(name, vhost string) error {
	return u.change(func(next *snapshot, c *Change) error {
		x, err := next.holder(name, vhost)
		if err != nil || x.grants[vhost] == nil {
			return err
		}
		c.Deleted = append(c.Deleted, x.grants[vhost].Grant)
		x.grants = maps.Clone(x.grants)
		delete(x.grants, vhost)
		next.put(x)
		return nil
	})
}

// Grants returns the grants of a user, or of all users for "", in a virtual host, or in all for "", by vhost and user.
func (u *Users) Grants(name, vhost string) []Grant {
	all := []Grant{}
	for _, x := range u.now.Load().users {
		for _, g := range x.grants {
			if (name == "" || name == g.User) && (vhost == "" || vhost == g.VHost) {
				all = append(all, g.Grant)
			}
		}
	}
	slices.SortFunc(all, func(a, b Grant) int { return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.User, b.User)) })
	return all
}

// Grant returns a user's permissions in a virtual host.
func (u *Users) Grant(name, vhost string) (Grant, bool) {
	if x := u.now.Load().users[name]; x != nil && x.grants[vhost] != nil {
		return x.grants[vhost].Grant, true
	}
	return Grant{}, false
}

// VHostAccess implements Permissions. The user needs a grant, even one that allows nothing.
func (u *Users) VHostAccess(who User, vhost string) error {
	if x := u.now.Load().users[who.Name]; x == nil || x.grants[vhost] == nil {
		return RefuseVHost(who, vhost)
	}
	return nil
}

// Check implements Permissions.
func (u *Users) Check(who User, vhost string, r Resource, perm Permission) error {
	name := r.Name
	if r.Kind == Exchange && name == "" {
		name = defaultExchange
	}
	if x := u.now.Load().users[who.Name]; x != nil {
		if g := x.grants[vhost]; g != nil && (g.expressions[perm] == u.everything || g.expressions[perm].Match(name)) {
			return nil
		}
	}
	return Refuse(who, vhost, r, perm)
}

// holder returns a copy of the user, for a change of its permissions for a virtual host.
func (s *snapshot) holder(name, vhost string) (*user, error) {
	x := s.users[name]
	if x == nil {
		return nil, ErrNoUser
	}
	if _, known := s.vhosts[vhost]; !known {
		return nil, ErrNoVHost
	}
	holder := *x
	return &holder, nil
}

// grantsFor returns all permissions of a user for a virtual host.
func (x *user) grantsFor(vhost string) (all []any) {
	if g := x.grants[vhost]; g != nil {
		all = append(all, g.Grant)
	}
	for _, t := range x.topics[vhost] {
		all = append(all, t.TopicGrant)
	}
	return all
}

// without returns the user without its permissions for a virtual host.
func (x *user) without(vhost string) *user {
	left := *x
	left.grants, left.topics = maps.Clone(x.grants), maps.Clone(x.topics)
	delete(left.grants, vhost)
	delete(left.topics, vhost)
	return &left
}
