package rest

import (
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
)

// Rule returns an error if the user of a request may not make it.
type Rule func(r *Request) error

// Anybody permits all users of the API. Lists show what the user may see.
func Anybody(*Request) error { return nil }

// Visitor permits users that may open the virtual host (POL-15).
func Visitor(r *Request) error {
	if !r.Sees(r.VHost) {
		return Unauthorised("User not authorised to access virtual host")
	}
	return nil
}

// InVHost answers 404 if the virtual host of the path does not exist.
func InVHost(allowed Rule) Rule { return vhostOr(allowed, ErrNotFound) }

// ChangesVHost is In for changes in the virtual host of the path.
func ChangesVHost(allowed Rule) Rule { return vhostOr(allowed, ErrNoVHost) }

func vhostOr(allowed Rule, otherwise error) Rule {
	return func(r *Request) error {
		if err := allowed(r); err != nil {
			return err
		}
		return r.Exists(otherwise)
	}
}

// Exists requires that the virtual host of the path exists.
func (r *Request) Exists(otherwise error) error {
	names, err := r.Broker.VHosts(r.Context())
	if err == nil && !slices.Contains(names, r.VHost) {
		err = otherwise
	}
	return err
}

var (
	errNotAdministrator = Unauthorised("Not administrator user")
	// ErrNoVHost is the error of changes for a missing virtual host of the path.
	ErrNoVHost = Nonexistent("vhost_not_found")
	// ErrNotAuthorised is the error for objects of other users.
	ErrNotAuthorised = Unauthorised("User not authorised to access object")
)

// Changer permits users that may change settings of that kind, in the virtual host if the path names one (POL-15).
func Changer(s auth.Setting) Rule {
	return func(r *Request) error { return r.changes(s, r.VHost) }
}

// changes is Changer for a virtual host, "" for settings outside of virtual hosts.
func (r *Request) changes(s auth.Setting, vhost string) error {
	administers := r.User.HasTag("administrator")
	switch {
	case !r.User.MayChange(s) && s != auth.Policies:
		return errNotAdministrator
	case !r.User.MayChange(s), !administers && vhost != "" && r.Users.VHostAccess(r.User, vhost) != nil:
		return ErrNotAuthorised
	}
	return nil
}

// Policymaker permits users that may set policies.
var Policymaker = Changer(auth.Policies)

// Monitor permits users that may see objects of others.
func Monitor(r *Request) error {
	if !r.Monitors() {
		return Unauthorised("Not monitor user")
	}
	return nil
}

// Administrator permits only administrators.
func Administrator(r *Request) error {
	if !r.User.HasTag("administrator") {
		return errNotAdministrator
	}
	return nil
}

// Monitors reports whether the user may see objects of others.
func (r *Request) Monitors() bool {
	return r.User.HasTag("administrator") || r.User.HasTag("monitoring")
}

// Owns reports whether the user may see a connection and its objects.
func (r *Request) Owns(c *management.Connection) bool {
	return r.Monitors() || c != nil && c.User == r.User.Name
}

// OwnsChannel reports whether the user may see a channel.
func (r *Request) OwnsChannel(c *management.Channel) bool {
	return r.Monitors() || c.User == r.User.Name
}

// Sees reports whether the user may see the virtual host.
func (r *Request) Sees(vhost string) bool {
	return r.Monitors() || r.Users.VHostAccess(r.User, vhost) == nil
}

// Permitted reports whether the user has a permission in the virtual host of the path. It is checked before a body is
// read, and again when the request is executed.
func (r *Request) Permitted(kind auth.Kind, name string, perm auth.Permission) error {
	return r.permittedIn(r.VHost, kind, name, perm)
}

func (r *Request) permittedIn(vhost string, kind auth.Kind, name string, perm auth.Permission) error {
	if err := r.Users.VHostAccess(r.User, vhost); err != nil {
		return err
	}
	return r.Users.Check(r.User, vhost, auth.Resource{Kind: kind, Name: name}, perm)
}
