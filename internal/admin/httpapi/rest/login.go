package rest

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/site"
)

// managers are the tags that permit using the API.
var managers = []string{"administrator", "monitoring", "policymaker", "management"}

// enter authenticates the user and resolves the virtual host of the request.
func (r *Request) enter() (err error) {
	if r.User, err = r.login(); err != nil {
		if refused := (*refusal)(nil); errors.As(err, &refused) {
			return err
		}
		if errors.Is(err, auth.ErrThrottled) { // logged where it is counted
			r.W.Header().Set("Retry-After", "5")
			return Refuse(http.StatusTooManyRequests, "too_many_requests", err.Error())
		}
		if r.Header.Get("Authorization") != "" {
			r.log.Warn().Err(err).Str("peer", r.RemoteAddr).Msg("HTTP access denied")
		}
		if login := (*auth.LoginError)(nil); errors.As(err, &login) && login.Remote {
			return Unauthorised("User can only log in via localhost")
		}
		if !ofPages(r.Header) { // or the browser would show its own login dialog
			r.W.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
		}
		return Refuse(http.StatusUnauthorized, "not_authorized", "Not_Authorized")
	}
	if !slices.ContainsFunc(managers, r.User.HasTag) {
		return Unauthorised("Not management user")
	}
	r.Busy(r.Context())
	r.VHost, r.Name = r.Part("vhost"), r.Part("name")
	return nil
}

// LogInWithForm logs in with the username and password of a form, on a route without other authentication.
func (r *Request) LogInWithForm() error {
	if _, err := r.readLogin(); err != nil {
		return err
	}
	return r.enter()
}

// readLogin reads such a form, which replaces any other authentication of the request, and returns the name in it.
func (r *Request) readLogin() (name string, err error) {
	text, err := r.text(maxForm, decodedForm)
	if err != nil {
		return "", err
	}
	form, _ := url.ParseQuery(string(text)) // an invalid form has no name in it
	r.Header.Del("Authorization")
	r.Header.Del("Cookie") // a session cookie does not count here
	if form.Has("username") {
		r.SetBasicAuth(form.Get("username"), form.Get("password"))
	}
	return form.Get("username"), nil
}

// login checks HTTP basic authentication as a login with SASL PLAIN, or finds the session of the request.
func (r *Request) login() (auth.User, error) {
	name, password, ok := r.BasicAuth()
	if !ok {
		if r.Header.Get("Authorization") != "" {
			return auth.User{}, auth.ErrRefused
		}
		return r.resume()
	}
	r.admitted = r.Users.Login(name) // before the password is checked: it may change during the check
	return r.Users.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), peerOf(r.Request))
}

// peerOf returns the origin of a request. Anything but an IP address counts as remote.
func peerOf(r *http.Request) auth.Peer {
	peer := auth.Peer{HTTP: true, Elsewhere: site.Elsewhere(r.Context()), Addr: &net.TCPAddr{}, Gone: r.Context().Done()}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer.Addr = net.TCPAddrFromAddrPort(at)
	}
	return peer
}
