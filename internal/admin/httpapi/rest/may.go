package rest

import "candlemark/internal/access/auth"

// May lists the actions that the user may do with an object, for the web pages (ADR 79): nil unless requested with
// ?may=true. The functions that check requests determine them.
type May []string

// Rights are the permissions of the user in a virtual host.
type Rights struct {
	Request *Request
	VHost   string
}

// AsksMay reports whether the client requests the May of each object.
func (r *Request) AsksMay() bool { return r.URL.Query().Get("may") == "true" }

// Has reports whether the user has a permission.
func (r Rights) Has(kind auth.Kind, name string, perm auth.Permission) bool {
	return r.Request.permittedIn(r.VHost, kind, name, perm) == nil
}

// Alters reports whether the user may change messages of a queue or an exchange that others have published or hold.
func (r Rights) Alters(kind auth.Kind, name string) bool {
	return r.Request.Users.VHostAccess(r.Request.User, r.VHost) == nil && auth.MayAlter(r.Request.Users, r.Request.User, r.VHost, auth.Resource{Kind: kind, Name: name}) == nil
}

// ReadsTopic reports whether topic permissions let the user bind to, and unbind from, a topic exchange with a routing
// key.
func (r Rights) ReadsTopic(exchange, key string) bool {
	return r.Request.Users.CheckTopic(r.Request.User, r.VHost, exchange, key, auth.Read) == nil
}

// Policies reports whether the user may set policies and other settings of policymakers.
func (r Rights) Policies() bool { return r.Request.changes(auth.Policies, r.VHost) == nil }

// Somewhere reports whether the user may have a permission for any object.
func (r Rights) Somewhere(perm auth.Permission) bool {
	g, _ := r.Request.Users.Grant(r.Request.User.Name, r.VHost)
	return [...]string{auth.Configure: g.Configure, auth.Write: g.Write, auth.Read: g.Read}[perm] != ""
}

// Add appends a word if it is allowed.
func (m *May) Add(word string, allowed bool) {
	if allowed {
		*m = append(*m, word)
	}
}
