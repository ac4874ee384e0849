package httpapi

import (
	"slices"

	"candlemark/internal/auth"
)

// rule says why the user of a request may not make it, nil if it may.
type rule func(r *request) error

// anybody who may use the API at all. Lists show what the user may see.
func anybody(*request) error { return nil }

// visitor may open the virtual host (POL-15).
func visitor(r *request) error {
	if !r.sees(r.vhost) {
		return unauthorised("User not authorised to access virtual host")
	}
	return nil
}

// in is for what is only there if the virtual host of the path is.
func in(allowed rule) rule { return inOr(allowed, errNotFound) }

// into is for what changes something in the virtual host of the path.
func into(allowed rule) rule { return inOr(allowed, errNoVHost) }

func inOr(allowed rule, otherwise error) rule {
	return func(r *request) error {
		if err := allowed(r); err != nil {
			return err
		}
		return r.exists(otherwise)
	}
}

// exists wants the virtual host of the path.
func (r *request) exists(otherwise error) error {
	names, err := r.broker.VHosts(r.Context())
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
	return func(r *request) error {
		administers := r.user.HasTag("administrator")
		switch {
		case !r.user.MayChange(s) && s != auth.Policies:
			return errNotAdministrator
		case !r.user.MayChange(s), !administers && r.vhost != "" && r.users.VHostAccess(r.user, r.vhost) != nil:
			return errNotAuthorised
		}
		return nil
	}
}

// policymaker may set policies.
var policymaker = changer(auth.Policies)

// monitor may see what belongs to others.
func monitor(r *request) error {
	if !r.monitors() {
		return unauthorised("Not monitor user")
	}
	return nil
}

// administrator may do everything.
func administrator(r *request) error {
	if !r.user.HasTag("administrator") {
		return errNotAdministrator
	}
	return nil
}

// monitors tells whether the user may see what others have.
func (r *request) monitors() bool {
	return r.user.HasTag("administrator") || r.user.HasTag("monitoring")
}

// owns tells whether the user may see what belongs to a connection.
func (r *request) owns(c *Connection) bool {
	return r.monitors() || c != nil && c.User == r.user.Name
}

// ownsChannel tells whether the user may see a channel.
func (r *request) ownsChannel(c *Channel) bool { return r.monitors() || c.User == r.user.Name }

// sees tells whether the user may know what is in the virtual host.
func (r *request) sees(vhost string) bool {
	return r.monitors() || r.users.VHostAccess(r.user, vhost) == nil
}

// permitted says whether the user has a permission in the virtual host of the path. It
// is asked before a body is read; who carries the request out asks again.
func (r *request) permitted(kind auth.Kind, name string, perm auth.Permission) error {
	if err := r.users.VHostAccess(r.user, r.vhost); err != nil {
		return err
	}
	return r.users.Check(r.user, r.vhost, auth.Resource{Kind: kind, Name: name}, perm)
}
