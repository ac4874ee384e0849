package entityadmin

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/servicebus/entity"
)

// Key is an access key of one queue or topic. Its user has the name that sas.UserOf returns.
type Key struct {
	Name   string
	Rights []sas.Right
	sas.Keys
	grant auth.Grant
}

// entityTag is the tag of users that stand for keys of entities; other users are never changed.
const entityTag = entity.Component

// maxKeys is the maximum number of keys of an entity, as in Service Bus.
const maxKeys = 12

var keyName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// grantOf returns the permissions of a key with these rights.
func grantOf(d *entity.Description, rights []sas.Right) (g auth.Grant) {
	only := "^" + regexp.QuoteMeta(d.Path())
	all := only + `([.]dlq)?$`
	if d.Kind == entity.Topic {
		all = only + "(/" + entity.Subscriptions + "(/.*)?)?$"
	}
	if slices.Contains(rights, sas.Send) {
		g.Write = only + "$"
	}
	if slices.Contains(rights, sas.Listen) {
		g.Read = all
	}
	if slices.Contains(rights, sas.Manage) {
		g.Configure, g.Write, g.Read = all, all, all
	}
	return g
}

// rightsOf is the reverse.
func rightsOf(g auth.Grant) (rights []sas.Right) {
	for _, one := range [...]struct {
		right sas.Right
		by    string
	}{{sas.Manage, g.Configure}, {sas.Send, g.Write}, {sas.Listen, g.Read}} {
		if one.by != "" {
			rights = append(rights, one.right)
		}
	}
	return rights
}

// isFor reports whether a key with this grant may belong to the queue or topic with that path. Users of keys are named
// in lower case, but queues whose names differ only in case are different queues (SBE-5): the grant names the right one.
func isFor(g auth.Grant, path string) bool {
	only := "^" + regexp.QuoteMeta(path)
	for _, by := range [...]string{g.Configure, g.Write, g.Read} {
		if len(by) >= len(only) && by[:len(only)] != only && strings.EqualFold(by[:len(only)], only) {
			return false
		}
	}
	return true
}

// mayKeys checks that the user has all rights that keys of an entity could have.
func (m *Manager) mayKeys(d *entity.Description) error {
	if m.User == nil {
		return nil
	}
	kind := auth.Queue
	if d.Kind == entity.Topic {
		kind = auth.Exchange
	}
	for _, p := range [...]auth.Permission{auth.Configure, auth.Write, auth.Read} {
		if err := m.Users.Check(*m.User, m.VHost, auth.Resource{Kind: kind, Name: d.Path()}, p); err != nil {
			return err
		}
	}
	return nil
}

// keys returns the keys of entities by path in lower case.
func (m *Manager) keys() map[string][]Key {
	if m.Keys == nil {
		return nil
	}
	all := map[string][]Key{}
	for _, g := range m.Keys.Grants("", m.VHost) {
		at := strings.LastIndexByte(g.User, '/')
		if at < 0 {
			continue
		}
		if a, _ := m.Keys.Account(g.User); slices.Contains(a.Tags, entityTag) {
			path := g.User[:at]
			all[path] = append(all[path], Key{Name: g.User[at+1:], Rights: rightsOf(g), Keys: a.Keys, grant: g})
		}
	}
	return all
}

// ofPath returns the keys of the entity with that path.
func ofPath(keys map[string][]Key, path string) []Key {
	return slices.DeleteFunc(slices.Clone(keys[sas.Path(path)]), func(k Key) bool { return !isFor(k.grant, path) })
}

// show sets the keys of entities if the user may see them: all or none.
func (m *Manager) show(all []Entity) []Entity {
	keys := m.keys()
	for i := range all {
		e := &all[i]
		if its := ofPath(keys, e.Path()); len(its) > 0 && e.Kind != entity.Subscription && m.mayKeys(&e.Description) == nil {
			e.Keys = its
		}
	}
	return all
}

// CheckKeys checks new keys of an entity. Errors: ErrInvalid, refusals of AMQP.
func (m *Manager) CheckKeys(d *entity.Description, keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > maxKeys {
		return invalidf("an entity may have at most %d authorization rules", maxKeys)
	}
	names := map[string]bool{}
	for i := range keys {
		k := &keys[i]
		_, _, _, err := sas.Permissions(k.Rights)
		user, there := m.Keys.Account(sas.UserOf(d.Path(), k.Name))
		switch {
		case !keyName.MatchString(k.Name):
			return invalidf("the KeyName %.20q must consist of 1 to 128 letters, digits and ._-", k.Name)
		case names[k.Name]:
			return invalidf("the KeyName %q is used twice", k.Name)
		case err != nil:
			return invalid(err)
		case there && (!slices.Contains(user.Tags, entityTag) || slices.ContainsFunc(m.Keys.Grants(user.Name, m.VHost), func(g auth.Grant) bool { return !isFor(g, d.Path()) })):
			return invalidf("there is another user %q", user.Name)
		}
		k.Primary, k.Secondary = orNew(k.Primary, user.Keys.Primary), orNew(k.Secondary, user.Keys.Secondary)
		if err := k.Keys.Validate(); err != nil {
			return invalid(err)
		}
		names[k.Name] = true
	}
	return m.mayKeys(d)
}

// orNew returns the first key that is set, or a random one.
func orNew(given, before string) string {
	switch {
	case given != "":
		return given
	case before != "":
		return before
	}
	return sas.NewKey()
}

// SetKeys replaces the keys of an entity by these, which were checked. If the user may not see keys, they are
// unchanged.
func (m *Manager) SetKeys(ctx context.Context, d *entity.Description, keys []Key) error {
	if m.Keys == nil || d.Kind == entity.Subscription || len(keys) == 0 && m.mayKeys(d) != nil {
		return nil
	}
	for _, k := range keys {
		name := sas.UserOf(d.Path(), k.Name)
		var err error
		if _, there := m.Keys.Account(name); there {
			err = m.Keys.SetAccessKeys(name, k.Keys)
		} else {
			_, err = m.Keys.PutAccount(auth.Account{Name: name, Keys: k.Keys, Tags: []string{entityTag}})
		}
		if err == nil {
			g := grantOf(d, k.Rights)
			g.User, g.VHost = name, m.VHost
			_, err = m.Keys.PutGrant(g)
		}
		if err != nil {
			return err
		}
	}
	return m.dropKeys(ctx, d.Path(), keys)
}

// dropKeys deletes the keys of an entity except these.
func (m *Manager) dropKeys(ctx context.Context, path string, but []Key) error {
	for _, k := range ofPath(m.keys(), path) {
		if !slices.ContainsFunc(but, func(o Key) bool { return o.Name == k.Name }) {
			if _, err := m.Broker.DeleteUser(ctx, sas.UserOf(path, k.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}
