package rest

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/session"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Time limits of requests.
const (
	Patience = 30 * time.Second // for the broker to answer, running time
	slow     = 10 * time.Minute // to read and execute requests of Slow routes
	Writing  = 30 * time.Second // to write an answer
)

// API holds the things that all requests to one broker share.
type API struct {
	Broker management.Broker
	Users  *auth.Users
	Node   string // the broker's name
	rates  forms.Rates
	// Streams are the answers that continue while the client listens.
	Streams *Streams
	// Busy is called for each request of an authenticated user.
	Busy   func(context.Context)
	log    zerolog.Logger
	memory memory
	// sessions are the sessions of users who have logged in with a form.
	sessions session.Table
	// lists and imports are the turns of large requests.
	lists, imports gate
	charging       sync.Mutex
}

// New returns the API of a broker, which keeps samples. Close it.
func New(broker management.Broker, users *auth.Users, samples config.Samples, log zerolog.Logger) *API {
	return &API{
		Broker: broker, Users: users, rates: forms.Rates{Samples: samples}, log: log, Node: broker.NodeName(),
		Busy: func(context.Context) {}, Streams: newStreams(),
	}
}

// Close ends streams, and sampling between requests.
func (a *API) Close() {
	a.Streams.End()
	a.rates.Close()
}

// Route is the handler and the access rule of a method of a path: see Get, Put, Post and Delete.
type Route struct {
	Method, Path string
	allowed      Rule // nil: no authentication
	handle       Handler
	slow         bool
	gate         func(*API) *gate // nil: it needs no turn
}

// Get is the route for GET and HEAD of a path.
func Get(path string, allowed Rule, handle Handler) Route {
	return Route{Method: "GET", Path: path, allowed: allowed, handle: handle}
}

// Open is Get without a login: handlers have no user, and must reveal next to nothing.
func Open(path string, handle Handler) Route { return Route{Method: "GET", Path: path, handle: handle} }

// OpenPost is Post without a login: handlers authenticate with the form (LogInWithForm) or reveal next to nothing.
func OpenPost(path string, handle Handler) Route {
	return Route{Method: "POST", Path: path, handle: handle}
}

// OpenDelete is Delete without a login: handlers reveal next to nothing.
func OpenDelete(path string, handle Handler) Route {
	return Route{Method: "DELETE", Path: path, handle: handle}
}

// Put is the route for PUT of a path.
func Put(path string, allowed Rule, handle Handler) Route {
	return Route{Method: "PUT", Path: path, allowed: allowed, handle: handle}
}

// Post is the route for POST of a path.
func Post(path string, allowed Rule, handle Handler) Route {
	return Route{Method: "POST", Path: path, allowed: allowed, handle: handle}
}

// Delete is the route for DELETE of a path.
func Delete(path string, allowed Rule, handle Handler) Route {
	return Route{Method: "DELETE", Path: path, allowed: allowed, handle: handle}
}

// Slow returns the route with a limit of 10 min to read and to execute requests.
func (to Route) Slow() Route {
	to.slow = true
	return to
}

// Request is one request of a user who may make it.
type Request struct {
	*http.Request
	*API
	W           http.ResponseWriter // for headers; the result of the handler is written after them
	Users       *auth.Users         // records changes as the user's
	User        auth.User
	Rates       *forms.Look   // the figures of objects that were seen before
	VHost, Name string        // from the path, "" if it has none
	held        int64         // bytes of memory
	holder      string        // the user who holds them, "" before the login; a login with a form changes User
	token       string        // of the session of the user, "" for none
	admitted    uint64        // auth.Users.Login of the user, from before the password was checked
	plain       *http.Request // as it came
	out         *Output       // nil unless the answer is large
	turn        *gate         // where it has a turn, nil for none
	turnOf      string        // the user whose turn it is
}

// origin returns the user and address of the request.
func (r *Request) origin() *events.Origin {
	by := &events.Origin{User: r.User.Name, Source: r.RemoteAddr, Interface: events.HTTP}
	if r.UserAgent() == events.CommandLineAgent {
		by.Interface = events.CommandLine
	}
	return by
}

// Record logs a change made by the user; before, unless nil, is the old state.
func (r *Request) Record(name, vhost string, fields protocol.Table, before any) {
	by := events.OriginOf(r.Context())
	r.Broker.Events().Publish(by.Asked(), func() *events.Event {
		return &events.Event{Name: name, VHost: vhost, By: by, Fields: fields, Before: before}
	})
}

// EmptySegment stands for an empty segment of a path, which ServeMux does not match. No escaped path contains it.
const EmptySegment = "%-"

// Part returns a part of the path, "" if it is empty or there is none of that name.
func (r *Request) Part(name string) string {
	value := r.PathValue(name)
	if value == EmptySegment {
		return ""
	}
	part, _ := url.PathUnescape(value) // it was parsed before
	return part
}

// Serve returns the handler of a route, which admits authenticated users that its rule allows.
func (a *API) Serve(to Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := &Request{Request: plain, API: a, W: w, Users: a.Users, Rates: a.rates.LookOf(plain.URL.RawQuery), plain: plain}
		defer func() {
			r.memory.give(r.holder, r.held)
			r.collected()
			r.out.Close()
		}()
		r.respond(r.call(to))
	})
}

// call calls the handler, with a limit for the time that the broker has to answer.
func (r *Request) call(to Route) (any, error) {
	if to.allowed != nil {
		if err := r.enter(); err != nil {
			return nil, err
		}
		by := r.origin()
		r.Users, r.Request = r.Users.By(by), r.WithContext(events.WithOrigin(r.Context(), by))
	}
	patience := Patience
	if to.slow {
		patience = slow
	}
	ctx, cancel := r.Broker.WithTimeout(r.Context(), patience)
	defer cancel()
	r.Request = r.WithContext(ctx)
	if to.allowed != nil {
		if err := to.allowed(r); err != nil {
			return nil, err
		}
	}
	if to.gate != nil {
		if err := r.begin(to.gate(r.API)); err != nil {
			return nil, err
		}
	}
	if to.slow {
		_ = http.NewResponseController(r.W).SetReadDeadline(time.Now().Add(slow)) // if it supports deadlines
	}
	return to.handle(r)
}

// ExchangeNamed returns the name of the exchange in a part of a path, where the default exchange is called amq.default.
func ExchangeNamed(part string) string {
	if part == "amq.default" {
		return ""
	}
	return part
}

// FindExchange finds the exchange of the path.
func FindExchange(r *Request) (*management.Exchange, error) {
	x, err := r.Broker.Exchange(r.Context(), r.VHost, ExchangeNamed(r.Name))
	if err == nil && x == nil {
		err = ErrNotFound
	}
	return x, err
}
