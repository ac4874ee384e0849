package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"candlemark/internal/auth"
)

// rule says why the user of a request may not make it, nil if it may.
type rule func(a *api, r *request) error

// anybody who may use the API at all. Lists show what the user may see.
func anybody(*api, *request) error { return nil }

// visitor may open the virtual host (POL-15).
func visitor(a *api, r *request) error {
	if !a.sees(r.user, r.vhost) {
		return unauthorised("User not authorised to access virtual host")
	}
	return nil
}

// in is for what is only there if the virtual host of the path is.
func in(allowed rule) rule { return inOr(allowed, errNotFound) }

// into is for what changes something in the virtual host of the path.
func into(allowed rule) rule { return inOr(allowed, errNoVHost) }

func inOr(allowed rule, otherwise error) rule {
	return func(a *api, r *request) error {
		if err := allowed(a, r); err != nil {
			return err
		}
		return a.exists(r, otherwise)
	}
}

// exists wants the virtual host of the path.
func (a *api) exists(r *request, otherwise error) error {
	names, err := a.broker.VHosts(r.Context())
	if err == nil && !slices.Contains(names, r.vhost) {
		err = otherwise
	}
	return err
}

var (
	errNotAdministrator = unauthorised("Not administrator user")
	errNoVHost          = nonexistent("vhost_not_found")
	errNotAuthorised    = unauthorised("User not authorised to access object") // of somebody else
)

// changer may change settings of that kind, in the virtual host if the path names
// one (POL-15).
func changer(s auth.Setting) rule {
	return func(a *api, r *request) error {
		administers := r.user.HasTag("administrator")
		switch {
		case !r.user.MayChange(s) && s != auth.Policies:
			return errNotAdministrator
		case !r.user.MayChange(s), !administers && r.vhost != "" && a.users.VHostAccess(r.user, r.vhost) != nil:
			return errNotAuthorised
		}
		return nil
	}
}

// policymaker may set policies.
var policymaker = changer(auth.Policies)

// parameterChanger may change the parameter that the path names. Who may change some
// is told which do not exist.
func parameterChanger(a *api, r *request) error {
	s := auth.Setting(r.part("component"))
	if s == auth.OperatorPolicies || s == auth.VHostLimits {
		return changer(s)(a, r)
	}
	return policymaker(a, r)
}

// monitor may see what belongs to others.
func monitor(_ *api, r *request) error {
	if !monitors(r) {
		return unauthorised("Not monitor user")
	}
	return nil
}

// administrator may do everything.
func administrator(_ *api, r *request) error {
	if !r.user.HasTag("administrator") {
		return errNotAdministrator
	}
	return nil
}

// monitors tells whether the user may see what others have.
func monitors(r *request) bool { return r.user.HasTag("administrator") || r.user.HasTag("monitoring") }

// owns tells whether the user may see what belongs to a connection.
func owns(r *request, c *Connection) bool {
	return monitors(r) || c != nil && c.User == r.user.Name
}

// sees tells whether the user may know what is in the virtual host.
func (a *api) sees(user auth.User, vhost string) bool {
	return user.HasTag("administrator") || user.HasTag("monitoring") || a.users.VHostAccess(user, vhost) == nil
}

// permitted says whether the user has a permission in the virtual host of the path. It
// is asked before a body is read; who carries the request out asks again.
func (a *api) permitted(r *request, kind auth.Kind, name string, perm auth.Permission) error {
	if err := a.users.VHostAccess(r.user, r.vhost); err != nil {
		return err
	}
	return a.users.Check(r.user, r.vhost, auth.Resource{Kind: kind, Name: name}, perm)
}

// managers are the tags of which a user of the API has one.
var managers = []string{"administrator", "monitoring", "policymaker", "management"}

// request is one request of a user who may make it.
type request struct {
	*http.Request
	w           http.ResponseWriter
	user        auth.User
	vhost, name string // from the path, "" if it has none
	room        *room
	held        int64 // bytes of it
}

// part is a part of the path, "" if it has none of that name.
func (r *request) part(name string) string {
	part, _ := url.PathUnescape(r.PathValue(name)) // it was parsed before
	return part
}

// guard lets those through who are known and whom the rule allows.
func (a *api) guard(allowed rule, handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := &request{Request: plain, w: w, room: &a.room}
		defer func() { r.room.give(r.user.Name, r.held) }()
		v, err := a.call(r, allowed, handle)
		a.respond(r, v, err)
	})
}

// call has a request handled, with a bound on the time that the broker has to answer.
func (a *api) call(r *request, allowed rule, handle handler) (any, error) {
	if err := a.enter(r); err != nil {
		return nil, err
	}
	ctx, cancel := a.broker.WithTimeout(r.Context(), patience)
	defer cancel()
	r.Request = r.WithContext(ctx)
	if err := allowed(a, r); err != nil {
		return nil, err
	}
	return handle(r)
}

// enter finds out who asks, and for what.
func (a *api) enter(r *request) (err error) {
	if r.user, err = a.login(r.Request); err != nil {
		if errors.Is(err, auth.ErrThrottled) { // which is logged where it is counted
			r.w.Header().Set("Retry-After", "5")
			return refuse(http.StatusTooManyRequests, "too_many_requests", err.Error())
		}
		if r.Header.Get("Authorization") != "" {
			a.log.Warn().Err(err).Str("peer", r.RemoteAddr).Msg("HTTP access denied")
		}
		if login := (*auth.LoginError)(nil); errors.As(err, &login) && login.Remote {
			return unauthorised("User can only log in via localhost")
		}
		r.w.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
		return refuse(http.StatusUnauthorized, "not_authorized", "Not_Authorized")
	}
	if !slices.ContainsFunc(managers, r.user.HasTag) {
		return unauthorised("Not management user")
	}
	a.sockets.works(r.Context())
	r.vhost, r.name = r.part("vhost"), r.part("name")
	return nil
}

// login checks HTTP basic authentication as a login with SASL PLAIN.
func (a *api) login(r *http.Request) (auth.User, error) {
	name, password, ok := r.BasicAuth()
	if !ok {
		return auth.User{}, auth.ErrRefused
	}
	// What is not an address counts as far away.
	peer := auth.Peer{Addr: &net.TCPAddr{}, Gone: r.Context().Done()}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer.Addr = net.TCPAddrFromAddrPort(at)
	}
	return a.users.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), peer)
}
