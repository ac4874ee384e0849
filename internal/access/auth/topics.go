package auth

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"candlemark/policies/pattern"
)

// TopicGrant limits the routing keys that a user may use at a topic exchange. A user without one for an exchange may
// use all keys there. {username} and {vhost} in the expressions stand for the user's name and virtual host.
type TopicGrant struct {
	User, VHost, Exchange string
	Write, Read           string
}

// topicGrant is a TopicGrant with compiled expressions.
type topicGrant struct {
	TopicGrant
	write, read *pattern.Pattern // expanded
}

// CheckTopicGrant returns the *pattern.Error of an expression that PutTopicGrant would refuse, nil for none.
func (u *Users) CheckTopicGrant(g TopicGrant) error {
	_, err := u.compileTopic(g)
	return err
}

// PutTopicGrant limits a user at an exchange, which need not exist. Errors:
// ErrNoUser, ErrNoVHost, *pattern.Error.
func (u *Users) PutTopicGrant(g TopicGrant) (created bool, err error) {
	compiled, err := u.compileTopic(g)
	if err != nil {
		return false, err
	}
	err = u.change(func(next *snapshot, c *Change) error {
		x, err := next.holder(g.User, g.VHost)
		if err != nil {
			return err
		}
		exchanges := maps.Clone(x.topics[g.VHost])
		if exchanges == nil {
			exchanges = map[string]*topicGrant{}
		}
		created = exchanges[g.Exchange] == nil
		exchanges[g.Exchange] = compiled
		x.setTopics(g.VHost, exchanges)
		next.put(x)
		c.Put = append(c.Put, g)
		return nil
	})
	return created, err
}

func (u *Users) compileTopic(g TopicGrant) (compiled *topicGrant, err error) {
	compiled = &topicGrant{TopicGrant: g}
	if compiled.write, err = u.topicExpression(g, g.Write); err != nil {
		return nil, err
	}
	if compiled.read, err = u.topicExpression(g, g.Read); err != nil {
		return nil, err
	}
	return compiled, nil
}

// topicExpression compiles an expression both as it is written, so that an error shows it unchanged, and with the
// user's names inserted.
func (u *Users) topicExpression(g TopicGrant, source string) (*pattern.Pattern, error) {
	e, err := u.expression(source)
	if err != nil || !strings.Contains(source, "{") {
		return e, err
	}
	return u.expression(strings.NewReplacer("{username}", g.User, "{vhost}", g.VHost).Replace(source))
}

// DeleteTopicGrants removes a user's limits, if any, in a virtual host: at one exchange, or with all at every exchange.
// Errors: ErrNoUser, ErrNoVHost.
func (u *Users) DeleteTopicGrants(name, vhost, exchange string, all bool) error {
	return u.change(func(next *snapshot, c *Change) error {
		x, err := next.holder(name, vhost)
		if err != nil {
			return err
		}
		exchanges := maps.Clone(x.topics[vhost])
		for of, g := range exchanges {
			if all || of == exchange {
				delete(exchanges, of)
				c.Deleted = append(c.Deleted, g.TopicGrant)
			}
		}
		x.setTopics(vhost, exchanges)
		next.put(x)
		return nil
	})
}

func (x *user) setTopics(vhost string, exchanges map[string]*topicGrant) {
	x.topics = maps.Clone(x.topics)
	switch {
	case len(exchanges) == 0:
		delete(x.topics, vhost)
	case x.topics == nil:
		x.topics = map[string]map[string]*topicGrant{vhost: exchanges}
	default:
		x.topics[vhost] = exchanges
	}
}

// TopicGrants returns the grants of a user, or of all users for "", in a virtual host, or in all for "", by vhost, user
// and exchange.
func (u *Users) TopicGrants(name, vhost string) []TopicGrant {
	all := []TopicGrant{}
	for _, x := range u.now.Load().users {
		for _, exchanges := range x.topics {
			for _, g := range exchanges {
				if (name == "" || name == g.User) && (vhost == "" || vhost == g.VHost) {
					all = append(all, g.TopicGrant)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b TopicGrant) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(a.User, b.User), cmp.Compare(a.Exchange, b.Exchange))
	})
	return all
}

// HasTopics implements Permissions.
func (u *Users) HasTopics(who User, vhost, exchange string) bool {
	return u.topicGrant(who, vhost, exchange) != nil
}

// CheckTopic implements Permissions.
func (u *Users) CheckTopic(who User, vhost, exchange, key string, perm Permission) error {
	g := u.topicGrant(who, vhost, exchange)
	if g == nil || perm == Write && g.write.Match(key) || perm == Read && g.read.Match(key) {
		return nil
	}
	return RefuseTopic(who, vhost, exchange, key, perm)
}

func (u *Users) topicGrant(who User, vhost, exchange string) *topicGrant {
	if x := u.now.Load().users[who.Name]; x != nil {
		return x.topics[vhost][exchange]
	}
	return nil
}
