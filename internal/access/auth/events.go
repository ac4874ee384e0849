package auth

import (
	"bytes"
	"maps"
	"slices"

	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// publish publishes the events of a change. They contain no passwords or hashes.
func (u *Users) publish(before *snapshot, c Change) {
	t := &changePublisher{u, before, c.Deleted}
	for _, v := range c.Put {
		switch v := v.(type) {
		case Account:
			t.account(v)
		case VHost:
			t.vhost(v)
		case Grant:
			if was := before.grant(v); was != v {
				t.publish("permission.created", v.VHost, grantFields(v), shown(grantFields(was)))
			}
		case TopicGrant:
			if was := before.topicGrant(v); was != v {
				t.publish("topic.permission.created", v.VHost, topicFields(v), shown(topicFields(was)))
			}
		}
	}
	for _, v := range c.Deleted {
		t.deleted(v)
	}
}

// changePublisher publishes the events of one change.
type changePublisher struct {
	users  *Users
	before *snapshot
	gone   []any
}

func (t *changePublisher) publish(name, vhost string, fields protocol.Table, before any) {
	by := t.users.by
	t.users.events.Publish(by.Asked(), func() *events.Event {
		return &events.Event{Name: name, VHost: vhost, By: by, Fields: fields, Before: before}
	})
}

// account publishes how a user differs from the one before.
func (t *changePublisher) account(a Account) {
	name := protocol.Field{Key: "name", Value: a.Name}
	var was Account
	known := t.before.users[a.Name]
	if known == nil {
		t.publish("user.created", "", protocol.Table{name}, nil)
	} else {
		was = known.account
	}
	switch {
	case known == nil || bytes.Equal(was.Hash, a.Hash):
	case len(a.Hash) == 0:
		t.publish("user.password.cleared", "", protocol.Table{name}, nil)
	default:
		t.publish("user.password.changed", "", protocol.Table{name}, nil)
	}
	if was.Keys != a.Keys {
		t.publish("user.access.keys.changed", "", protocol.Table{name}, nil)
	}
	if !slices.Equal(was.Tags, a.Tags) {
		var before any
		if known != nil {
			before = was.Tags
		}
		t.publish("user.tags.set", "", protocol.Table{name, {Key: "tags", Value: texts(a.Tags)}}, before)
	}
	t.limits("user.limits", "", protocol.Field{Key: "username", Value: a.Name}, was.Limits, a.Limits)
}

// vhost publishes how a virtual host differs from the one before.
func (t *changePublisher) vhost(v VHost) {
	was, known := t.before.vhosts[v.Name]
	switch {
	case !known:
		t.publish("vhost.created", v.Name, vhostFields(v), nil)
	case was.Description != v.Description || !slices.Equal(was.Tags, v.Tags) || was.DefaultQueueType != v.DefaultQueueType || was.Tracing != v.Tracing:
		t.publish("vhost.updated", v.Name, vhostFields(v), shown(vhostFields(was)))
	}
	t.limits("vhost.limits", v.Name, protocol.Field{Key: "vhost", Value: v.Name}, was.Limits, v.Limits)
}

func (t *changePublisher) limits(what, vhost string, of protocol.Field, before, after Limits) {
	if maps.Equal(before, after) {
		return
	}
	name, fields := what+".set", protocol.Table{{Key: "name", Value: "limits"}, of}
	if len(after) == 0 {
		name = what + ".cleared"
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		fields = append(fields, protocol.Field{Key: key, Value: after[key]})
	}
	if len(before) == 0 {
		t.publish(name, vhost, fields, nil)
		return
	}
	t.publish(name, vhost, fields, before)
}

// deleted publishes the events of deleted objects. The permissions deleted with a user or a virtual host have no
// events of their own.
func (t *changePublisher) deleted(v any) {
	with := func(user, vhost string) bool {
		return slices.ContainsFunc(t.gone, func(v any) bool {
			a, isUser := v.(Account)
			h, isVHost := v.(VHost)
			return isUser && a.Name == user || isVHost && h.Name == vhost
		})
	}
	switch v := v.(type) {
	case Account:
		t.publish("user.deleted", "", protocol.Table{{Key: "name", Value: v.Name}}, nil)
	case VHost:
		t.publish("vhost.deleted", v.Name, protocol.Table{{Key: "name", Value: v.Name}}, nil)
	case Grant:
		if !with(v.User, v.VHost) {
			t.publish("permission.deleted", v.VHost, grantFields(v)[:2], shown(grantFields(t.before.grant(v))))
		}
	case TopicGrant:
		if !with(v.User, v.VHost) {
			t.publish("topic.permission.deleted", v.VHost, topicFields(v)[:3], shown(topicFields(t.before.topicGrant(v))))
		}
	}
}

func grantFields(g Grant) protocol.Table {
	return protocol.Table{
		{Key: "user", Value: g.User},
		{Key: "vhost", Value: g.VHost},
		{Key: "configure", Value: g.Configure},
		{Key: "write", Value: g.Write},
		{Key: "read", Value: g.Read},
	}
}

func topicFields(g TopicGrant) protocol.Table {
	return protocol.Table{
		{Key: "user", Value: g.User},
		{Key: "vhost", Value: g.VHost},
		{Key: "exchange", Value: g.Exchange},
		{Key: "write", Value: g.Write},
		{Key: "read", Value: g.Read},
	}
}

func vhostFields(v VHost) protocol.Table {
	return protocol.Table{
		{Key: "name", Value: v.Name},
		{Key: "description", Value: v.Description},
		{Key: "tags", Value: texts(v.Tags)},
		{Key: "default_queue_type", Value: v.DefaultQueueType},
		{Key: "tracing", Value: v.Tracing},
	}
}

// grant returns the user's permissions in the virtual host, the zero value if there are none.
func (s *snapshot) grant(of Grant) (g Grant) {
	if u := s.users[of.User]; u != nil && u.grants[of.VHost] != nil {
		g = u.grants[of.VHost].Grant
	}
	return g
}

func (s *snapshot) topicGrant(of TopicGrant) (g TopicGrant) {
	if u := s.users[of.User]; u != nil && u.topics[of.VHost][of.Exchange] != nil {
		g = u.topics[of.VHost][of.Exchange].TopicGrant
	}
	return g
}

// shown returns fields, which must not contain tables, in the form of the log; nil if the object did not exist.
func shown(t protocol.Table) any {
	if t[0].Value == "" {
		return nil
	}
	m := make(map[string]any, len(t))
	for _, f := range t {
		m[f.Key] = f.Value
	}
	return m
}

func texts(list []string) protocol.Array {
	a := make(protocol.Array, len(list))
	for i := range list {
		a[i] = list[i]
	}
	return a
}
