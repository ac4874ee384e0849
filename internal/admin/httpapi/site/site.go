package site

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Config has the operator's settings.
type Config struct {
	// Hosts are names of the broker besides the names of this machine: exact names, "*.example.com" for all below, "*" for
	// any.
	Hosts []string
	// Nodes returns the hosts of the nodes of the broker's cluster, which are names of the broker, too; nil for none.
	Nodes func() []string
	// Proxied: requests from this machine may come from strangers.
	Proxied bool
}

// Rules judge requests. They are created by New.
type Rules struct {
	Config
	machine []string // names of this machine
}

// New returns the rules of an operator.
func New(c Config) *Rules {
	r := &Rules{Config: c}
	if name, err := os.Hostname(); err == nil && name != "" {
		r.machine = append(r.machine, normal(name))
	}
	return r
}

// Refusal is why a request is refused; "" if it is not.
type Refusal string

// The refusals.
const (
	CrossOrigin Refusal = "cross-origin request refused"
	UnknownHost Refusal = "this host name is not allowed: browsers may use an IP address, localhost, the machine's host name, or a name in the setting http-allowed-hosts"
)

// Guard passes on the requests that the rules admit, and notes in their context if they are not from this machine.
// refuse answers the others.
func (r *Rules) Guard(next http.Handler, refuse func(w http.ResponseWriter, why Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if why := r.Judge(q); why != "" {
			w.Header().Set("Connection", "close") // the body is not read
			refuse(w, why)
			return
		}
		if !r.here(q) {
			q = q.WithContext(context.WithValue(q.Context(), elsewhere{}, true))
		}
		next.ServeHTTP(w, q)
	})
}

// elsewhere is the key of requests from outside this machine, even with a local address.
type elsewhere struct{}

// Elsewhere reports whether a request is from outside this machine, even if its address is local: it came through a
// proxy, or to a name that another site may have.
func Elsewhere(ctx context.Context) bool {
	is, _ := ctx.Value(elsewhere{}).(bool)
	return is
}

// Judge returns why a request is refused, "" for none.
func (r *Rules) Judge(q *http.Request) Refusal {
	switch {
	case !sameOrigin(q):
		return CrossOrigin
	case byBrowser(q.Header) && !r.knows(q):
		return UnknownHost
	}
	return ""
}

// sameOrigin reports whether no page of another site sent the request. Browsers tell in Sec-Fetch-Site, if they trust the
// connection, or in Origin. A link to a page is followed from anywhere.
func sameOrigin(q *http.Request) bool {
	reads := q.Method == http.MethodGet || q.Method == http.MethodHead
	if q.Method == http.MethodOptions { // it does nothing, and no answer permits a page anything
		return true
	}
	switch q.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return reads && q.Header.Get("Sec-Fetch-Mode") == "navigate" && q.Header.Get("Sec-Fetch-Dest") == "document" && q.Header.Get("Upgrade") == ""
	}
	origins := q.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, q.Host)
}

// byBrowser reports whether a browser may have sent a request. A page cannot make it leave out Accept-Language; the only
// other client that sends that is fetch of Node, with Sec-Fetch-Mode and without Sec-Fetch-Site, which no page can make a
// browser send.
func byBrowser(h http.Header) bool {
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Referer", "Cookie"} {
		if h.Values(name) != nil {
			return true
		}
	}
	return h.Values("Accept-Language") != nil && h.Values("Sec-Fetch-Mode") == nil
}

// knows reports whether the name in the address of a request is the broker's: no other site can have it. With TLS the
// certificate proves that, and no browser leaves out the name.
func (r *Rules) knows(q *http.Request) bool {
	if q.TLS != nil || q.Host == "" {
		return true
	}
	name := q.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = normal(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if r.Nodes != nil && slices.ContainsFunc(r.Nodes(), func(known string) bool { return normal(known) == name }) {
		return true
	}
	return slices.Contains(r.machine, name) || slices.ContainsFunc(r.Hosts, func(known string) bool {
		known = normal(known)
		below, wildcard := strings.CutPrefix(known, "*")
		return known == name || wildcard && (below == "" || strings.HasPrefix(below, ".") && len(name) > len(below) && strings.HasSuffix(name, below))
	})
}

// normal returns a host name in the form for comparisons.
func normal(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// forwarding are headers of proxies, besides the headers that begin with X-Forwarded-.
var forwarding = []string{
	"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-For", "X-Original-Forwarded-For", "X-Original-Host", "X-Envoy-External-Address",
	"True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Appengine-User-Ip", "X-Azure-Clientip",
}

// here reports whether a request whose address is of this machine was sent by a client on it.
func (r *Rules) here(q *http.Request) bool {
	if r.Proxied || !r.knows(q) {
		return false
	}
	for name := range q.Header {
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains(forwarding, name) {
			return false
		}
	}
	return true
}
