package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"candlemark/internal/auth"

	"github.com/rs/zerolog"
)

// How long an answer may take.
const (
	patience = 30 * time.Second // with the broker, of the time that it runs
	writing  = 30 * time.Second // an answer
)

// api holds the things that all requests to one broker share.
type api struct {
	broker Broker
	users  *auth.Users
	node   string // its name
	rates  rates
	log    zerolog.Logger
	room   room
	busy   func(context.Context) // is told of a request of somebody who has logged in
}

// newAPI makes the API of a broker.
func newAPI(broker Broker, users *auth.Users, log zerolog.Logger) *api {
	return &api{broker: broker, users: users, log: log, node: broker.NodeName(), busy: func(context.Context) {}}
}

// route says what a method of a path does, and for whom.
type route struct {
	method, path string
	allowed      rule
	handle       handler
}

// get, put, post and remove are routes for the methods GET, PUT, POST and DELETE.
func get(path string, allowed rule, handle handler) route { return route{"GET", path, allowed, handle} }

func put(path string, allowed rule, handle handler) route { return route{"PUT", path, allowed, handle} }

func post(path string, allowed rule, handle handler) route {
	return route{"POST", path, allowed, handle}
}

func remove(path string, allowed rule, handle handler) route {
	return route{"DELETE", path, allowed, handle}
}

// request is one request of a user who may make it.
type request struct {
	*http.Request
	*api
	w           http.ResponseWriter
	user        auth.User
	vhost, name string // from the path, "" if it has none
	held        int64  // bytes of room
}

// part is a part of the path, "" if it has none of that name.
func (r *request) part(name string) string {
	part, _ := url.PathUnescape(r.PathValue(name)) // it was parsed before
	return part
}

// serve makes the handler of a route, which lets those through who are known and whom its rule allows.
func (a *api) serve(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := &request{Request: plain, api: a, w: w}
		defer func() { r.room.give(r.user.Name, r.held) }()
		r.respond(r.call(to))
	})
}

// call has a request handled, with a bound on the time that the broker has to answer.
func (r *request) call(to route) (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	ctx, cancel := r.broker.WithTimeout(r.Context(), patience)
	defer cancel()
	r.Request = r.WithContext(ctx)
	if err := to.allowed(r); err != nil {
		return nil, err
	}
	return to.handle(r)
}

// exchangeNamed is the exchange that a part of a path means.
func exchangeNamed(part string) string {
	if part == "amq.default" {
		return ""
	}
	return part
}

// findExchange finds the exchange of the path. In paths the default exchange is
// called amq.default.
func findExchange(r *request) (*Exchange, error) {
	all, err := r.broker.Exchanges(r.Context(), r.vhost)
	name := exchangeNamed(r.name)
	return find(all, err, func(x *Exchange) bool { return x.Name == name && r.vhost != "" })
}
