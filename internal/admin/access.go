package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"candlemark/internal/auth"
)

// rule says why user may not ask for something in vhost, "" if it may. vhost is
// "" when the path names none.
type rule func(a *api, user auth.User, vhost string) string

// anybody who may use the API at all. Lists show what the user may see.
func anybody(*api, auth.User, string) string { return "" }

// visitor may open the virtual host (POL-15).
func visitor(a *api, user auth.User, vhost string) string {
	if !a.sees(user, vhost) {
		return "User not authorised to access virtual host"
	}
	return ""
}

// policymaker may set policies in the virtual host (POL-15).
func policymaker(a *api, user auth.User, vhost string) string {
	if user.HasTag("administrator") || user.HasTag("policymaker") && a.users.VHostAccess(user, vhost) == nil {
		return ""
	}
	return "User not authorised to access object"
}

// monitor may see what belongs to others.
func monitor(_ *api, user auth.User, _ string) string {
	if user.HasTag("administrator") || user.HasTag("monitoring") {
		return ""
	}
	return "Not monitor user"
}

// administrator may do everything.
func administrator(_ *api, user auth.User, _ string) string {
	if user.HasTag("administrator") {
		return ""
	}
	return "Not administrator user"
}

// sees tells whether the user may know what is in the virtual host.
func (a *api) sees(user auth.User, vhost string) bool {
	return user.HasTag("administrator") || user.HasTag("monitoring") || a.users.VHostAccess(user, vhost) == nil
}

// managers are the tags of which a user of the API has one.
var managers = []string{"administrator", "monitoring", "policymaker", "management"}

// request is one request of a user who may make it.
type request struct {
	*http.Request
	w           http.ResponseWriter
	user        auth.User
	vhost, name string // from the path, "" if it has none
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
		r := &request{Request: plain, w: w}
		var err error
		if r.user, err = a.login(plain); err != nil {
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
		// The path was parsed before: its escapes are right.
		r.vhost, _ = url.PathUnescape(plain.PathValue("vhost"))
		r.name, _ = url.PathUnescape(plain.PathValue("name"))
		if reason := allowed(a, r.user, r.vhost); reason != "" {
			fail(w, http.StatusUnauthorized, "not_authorised", reason)
			return
		}
		ctx, cancel := context.WithTimeout(plain.Context(), patience)
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
	peer := auth.Peer{Addr: &net.TCPAddr{}}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer.Addr = net.TCPAddrFromAddrPort(at)
	}
	return a.users.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), peer)
}
