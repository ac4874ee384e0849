package servicebus

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/atom"
	"candlemark/internal/admin/entityadmin"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/servicebus/entity"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// maxEntries is how many entities a feed has at most.
const maxEntries = 100

// handler serves the API of one virtual host.
type handler struct {
	broker  management.Broker
	users   *auth.Users
	vhost   string
	premium bool
	log     zerolog.Logger
	turns   chan struct{} // one for each request that is being processed
}

// maxTurns is how many requests are processed at a time: most list all exchanges (ACC-12).
const maxTurns = 4

// NewHandler makes the API for the entities of a virtual host. The namespace is of the Premium tier or, if premium is false, of Standard.
func NewHandler(broker management.Broker, users *auth.Users, vhost string, premium bool, log zerolog.Logger) http.Handler {
	return &handler{broker, users, vhost, premium, log, make(chan struct{}, maxTurns)}
}

// request is a request of a user that may manage entities.
type request struct {
	*http.Request
	*entityadmin.Manager
	body    []byte
	premium bool   // the tier
	base    string // the address of the API
	now     int64  // wall ms
}

// answer goes back for a request.
type answer struct {
	status int
	kind   string
	body   []byte
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	if strings.EqualFold(path, "health") && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		reply(w, answer{http.StatusOK, "application/json", []byte(`{"status":"healthy","message":"Service is healthy."}`)})
		return
	}
	ctx, cancel := h.broker.WithTimeout(r.Context(), rest.Patience)
	defer cancel()
	var user auth.User
	err := errBadRequest // no entity has such a name, and tokens are for addresses
	if !strings.Contains(path, "?") && !strings.Contains(path, "://") {
		user, err = h.enter(r, path)
	}
	if err != nil {
		reply(w, h.failed(r, err))
		return
	}
	by := &events.Origin{User: user.Name, Source: r.RemoteAddr, Interface: events.HTTP}
	report := func(p entityadmin.Replaced) {
		h.log.Warn().Str("user", user.Name).Str("peer", r.RemoteAddr).Msg(p.String())
		w.Header().Set("Warning", "199 candlemark "+strconv.QuoteToASCII(p.String()))
	}
	asked := &request{
		Request: r.WithContext(events.WithOrigin(ctx, by)),
		Manager: &entityadmin.Manager{Broker: h.broker, VHost: h.vhost, User: &user, Users: h.users, Keys: h.users.By(by), Report: report},
		premium: h.premium, base: baseOf(r), now: h.broker.Clock().Wall(),
	}
	response, err := h.inTurn(asked, path)
	if err != nil {
		response = h.failed(r, err)
	}
	reply(w, response)
}

// inTurn processes a request. Only that takes a turn: neither a slow body nor a slow reader of the answer keeps others waiting.
func (h *handler) inTurn(r *request, path string) (a answer, err error) {
	if r.body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, atom.MaxBody)); err != nil {
		return a, err
	}
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
		return r.route(path)
	case <-r.Context().Done():
		return a, r.Context().Err()
	}
}

// baseOf returns the address of the API, as the client has named it.
func baseOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host + "/"
	}
	return "http://" + r.Host + "/"
}

func reply(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may have gone
}

// errNoToken is the error of a request without a token.
var errNoToken = &auth.LoginError{Reason: "the request has no token"}

// enter authenticates the request. The token has to cover the path, and the user needs the permission to configure it.
func (h *handler) enter(r *http.Request, path string) (auth.User, error) {
	text := r.Header.Get("Authorization")
	if text == "" {
		return auth.User{}, errNoToken
	}
	peer := auth.Peer{HTTP: true, Elsewhere: site.Elsewhere(r.Context()), TLS: r.TLS != nil, Gone: r.Context().Done()}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer.Addr = net.TCPAddrFromAddrPort(at)
	} else {
		peer.Addr = &net.TCPAddr{} // from anywhere
	}
	user, token, err := h.users.AuthenticateToken(text, time.UnixMilli(h.broker.Clock().Real().Wall()), peer)
	switch {
	case err != nil:
		return user, err
	case !token.Covers(path):
		return user, &auth.LoginError{Reason: "the token is for another entity"}
	}
	if err := h.users.VHostAccess(user, h.vhost); err != nil {
		return user, err
	}
	return user, h.users.Check(user, h.vhost, auth.Resource{Kind: auth.Queue, Name: entity.ParseAddress(path).QueueName()}, auth.Configure)
}

