package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"candlemark/internal/auth"
	"candlemark/policies"
)

// The JSON forms of permissions.
type (
	grantItem struct {
		User      string `json:"user"`
		VHost     string `json:"vhost"`
		Configure string `json:"configure"`
		Write     string `json:"write"`
		Read      string `json:"read"`
	}
	topicItem struct {
		User     string `json:"user"`
		VHost    string `json:"vhost"`
		Exchange string `json:"exchange"`
		Write    string `json:"write"`
		Read     string `json:"read"`
	}
)

func (a *api) permissionPaths(mux *http.ServeMux) {
	get := func(path string, handle func(*request)) {
		mux.Handle(path, methods{"GET": a.guard(administrator, handle)})
	}
	get("/api/permissions", a.grants)
	get("/api/users/{name}/permissions", a.ofUser(a.grants))
	get("/api/vhosts/{vhost}/permissions", a.ofVHost(a.grants))
	mux.Handle("/api/permissions/{vhost}/{name}", methods{
		"GET":    a.guard(administrator, a.grant),
		"PUT":    a.guard(administrator, a.putGrant),
		"DELETE": a.guard(administrator, a.deleteGrant),
	})
	get("/api/topic-permissions", a.topicGrants)
	get("/api/users/{name}/topic-permissions", a.ofUser(a.topicGrants))
	get("/api/vhosts/{vhost}/topic-permissions", a.ofVHost(a.topicGrants))
	for _, path := range []string{"/api/topic-permissions/{vhost}/{name}", "/api/topic-permissions/{vhost}/{name}/{exchange}"} {
		mux.Handle(path, methods{
			"GET":    a.guard(administrator, a.heldTopics(a.topicGrants)),
			"PUT":    a.guard(administrator, a.putTopicGrant),
			"DELETE": a.guard(administrator, a.heldTopics(a.deleteTopicGrants)),
		})
	}
}

// ofUser and ofVHost are for what is only there if the user, or the virtual
// host, of the path is.
func (a *api) ofUser(handle func(*request)) func(*request) {
	return func(r *request) {
		if _, known := a.users.Account(r.name); !known {
			notFound(r.w, r.Request)
			return
		}
		handle(r)
	}
}

func (a *api) ofVHost(handle func(*request)) func(*request) {
	return func(r *request) {
		if a.exists(r) {
			handle(r)
		}
	}
}

// grants lists those of the user and virtual host of the path.
func (a *api) grants(r *request) {
	items := []grantItem{}
	for _, g := range a.users.Grants(r.name, r.vhost) {
		items = append(items, grantItem(g))
	}
	list(r, items, func(i *grantItem) string { return i.User })
}

func (a *api) grant(r *request) {
	g, ok := a.users.Grant(r.name, r.vhost)
	if !ok {
		notFound(r.w, r.Request)
		return
	}
	one(r, grantItem(g))
}

func (a *api) putGrant(r *request) {
	body, ok := r.granting(a)
	if !ok {
		return
	}
	g, err := parseGrant(r.name, r.vhost, body)
	if bad(r, err) {
		return
	}
	created, err := a.users.PutGrant(g)
	if !bad(r, grantFailure(err)) {
		r.stored(created)
	}
}

// granting is the body of a request that gives something to the user of the path
// in the virtual host of the path.
func (r *request) granting(a *api) (map[string]json.RawMessage, bool) {
	_, user := a.users.Account(r.name)
	_, vhost := a.users.VHost(r.vhost)
	if !user || !vhost {
		return nil, !bad(r, errNobodyThere)
	}
	return r.body(maxBody)
}

const errNobodyThere = complaint("vhost_or_user_not_found")

// grantFailure says why nothing was given, nil if it was.
func grantFailure(err error) error {
	var invalid *policies.ExpressionError
	switch {
	case errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrNoVHost):
		return errNobodyThere
	case errors.As(err, &invalid):
		return tupleOf("invalid_regexp", invalid.Source, []any{invalid.Message, invalid.At})
	}
	return err
}

func parseGrant(user, vhost string, body map[string]json.RawMessage) (auth.Grant, error) {
	g := auth.Grant{User: user, VHost: vhost}
	return g, texts(body, map[string]*string{"configure": &g.Configure, "write": &g.Write, "read": &g.Read}, "configure", "write", "read")
}

// texts reads those keys, all of which must be there, into what they go to.
func texts(body map[string]json.RawMessage, into map[string]*string, keys ...string) error {
	if err := missing(body, keys...); err != nil {
		return err
	}
	for _, key := range keys {
		var err error
		if *into[key], err = text(body, key); err != nil {
			return err
		}
	}
	return nil
}

func (a *api) deleteGrant(r *request) {
	if _, ok := a.users.Grant(r.name, r.vhost); !ok {
		notFound(r.w, r.Request)
		return
	}
	if err := a.users.DeleteGrant(r.name, r.vhost); err != nil {
		a.refuse(r, err)
		return
	}
	r.w.WriteHeader(http.StatusNoContent)
}

// topicGrants lists those of the user and virtual host of the path. An exchange
// in it means nothing, as in RabbitMQ.
func (a *api) topicGrants(r *request) {
	items := []topicItem{}
	for _, g := range a.users.TopicGrants(r.name, r.vhost) {
		items = append(items, topicItem(g))
	}
	list(r, items, func(i *topicItem) string { return i.User })
}

// heldTopics is for what is only there if the user holds topic permissions in
// the virtual host.
func (a *api) heldTopics(handle func(*request)) func(*request) {
	return func(r *request) {
		if len(a.users.TopicGrants(r.name, r.vhost)) == 0 {
			notFound(r.w, r.Request)
			return
		}
		handle(r)
	}
}

func (a *api) putTopicGrant(r *request) {
	body, ok := r.granting(a)
	if !ok {
		return
	}
	g := auth.TopicGrant{User: r.name, VHost: r.vhost}
	if bad(r, texts(body, map[string]*string{"exchange": &g.Exchange, "write": &g.Write, "read": &g.Read}, "exchange", "write", "read")) {
		return
	}
	created, err := a.users.PutTopicGrant(g)
	if !bad(r, grantFailure(err)) {
		// A user who holds some in the virtual host has this resource.
		r.stored(created && len(a.users.TopicGrants(r.name, r.vhost)) == 1)
	}
}

// deleteTopicGrants deletes those for the exchange in the path, without one all.
func (a *api) deleteTopicGrants(r *request) {
	exchange := r.part("exchange")
	all := exchange == ""
	if exchange == "amq.default" {
		exchange = ""
	}
	if err := a.users.DeleteTopicGrants(r.name, r.vhost, exchange, all); err != nil {
		a.refuse(r, err)
		return
	}
	r.w.WriteHeader(http.StatusNoContent)
}
