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

// rule says why the user of a request may not make it, "" if it may.
type rule func(a *api, r *request) string

// anybody who may use the API at all. Lists show what the user may see.
func anybody(*api, *request) string { return "" }

// visitor may open the virtual host (POL-15).
func visitor(a *api, r *request) string {
	if !a.sees(r.user, r.vhost) {
		return "User not authorised to access virtual host"
	}
	return ""
}

// changer may change settings of that kind, in the virtual host if the path names
// one (POL-15).
func changer(s auth.Setting) rule {
	return func(a *api, r *request) string {
		administers := r.user.HasTag("administrator")
		switch {
		case !r.user.MayChange(s) && s != auth.Policies:
			return "Not administrator user"
		case !r.user.MayChange(s), !administers && r.vhost != "" && a.users.VHostAccess(r.user, r.vhost) != nil:
			return "User not authorised to access object"
		}
		return ""
	}
}

// policymaker may set policies.
var policymaker = changer(auth.Policies)

// parameterChanger may change the parameter that the path names. Who may change some
// is told which do not exist.
func parameterChanger(a *api, r *request) string {
	s := auth.Setting(r.part("component"))
	if s == auth.OperatorPolicies || s == auth.VHostLimits {
		return changer(s)(a, r)
	}
	return policymaker(a, r)
}

// monitor may see what belongs to others.
func monitor(_ *api, r *request) string {
	if r.user.HasTag("administrator") || r.user.HasTag("monitoring") {
		return ""
	}
	return "Not monitor user"
}

// administrator may do everything.
func administrator(_ *api, r *request) string {
	if r.user.HasTag("administrator") {
		return ""
	}
	return "Not administrator user"
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

// guard lets those through who are known and whom the rule allows, with a bound
// on the time that the broker has to answer.
func (a *api) guard(allowed rule, handle func(*request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := &request{Request: plain, w: w, room: &a.room}
		defer func() { r.room.give(r.user.Name, r.held) }()
		var err error
		if r.user, err = a.login(plain); err != nil {
			if errors.Is(err, auth.ErrThrottled) { // which is logged where it is counted
				w.Header().Set("Retry-After", "5")
				fail(w, http.StatusTooManyRequests, "too_many_requests", err.Error())
				return
			}
			if plain.Header.Get("Authorization") != "" {
				a.log.Warn().Err(err).Str("peer", plain.RemoteAddr).Msg("HTTP access denied")
			}
			if login := (*auth.LoginError)(nil); errors.As(err, &login) && login.Remote {
				fail(w, http.StatusUnauthorized, "not_authorised", "User can only log in via localhost")
				return
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
			fail(w, http.StatusUnauthorized, "not_authorized", "Not_Authorized")
			return
		}
		if !slices.ContainsFunc(managers, r.user.HasTag) {
			fail(w, http.StatusUnauthorized, "not_authorised", "Not management user")
			return
		}
		a.sockets.works(plain.Context())
		// The path was parsed before: its escapes are right.
		r.vhost, _ = url.PathUnescape(plain.PathValue("vhost"))
		r.name, _ = url.PathUnescape(plain.PathValue("name"))
		if reason := allowed(a, r); reason != "" {
			fail(w, http.StatusUnauthorized, "not_authorised", reason)
			return
		}
		ctx, cancel := a.broker.WithTimeout(plain.Context(), patience)
		defer cancel()
		r.Request = plain.WithContext(ctx)
		handle(r)
	})
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