// failed returns the answer to a request that could not be carried out.
func (h *handler) failed(r *http.Request, err error) answer {
	status, text := http.StatusInternalServerError, err.Error()
	code, _ := rest.ProtocolError(err)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, auth.ErrRefused):
		status, text = http.StatusUnauthorized, "InvalidSignature: the token is not accepted"
		h.log.Warn().Err(err).Str("peer", r.RemoteAddr).Msg("HTTP access denied")
	case errors.Is(err, entityadmin.ErrNotFound):
		status, text = http.StatusNotFound, "SubCode=40400. Not Found. "+messagingEntity(r)+" could not be found."
	case errors.Is(err, entityadmin.ErrExists):
		status, text = http.StatusConflict, "SubCode=40900. Conflict. "+messagingEntity(r)+" already exists."
	case errors.Is(err, entityadmin.ErrInvalid), errors.Is(err, errBadRequest):
		status, text = http.StatusBadRequest, "SubCode=40000. Bad Request. "+text
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		status, text = http.StatusServiceUnavailable, "the broker did not answer in time"
	case code == protocol.AccessRefused || code == protocol.NotAllowed:
		h.log.Warn().Err(err).Str("peer", r.RemoteAddr).Msg("HTTP access denied")
		status, text = http.StatusUnauthorized, unauthorized(r)
	case code == protocol.PreconditionFailed:
		status = http.StatusBadRequest
	}
	return answer{status, "application/xml; charset=utf-8", atom.Failure(status, text, time.UnixMilli(h.broker.Clock().Wall()))}
}

// messagingEntity names the entity of a request in the words by which SDKs recognize errors (SBE-16).
func messagingEntity(r *http.Request) string {
	return "The messaging entity 'sb://" + r.Host + "/" + strings.Trim(r.URL.Path, "/") + "'"
}

// unauthorized returns why a key may not do what a request asks for, in Service Bus's words. SDKs take 401 for a missing right, and 403 for a quota.
func unauthorized(r *http.Request) string {
	verb, claim := "Get", "EntityRead"
	switch r.Method {
	case http.MethodPut:
		verb, claim = "CreateOrUpdate", "EntityWrite"
	case http.MethodDelete:
		verb, claim = "Delete", "EntityDelete"
	}
	_, rest, in := cutFold(strings.Trim(r.URL.Path, "/"), "/"+entity.Subscriptions)
	_, rule, inRules := cutFold(rest, "/"+entity.Rules)
	kind, list := "Subscription", rest == ""
	if inRules {
		kind, list = "Rule", rule == ""
	}
	const prefix = "401 SubCode=40100: Unauthorized : "
	switch {
	case in && list:
		return prefix + "Unauthorized access for 'Enumerate" + kind + "s' operation. Manage claim is required for this operation."
	case in:
		return prefix + "Unauthorized access for '" + verb + kind + "' operation. Manage claim is required for this operation."
	case claim == "EntityRead":
		return "Manage,EntityRead claims required for this operation."
	}
	return prefix + "Authorization failed for specified action: Manage," + claim + "."
}

var errBadRequest = errors.New("the request is malformed")

// page is the part of a list that is wanted.
type page struct {
	query     url.Values
	skip, top int
}

// page returns which part of a list is wanted.
func (r *request) page() (p page, err error) {
	if p.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return p, errBadRequest
	}
	p.top = maxEntries
	for name, to := range map[string]*int{"$skip": &p.skip, "$top": &p.top} {
		if text := p.query.Get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 0 || *to > math.MaxInt32 {
				return p, errBadRequest
			}
		}
	}
	p.top = min(p.top, maxEntries)
	return p, nil
}

// listed returns the answer with a page, whose entries were found with one more than the page may have: a link to the next page stands for it.
func listed[T any](r *request, p page, title string, found []T, put func(l *atom.List, page []T)) answer {
	address := func(skip int) string {
		query := maps.Clone(p.query)
		query.Set("$skip", strconv.Itoa(skip))
		query.Set("$top", strconv.Itoa(p.top))
		return strings.TrimSuffix(r.base, "/") + r.URL.EscapedPath() + "?" + query.Encode()
	}
	l := &atom.List{Title: title, Base: r.base, At: r.now, Self: address(p.skip)}
	if len(found) > p.top {
		found = found[:p.top]
		if p.top > 0 {
			l.Next = address(p.skip + p.top)
		}
	}
	put(l, found)
	return answer{http.StatusOK, atom.FeedType, atom.Feed(l)}
}
