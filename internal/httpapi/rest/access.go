package rest

import (
	"slices"

	"candlemark/internal/auth"
	"candlemark/internal/management"
)

// Rule says why the user of a request may not make it, nil if it may.
type Rule func(r *Request) error

// Anybody permits all users of the API. Lists show what the user may see.
func Anybody(*Request) error { return nil }

// Visitor may open the virtual host (POL-15).
func Visitor(r *Request) error {
	if !r.Sees(r.VHost) {
		return Unauthorised("User not authorised to access virtual host")
	}
	return nil
}

// In answers 404 if the virtual host of the path does not exist.
func In(allowed Rule) Rule { return inOr(allowed, ErrNotFound) }

// Into is for what changes something in the virtual host of the path.
func Into(allowed Rule) Rule { return inOr(allowed, ErrNoVHost) }

func inOr(allowed Rule, otherwise error) Rule {
	return func(r *Request) error {
		if err := allowed(r); err != nil {
			return err
		}
		return r.Exists(otherwise)
	}
}

// Exists wants the virtual host of the path.
func (r *Request) Exists(otherwise error) error {
	names, err := r.Broker.VHosts(r.Context())
	if err == nil && !slices.Contains(names, r.VHost) {
		err = otherwise
	}
	return err
}

var (
	errNotAdministrator = Unauthorised("Not administrator user")
	// ErrNoVHost is about the virtual host of a path that would change something in it.
	ErrNoVHost = Nonexistent("vhost_not_found")
	// ErrNotAuthorised is the error for objects of other users.
	ErrNotAuthorised = Unauthorised("User not authorised to access object")
)

// Changer may change settings of that kind, in the virtual host if the path names
// one (POL-15).
func Changer(s auth.Setting) Rule {
	return func(r *Request) error { return r.changes(s, r.VHost) }
}

// changes is Changer for a virtual host, "" for what belongs to none.
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

// Policymaker may set policies.
var Policymaker = Changer(auth.Policies)

// Monitor may see what belongs to others.
func Monitor(r *Request) error {
	if !r.Monitors() {
		return Unauthorised("Not monitor user")
	}
	return nil
}

// Administrator may do everything.
func Administrator(r *Request) error {
	if !r.User.HasTag("administrator") {
		return errNotAdministrator
	}
	return nil
}

// Monitors reports whether the user may see what others have.
func (r *Request) Monitors() bool {
	return r.User.HasTag("administrator") || r.User.HasTag("monitoring")
}

// Owns reports whether the user may see what belongs to a connection.
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

// Permitted reports whether the user has a permission in the virtual host of the path. It is asked before a body is
// read; who carries the request out asks again.
func (r *Request) Permitted(kind auth.Kind, name string, perm auth.Permission) error {
	return r.permittedIn(r.VHost, kind, name, perm)
}

func (r *Request) permittedIn(vhost string, kind auth.Kind, name string, perm auth.Permission) error {
	if err := r.Users.VHostAccess(r.User, vhost); err != nil {
		return err
	}
	return r.Users.Check(r.User, vhost, auth.Resource{Kind: kind, Name: name}, perm)
}
