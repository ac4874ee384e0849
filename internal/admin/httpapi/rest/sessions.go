package rest

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// ofPagesHeader is a header of every request of the web pages. No other site can send it: the browser would first ask
// the broker for permission, which it does not give.
const ofPagesHeader = "X-Candlemark-Session"

var errForged = Refuse(http.StatusForbidden, "forbidden",
	"a request that changes something and has a session cookie needs the header "+ofPagesHeader)

// ofPages reports whether a request with these headers comes from the web pages.
func ofPages(h http.Header) bool { return h.Get(ofPagesHeader) != "" }

// Session is a logged-in user, with the end of the session.
type Session struct {
	User auth.User
	// Ends is the end of the session unless it is used, in wall ms; 0 for a request with HTTP basic authentication.
	Ends int64
}

// cookieName returns the name of the cookie with the token. Cookies are valid for all ports of a host, which may have
// several brokers.
func cookieName(host string) string {
	const name = "candlemark_session"
	_, port, _ := net.SplitHostPort(host) // without a port there is none
	if number, err := strconv.ParseUint(port, 10, 16); err == nil {
		return name + "_" + strconv.FormatUint(number, 10)
	}
	return name
}

// cookie sets the cookie with the token in the browser, or deletes it if the token is empty.
func (r *Request) cookie(token string) {
	c := &http.Cookie{Name: cookieName(r.Host), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(r.W, c)
}

// now returns the time in which sessions of the web pages end: a test clock does not move it (CLK-4).
func now(b management.Broker) int64 { return b.Clock().Real().Now().Ceil() }

// resume finds the user of the session that the request belongs to.
func (r *Request) resume() (auth.User, error) {
	c, err := r.Cookie(cookieName(r.Host))
	if err != nil {
		return auth.User{}, auth.ErrRefused
	}
	s, found := r.sessions.Use(c.Value, now(r.Broker))
	if !found {
		return auth.User{}, auth.ErrRefused
	}
	user, err := r.Users.Again(s.User, s.Login, peerOf(r.Request))
	if login := (*auth.LoginError)(nil); errors.As(err, &login) && login.Remote {
		return auth.User{}, err // the token has got elsewhere
	}
	if err != nil || !slices.ContainsFunc(managers, user.HasTag) {
		r.sessions.End(c.Value)
		return auth.User{}, auth.ErrRefused
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !ofPages(r.Header) {
		return auth.User{}, errForged
	}
	r.token, r.admitted = c.Value, s.Login
	return user, nil
}

// IsStill reports whether the user of a running request is unchanged: not logged out, the same account with the same
// password and tags (ACC-9).
func (r *Request) IsStill() bool {
	if r.token != "" {
		if _, found := r.sessions.Look(r.token, now(r.Broker)); !found {
			return false
		}
	}
	now, err := r.Users.Again(r.User.Name, r.admitted, peerOf(r.Request))
	return err == nil && slices.Equal(now.Tags, r.User.Tags)
}

// BeginSession logs in with the username and password of a form of the web pages, and sets a cookie with a token. It
// is for a route without other authentication.
func (r *Request) BeginSession() (Session, error) {
	if !ofPages(r.Header) {
		return Session{}, errForged
	}
	before, _ := r.Cookie(cookieName(r.Host))
	name, err := r.readLogin()
	if err != nil {
		return Session{}, err
	}
	login := r.Users.Login(name) // before the password is checked: it may change during the check
	err = r.enter()
	r.publishLogin(name, err)
	if err != nil {
		return Session{}, err
	}
	if before != nil {
		r.sessions.End(before.Value)
	}
	token, s := r.sessions.Begin(r.User.Name, login, now(r.Broker))
	r.cookie(token)
	return Session{r.User, s.Ends()}, nil
}

// ShownSession returns the session of the request. Without a login the error is nil and the user has no name.
func (r *Request) ShownSession() (s Session, err error) {
	if _, err := r.Cookie(cookieName(r.Host)); err != nil && r.Header.Get("Authorization") == "" {
		return s, nil
	}
	if err := r.enter(); err != nil {
		if status, _ := StatusOf(err); status == http.StatusUnauthorized && r.Header.Get("Authorization") == "" {
			r.W.Header().Del("WWW-Authenticate")
			r.cookie("")
			return s, nil
		}
		return s, err
	}
	s.User = r.User
	if kept, found := r.sessions.Look(r.token, now(r.Broker)); found {
		s.Ends = kept.Ends()
	}
	return s, nil
}

// EndSession ends the session of the request, if it has one.
func (r *Request) EndSession() error {
	if !ofPages(r.Header) {
		return errForged
	}
	if c, err := r.Cookie(cookieName(r.Host)); err == nil {
		r.sessions.End(c.Value)
	}
	r.cookie("")
	return nil
}

// publishLogin publishes the event of a login with a form, or of a refused one, as connections over AMQP do.
func (r *Request) publishLogin(name string, refused error) {
	r.Broker.Events().Publish(events.Unrecorded, func() *events.Event {
		by := &events.Origin{User: name, Source: r.RemoteAddr, Interface: events.HTTP}
		fields := protocol.Table{
			{Key: "connection_name", Value: r.RemoteAddr},
			{Key: "protocol", Value: "http"},
			{Key: "auth_mechanism", Value: "PLAIN"},
			{Key: "ssl", Value: r.TLS != nil},
		}
		if refused != nil {
			return &events.Event{Name: "user.authentication.failure", By: by, Fields: append(fields, protocol.Field{Key: "error", Value: refused.Error()})}
		}
		return &events.Event{Name: "user.authentication.success", By: by, Fields: append(fields, protocol.Field{Key: "name", Value: name})}
	})
}
